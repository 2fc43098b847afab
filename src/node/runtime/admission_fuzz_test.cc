// Random values for every text or JSON parameter of the library. Each is accepted or refused; none
// ends the process, and a new process can read everything that was stored.
#include "runtime/testing/admission_fixture.h"

#include <functional>
#include <random>
#include <string_view>

namespace dormouse::runtime {
namespace {

// Pseudo-random: the same seed gives the same values.
class Noise {
public:
    explicit Noise(std::uint64_t seed) : random_(seed) {}

    std::size_t below(std::size_t bound) { return random_() % bound; }
    bool sometimes() { return below(2) == 0; }

    // Valid half of the time, so that invalid values of other parameters are reached.
    std::string text(std::string valid) { return sometimes() ? std::move(valid) : noise(); }
    Json json(Json valid) { return sometimes() ? std::move(valid) : Json::trusted(document()); }

    std::string noise() {
        switch (below(6)) {
            case 0: return bytes(below(40));
            case 1: return std::string(below(70'000), 'x');
            case 2: return one_of({"", " ", "\r\n", "..", "/", "\\", "\"", "{}", "null", "%s%n"});
            case 3: return std::string("a\0b\x01\x1f\x7f", 6);
            // Overlong, surrogate, beyond Unicode, truncated; then a bidirectional override.
            case 4:
                return one_of(
                    {"\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\u202e"});
            default: return mutated("deploy \u00e9\U0001f42d to production");
        }
    }

private:
    std::string document() {
        if (below(8) == 0) return noise();
        if (below(16) == 0) return std::string(100'000, one_of({"[", "{\"a\":"})[0]);
        return mutated(one_of({R"({"status":"live","n":[1,2.5,-3e2,true,null]})",
                               R"({"target":"A","a":{"b":["\ud83d\udc2d","\u0000"]}})",
                               R"([[],{},"",0])", R"("text")", "1e308", "-0", "{}"}));
    }
    std::string mutated(std::string text) {
        for (std::size_t i = below(4); i > 0 && !text.empty(); --i) {
            std::size_t const at = below(text.size());
            switch (below(4)) {
                case 0: text.erase(at, 1 + below(3)); break;
                case 1: text.insert(at, bytes(1)); break;
                case 2: text.insert(at, text.substr(below(text.size()), 4)); break;
                default: text[at] = static_cast<char>(below(256));
            }
        }
        return text;
    }
    std::string bytes(std::size_t count) {
        std::string out(count, '\0');
        for (char& byte : out) byte = static_cast<char>(below(256));
        return out;
    }
    std::string one_of(std::vector<std::string> const& values) {
        return values[below(values.size())];
    }

    std::mt19937_64 random_;
};

class AdmissionFuzz : public Admission, public testing::WithParamInterface<std::uint64_t> {
protected:
    static constexpr int rounds = 200;

    // A pending call: "job" waits for a result, "guarded" for a person. Starts a session if none is
    // left.
    PendingId call_of(std::string const& prompt) {
        std::optional<SessionId>& session = prompt == "job" ? job_session : gate_session;
        if (session) {
            auto const view = runtime->session(*session);
            if (view && !view->pending.empty()) return view->pending[0].id;
        }
        SessionView const fresh = start(prompt);
        session = fresh.id;
        sessions.push_back(fresh.id);
        return fresh.pending.at(0).id;
    }
    void keep(Result<SessionId> const& session) {
        if (!session) return;
        sessions.push_back(*session);
        (void)at_rest(*session);
    }
    SubmitOptions options() {
        return {.by = noise.text("ann"),
                .title = noise.text("a title"),
                .metadata = noise.json({}),
                .delivery_id = noise.text("1")};
    }
    Paused paused() {
        Paused out{.placeholder = noise.json({})};
        out.options = {.ref = noise.text("job-1"),
                       .message = noise.text("Which?"),
                       .form = noise.json({}),
                       .state = noise.json({}),
                       .metadata = noise.json({}),
                       .answerers = {noise.text("ann")},
                       .webhook_url = noise.text(""),
                       .webhook_secret = noise.text("")};
        return out;
    }
    Done<Json> done() {
        Done<Json> out(noise.json(output("live")), noise.text("a title"), noise.json({}));
        out.artifacts.push_back({.name = noise.text("plan.txt"),
                                 .bytes = noise.noise(),
                                 .mime = noise.text("text/plain")});
        return out;
    }

    void outcomes() {
        switch (noise.below(5)) {
            case 0:
                (void)runtime->submit(call_of("job"), noise.json(output("live")), options());
                break;
            case 1:
                (void)runtime->submit(job, call_of("job"), {noise.text("live")}, options());
                break;
            case 2: (void)runtime->fail(call_of("job"), noise.text("no luck"), options()); break;
            case 3:
                (void)runtime->submit_all(
                    {{.pending = call_of("job"),
                      .output = noise.json(output("live")),
                      .error =
                          noise.sometimes() ? std::optional(noise.text("no luck")) : std::nullopt,
                      .title = noise.text("a title"),
                      .metadata = noise.json({})}},
                    noise.text("ann"));
                break;
            default:
                (void)runtime->decide(call_of("guarded"), {.approved = noise.sometimes(),
                                                           .reason = noise.text("so it is"),
                                                           .arguments = noise.json({}),
                                                           .content = noise.json({}),
                                                           .digest = noise.text(""),
                                                           .by = noise.text("ann"),
                                                           .metadata = noise.json({})});
        }
    }
    void other_operations() {
        PendingId const call = call_of("job");
        switch (noise.below(6)) {
            case 0:
                (void)runtime->progress(call, noise.json({}), noise.text("k"), noise.text("ann"));
                break;
            case 1:
                (void)runtime->cancel(
                    call, {.by = noise.text("ann"), .reason = noise.text("not needed")});
                break;
            case 2:
                (void)runtime->cancel(
                    call.session, {.by = noise.text("ann"), .reason = noise.text("not needed")});
                break;
            case 3:
                (void)runtime->pause(call.session, noise.text("ann"));
                // Only a valid name is certain to resume it.
                (void)runtime->resume(call.session, noise.text("ann"));
                (void)runtime->resume(call.session, "ann");
                break;
            case 4:
                (void)runtime->waiting(
                    {.project = noise.text("default"), .tool = noise.text("job")});
                break;
            default:
                (void)runtime->prompt(call.session, noise.text("more"),
                                      {.key = noise.text(""), .by = noise.text("ann")});
        }
    }
    void new_sessions() {
        keep(runtime->create({.agent = noise.text("ops"),
                              .prompt = noise.text("hello"),
                              .project = noise.text("default"),
                              .title = noise.text("a title"),
                              .labels = {{noise.text("team"), noise.text("web")}},
                              .key = noise.text(""),
                              .by = noise.text("ann")}));
    }
    void models_and_tools() {
        questions = 0;
        if (noise.sometimes()) {
            answer = {.text = noise.text("Yes."),
                      .calls = {{noise.text("now"), noise.json(input("A"))}},
                      .reasoning = noise.text("")};
        } else {
            answer = {.text = "", .calls = {{"raw", noise.json({})}}};
            switch (noise.below(4)) {
                case 0: raw->gives = done(); break;
                case 1: raw->gives = paused(); break;
                case 2: raw->gives = Failed{noise.text("no luck")}; break;
                default: raw->gives = InDoubt{noise.text("the line broke")};
            }
        }
        keep(runtime->create({.agent = "caller", .prompt = "go"}));
    }

    AdmissionFuzz() { questions_max = 2; }

    Noise noise{GetParam()};
    std::vector<SessionId> sessions;
    std::optional<SessionId> job_session, gate_session;
};

TEST_P(AdmissionFuzz, AnyTextAndJson_LeavesAStoreThatIsReadable) {
    open();
    for (int round = 0; round < rounds && !HasFatalFailure(); ++round) {
        switch (noise.below(4)) {
            case 0: outcomes(); break;
            case 1: other_operations(); break;
            case 2: new_sessions(); break;
            default: models_and_tools();
        }
    }
    ASSERT_GT(sessions.size(), 10U);
    expect_all_is_readable(sessions);
}

INSTANTIATE_TEST_SUITE_P(Seeds, AdmissionFuzz, testing::Range(std::uint64_t{1}, std::uint64_t{5}));

}  // namespace
}  // namespace dormouse::runtime
