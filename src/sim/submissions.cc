#include "json/json.h"
#include "sim/clients.h"
#include "sim/inputs.h"

// Submissions for pending calls, by clients that learn of them as they become durable.
namespace dormouse::sim {

using namespace dormouse::session;

namespace {

std::optional<Sha256> digest_in(Json const& extra) {
    std::string const text = json::View(extra)["digest"].string_or("");
    constexpr std::string_view prefix = "sha256:";
    if (!text.starts_with(prefix) || text.size() != prefix.size() + 64) return std::nullopt;
    Sha256 digest{};
    for (std::size_t i = 0; i < digest.size(); ++i) {
        std::string const byte = text.substr(prefix.size() + 2 * i, 2);
        digest[i] = static_cast<std::uint8_t>(std::stoul(byte, nullptr, 16));
    }
    return digest;
}

// Errors that only a waiting call returns.
bool says_open(Code code) {
    return code == Code::not_ready || code == Code::wrong_kind || code == Code::invalid_result ||
           code == Code::not_an_answerer;
}

}  // namespace

void Clients::on_event(SessionId, Event const& event) {
    if (auto const* e = std::get_if<CallPaused>(&event.body)) deliver(e->pending, e->terms->reason);
    if (auto const* e = std::get_if<GateAsked>(&event.body)) deliver(e->pending, e->terms->reason);
    if (auto const* e = std::get_if<CallInDoubt>(&event.body); e && e->question) {
        std::string const actions[] = {"run_again", "succeeded", "give_up", "unknown_action"};
        std::string const action = actions[world_.below(4)];
        world_.outside(
            world_.between(Duration(1), Duration(9'000)),
            [this, pending = *e->question, action] { submit(pending, doubt_answer(action)); });
    }
    // A caller that got the id from the tool itself may answer before the tool has returned.
    auto const* const started = std::get_if<ToolStarted>(&event.body);
    bool const early = started && world_.happens(150);
    if (early) deliver(started->pending, PauseReason::tool_result);
}

void Clients::deliver(PendingId const& pending, PauseReason reason) {
    bool const ignored = world_.happens(80);
    if (ignored) return;
    auto const times = 1 + world_.below(5);
    for (std::uint64_t i = 0; i < times; ++i) {
        Duration const late = Duration(world_.happens(30) ? 90'000'000 : 12'000);
        unsigned const variant = world_.happens(150) ? 1 : 0;
        Submission what = fitting(reason, variant);
        if (world_.happens(60)) what = error(variant);
        if (world_.happens(30)) what = decision(true);
        world_.outside(world_.between(Duration(0), late),
                       [this, pending, what] { submit(pending, what); });
    }
    if (world_.happens(60)) {
        world_.outside(world_.between(Duration(0), Duration(8'000)),
                       [this, pending] { cancel_call(pending); });
    }
    if (world_.happens(60)) misdeliver(pending);
}

// Submits to an id that never existed: it is unknown, however similar to others.
void Clients::misdeliver(PendingId pending) {
    switch (world_.below(3)) {
        case 0: pending.nonce[0] ^= 1; break;
        case 1: pending.generation += 7; break;
        default: pending.session.bytes[15] ^= 1; break;
    }
    runner::Runner* const runner = up_().runner;
    if (!runner) return;
    Submit command;
    command.pending = pending;
    command.what = result(0);
    runner->command(pending.session, std::move(command), asker(name("stray"), false),
                    [this](Result<Answer> answer) {
                        // For a call removed by retention, an unknown id looks like a known one.
                        bool const other = !answer && answer.error().code != Code::not_found &&
                                           answer.error().code != Code::history_gone;
                        bool const fault = other && info(answer.error().code).next == Next::retry;
                        bool const stopped = other && answer.error().code == Code::fail_stop;
                        if (answer) findings_.add("answer: an unknown id took a submission");
                        if (other && !fault && !stopped) {
                            findings_.add("answer: an unknown id is " +
                                          std::string(info(answer.error().code).text));
                        }
                    });
}

void Clients::submit(PendingId const& pending, Submission const& what) {
    start([this, pending, what](auto const& request) { ask_submit(request, pending, what); }, 4);
}

void Clients::ask_submit(std::shared_ptr<Request> const& request, PendingId const& pending,
                         Submission const& what) {
    runner::Runner* const runner = up_().runner;
    if (!runner) return;
    Operation operation;
    operation.kind = Operation::Kind::submit;
    operation.digest = what.digest;
    operation.call = world_.instant();
    operation.by = name("submit");
    std::size_t const place = history_.begin(pending, operation);
    Submit command;
    command.pending = pending;
    command.what = what;
    command.via = "sim";
    runner->command(pending.session, std::move(command), asker(operation.by, false),
                    [this, pending, place, request, lost = line()](Result<Answer> answer) {
                        request->answered = answer || is_answer(pending.session, answer.error(),
                                                                lost() || never_paused(pending));
                        submitted(pending, place, answer, lost());
                    });
}

void Clients::cancel_call(PendingId const& pending) {
    runner::Runner* const runner = up_().runner;
    if (!runner) return;
    ++requests_;
    Operation operation;
    operation.kind = Operation::Kind::cancel;
    operation.call = world_.instant();
    operation.by = name("cancel");
    std::size_t const place = history_.begin(pending, operation);
    Cancel const command{Cancel::Scope::call, pending};
    runner->command(pending.session, command, asker(operation.by, false),
                    [this, pending, place, lost = line()](Result<Answer> answer) {
                        if (!answer) {
                            (void)is_answer(pending.session, answer.error(),
                                            lost() || never_paused(pending));
                        }
                        submitted(pending, place, answer, lost());
                    });
}

bool Clients::never_paused(PendingId const& pending) const {
    Durable::Session const* const session = durable_.find(pending.session);
    if (!session || durable_.receipt(pending)) return false;
    Call const* const call = open_pause(session->state, pending);
    return !call || call->phase != CallPhase::waiting;
}

// Records in the call's history what the answer tells; an acknowledged outcome is durable by now.
// `lost`: the disk fell back meanwhile.
void Clients::submitted(PendingId const& pending, std::size_t place, Result<Answer> const& answer,
                        bool lost) {
    using Observed = Operation::Observed;
    auto const end = [&](Observed observed, Seen seen = {}) {
        history_.end(pending, place, world_.instant(), observed, seen);
    };
    if (answer) {
        ++acknowledged_;
        world_.trace("submitted " + std::to_string(answer->seq));
        if (!answer->receipt) return end(Observed::open);
        Receipt const* const durable = durable_.receipt(pending);
        if (lost) return;
        if (!durable || *durable != *answer->receipt) {
            findings_.add("lost: an outcome was acknowledged that is not durable");
        }
        bool const first = answer->outcome == Answer::Outcome::applied;
        return end(first ? Observed::won : Observed::settled,
                   {answer->receipt->status, answer->receipt->digest});
    }
    Error const& error = answer.error();
    if (says_open(error.code)) return end(Observed::open);
    if (error.code == Code::expired) return end(Observed::settled, {CallStatus::expired, {}});
    if (error.code == Code::cancelled) return end(Observed::settled, {CallStatus::cancelled, {}});
    auto const digest = digest_in(error.extra);
    if (error.code == Code::conflict && digest) {
        return end(Observed::settled, {CallStatus::completed, *digest});
    }
    end(Observed::unknown);
}

void Clients::answer_open() {
    for (auto const& [id, session] : durable_.sessions()) {
        auto const calls = session.state.calls;
        for (auto const& [no, call] : calls) {
            if (call.phase == CallPhase::waiting) answer_call(call);
        }
    }
}

void Clients::answer_call(Call const& call) {
    if (call.question) return submit(call.question->pending, doubt_answer("give_up"));
    bool const will_end = call.pause->deadline.has_value();
    if (!will_end) submit(call.pending, fitting(call.pause->terms.reason, 0));
}

}  // namespace dormouse::sim
