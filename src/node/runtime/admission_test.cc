// Whatever a program passes to the library, a new process can read the store.
#include "runtime/testing/admission_fixture.h"

namespace dormouse::runtime {
namespace {

std::string const bad_text = "\xff\xfe go";

std::vector<Json> bad_values() {
    std::vector<Json> out;
    for (std::string const& text :
         {std::string(R"({"what":"a")"), std::string("{not json"), std::string(R"({"what":"a"}})"),
          std::string(R"({"a":1}x)"), std::string(R"(1},"x":{"y":2)"),
          std::string(R"({"a":1,"a":2})"), std::string("\"\xff\""), std::string("1e999"),
          std::string(100'000, '[')})
        out.push_back(Json::trusted(text));
    return out;
}

TEST_F(Admission, Operations_ValuesThatAreNotJson_AreRefused) {
    open();
    SessionView const job_view = start("job");
    SessionView const gate_view = start("guarded");
    PendingId const job_id = job_view.pending.at(0).id;
    PendingId const gate_id = gate_view.pending.at(0).id;
    for (Json const& bad : bad_values()) {
        SCOPED_TRACE(std::string(bad.text().substr(0, 20)));
        EXPECT_EQ(code_of(runtime->submit(job_id, bad)), "bad_value");
        EXPECT_EQ(code_of(runtime->submit(job, job_id, {"live"}, SubmitOptions{.metadata = bad})),
                  "bad_value");
        EXPECT_EQ(code_of(runtime->submit(job_id, output("live"), SubmitOptions{.metadata = bad})),
                  "bad_value");
        EXPECT_EQ(code_of(runtime->fail(job_id, "why", SubmitOptions{.metadata = bad})),
                  "bad_value");
        EXPECT_EQ(code_of(runtime->submit_all({{job_id, bad}}).at(0)), "bad_value");
        EXPECT_EQ(code_of(runtime->submit_all({{.pending = job_id, .metadata = bad}}).at(0)),
                  "bad_value");
        EXPECT_EQ(code_of(runtime->progress(job_id, bad, "k")),
                  bad.size() > 65'536 ? "too_large" : "bad_value");
        EXPECT_EQ(code_of(runtime->decide(gate_id, {.approved = true, .arguments = bad})),
                  "bad_value");
        EXPECT_EQ(code_of(runtime->decide(gate_id, {.approved = true, .content = bad})),
                  "bad_value");
        EXPECT_EQ(code_of(runtime->decide(gate_id, {.approved = true, .metadata = bad})),
                  "bad_value");
    }
    expect_all_is_readable({job_view.id, gate_view.id});
    EXPECT_EQ(runtime->session(job_view.id)->pending.size(), 1U) << "it still waits";
    EXPECT_TRUE(runtime->submit(job_id, output("live")));
}

TEST_F(Admission, Operations_TextsThatAreNotUtf8_AreRefused) {
    open();
    SessionView const view = start("job");
    PendingId const id = view.pending.at(0).id;
    EXPECT_EQ(code_of(runtime->prompt(view.id, bad_text)), "bad_value");
    EXPECT_EQ(code_of(runtime->prompt(view.id, "x", {.by = bad_text})), "bad_value");
    EXPECT_EQ(code_of(runtime->fail(id, bad_text)), "bad_value");
    EXPECT_EQ(code_of(runtime->fail(id, "x", bad_text)), "bad_value");
    EXPECT_EQ(code_of(runtime->progress(id, {}, bad_text)), "bad_value");
    EXPECT_EQ(code_of(runtime->progress(id, {}, "k", bad_text)), "bad_value");
    EXPECT_EQ(code_of(runtime->decide(id, {.approved = true, .reason = bad_text})), "bad_value");
    EXPECT_EQ(code_of(runtime->submit(id, output("live"), SubmitOptions{.title = bad_text})),
              "bad_value");
    EXPECT_EQ(code_of(runtime->submit(id, output("live"), SubmitOptions{.delivery_id = bad_text})),
              "bad_value");
    EXPECT_EQ(code_of(runtime->submit_all({{.pending = id, .title = bad_text}}).at(0)),
              "bad_value");
    EXPECT_EQ(code_of(runtime->waiting({.project = bad_text})), "bad_value");
    EXPECT_EQ(code_of(runtime->waiting({.tool = bad_text})), "bad_value");
    EXPECT_EQ(code_of(runtime->prompt(view.id, "x", {.key = bad_text})), "bad_value");
    EXPECT_EQ(code_of(runtime->cancel(id, bad_text)), "bad_value");
    EXPECT_EQ(code_of(runtime->cancel(view.id, bad_text)), "bad_value");
    EXPECT_EQ(code_of(runtime->pause(view.id, bad_text)), "bad_value");
    auto const create = [&](NewSession from) {
        from.agent = from.agent.empty() ? "ops" : from.agent;
        return code_of(runtime->create(std::move(from)));
    };
    EXPECT_EQ(create({.agent = bad_text}), "bad_value");
    EXPECT_EQ(create({.agent = "", .prompt = bad_text}), "bad_value");
    EXPECT_EQ(create({.agent = "", .title = bad_text}), "bad_value");
    EXPECT_EQ(create({.agent = "", .labels = {{"a", bad_text}}}), "bad_value");
    EXPECT_EQ(create({.agent = "", .labels = {{bad_text, "a"}}}), "bad_value");
    EXPECT_EQ(create({.agent = "", .by = bad_text}), "bad_value");
    expect_all_is_readable({view.id});
}

TEST_F(Admission, Create_WithWhatHttpRefuses_IsRefused) {
    open();
    for (std::string const project : {"../etc\n\"", "", "a b", "a/b"})
        EXPECT_EQ(code_of(runtime->create({.agent = "ops", .project = project})), "bad_value");
    EXPECT_EQ(code_of(runtime->create({.agent = "ops", .title = std::string(100'000, 'x')})),
              "bad_value");
    EXPECT_EQ(code_of(runtime->create({.agent = "ops", .prompt = std::string(2 << 20, 'x')})),
              "too_large");
    NewSession many{.agent = "ops"};
    for (int i = 0; i < 65; ++i) many.labels[std::to_string(i)] = "x";
    EXPECT_EQ(code_of(runtime->create(many)), "bad_value");
}

TEST_F(Admission, Model_ArgumentsThatAreNotJson_AreAnErrorForTheModel) {
    open();
    std::vector<SessionId> sessions;
    for (Json const& bad : bad_values()) {
        SCOPED_TRACE(std::string(bad.text().substr(0, 20)));
        answer = {.text = "", .calls = {{"now", bad}}};
        sessions.push_back(call());
        std::string const events = events_of(sessions.back());
        bool const repaired = bad.text() == "\"\xff\"";
        if (!repaired) EXPECT_TRUE(events.contains("cannot be read")) << events;
        EXPECT_EQ(runtime->last_reply(sessions.back()).value_or("?"), "Done.");
    }
    expect_all_is_readable(sessions);
}

TEST_F(Admission, Model_TextThatIsNotUtf8_IsRepaired) {
    open();
    answer = {.text = bad_text, .calls = {}, .reasoning = bad_text};
    SessionId const session = call();
    EXPECT_EQ(runtime->last_reply(session).value_or("?"), "\uFFFD\uFFFD go");
    answer = {.text = "", .calls = {{bad_text, Json()}}};
    SessionId const other = call();
    expect_all_is_readable({session, other});
}

TEST_F(Admission, RawTool_ValuesThatAreNotJson_AreItsError) {
    open();
    std::vector<SessionId> sessions;
    answer = {.text = "", .calls = {{"raw", Json()}}};
    for (Json const& bad : bad_values()) {
        SCOPED_TRACE(std::string(bad.text().substr(0, 20)));
        std::vector<RawOutcome> outcomes{Done<Json>(bad), Done<Json>(Json(), "title", bad),
                                         Paused{.placeholder = bad}};
        Paused form, state, about;
        form.options.form = bad;
        state.options.state = bad;
        about.options.metadata = bad;
        for (Paused const& paused : {form, state, about}) outcomes.emplace_back(paused);
        for (RawOutcome& outcome : outcomes) {
            raw->gives = std::move(outcome);
            sessions.push_back(call());
        }
    }
    expect_all_is_readable(sessions);
    for (SessionId const& session : sessions)
        EXPECT_EQ(runtime->last_reply(session).value_or("?"), "Done.") << events_of(session);
}

TEST_F(Admission, RawTool_TextsThatAreNotUtf8_AreRepaired) {
    open();
    answer = {.text = "", .calls = {{"raw", Json()}}};
    std::vector<SessionId> sessions;
    Paused paused;
    paused.options.message = bad_text;
    paused.options.ref = bad_text;
    for (RawOutcome const& outcome :
         {RawOutcome(Failed{bad_text}), RawOutcome(Done<Json>(Json(), bad_text)),
          RawOutcome(InDoubt{bad_text}), RawOutcome(paused)}) {
        raw->gives = outcome;
        sessions.push_back(call());
    }
    expect_all_is_readable(sessions);
}

TEST_F(Admission, Settings_NamesThatAreNotUtf8_AreRefused) {
    settings.gates[0].name = bad_text;
    EXPECT_EQ(code_of(Runtime::open(settings)), "bad_value");
    settings.gates.clear();
    settings.agents[0].name = bad_text;
    EXPECT_EQ(code_of(Runtime::open(settings)), "bad_value");
}

}  // namespace
}  // namespace dormouse::runtime
