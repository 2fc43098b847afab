#include "wire/journal/record.h"

#include "json/json.h"
#include "wire/testing/story.h"

#include <gtest/gtest.h>

#include <functional>
#include <tuple>

namespace dormouse::wire {
namespace {

using namespace dormouse::session;

// All N fields of an event, so that a field lost in a round trip is noticed. A wrong N does not
// compile.
template <std::size_t N, class Body> auto fields(Body const& body) {
    if constexpr (N == 0) {
        return std::tie();
    } else if constexpr (N == 1) {
        auto const& [a] = body;
        return std::tie(a);
    } else if constexpr (N == 2) {
        auto const& [a, b] = body;
        return std::tie(a, b);
    } else if constexpr (N == 3) {
        auto const& [a, b, c] = body;
        return std::tie(a, b, c);
    } else if constexpr (N == 4) {
        auto const& [a, b, c, d] = body;
        return std::tie(a, b, c, d);
    } else if constexpr (N == 5) {
        auto const& [a, b, c, d, e] = body;
        return std::tie(a, b, c, d, e);
    } else if constexpr (N == 6) {
        auto const& [a, b, c, d, e, f] = body;
        return std::tie(a, b, c, d, e, f);
    } else if constexpr (N == 7) {
        auto const& [a, b, c, d, e, f, g] = body;
        return std::tie(a, b, c, d, e, f, g);
    } else if constexpr (N == 8) {
        auto const& [a, b, c, d, e, f, g, h] = body;
        return std::tie(a, b, c, d, e, f, g, h);
    } else if constexpr (N == 9) {
        auto const& [a, b, c, d, e, f, g, h, i] = body;
        return std::tie(a, b, c, d, e, f, g, h, i);
    } else if constexpr (N == 10) {
        auto const& [a, b, c, d, e, f, g, h, i, j] = body;
        return std::tie(a, b, c, d, e, f, g, h, i, j);
    } else if constexpr (N == 11) {
        auto const& [a, b, c, d, e, f, g, h, i, j, k] = body;
        return std::tie(a, b, c, d, e, f, g, h, i, j, k);
    } else if constexpr (N == 12) {
        auto const& [a, b, c, d, e, f, g, h, i, j, k, l] = body;
        return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
    } else if constexpr (N == 13) {
        auto const& [a, b, c, d, e, f, g, h, i, j, k, l, m] = body;
        return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m);
    } else if constexpr (N == 18) {
        auto const& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = body;
        return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r);
    } else {
        auto const& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = body;
        return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
    }
}

// Number of fields of each event, in the order of EventChoice.
constexpr auto field_counts = std::to_array<std::size_t>(
    {10, 13, 3, 5, 4, 7, 4, 3,  7,  4, 3,  4, 9, 2, 2, 3, 5, 4, 4, 3, 3, 2, 5, 7, 6, 5, 3, 4, 4,
     1,  1,  5, 2, 0, 1, 2, 13, 16, 2, 10, 5, 2, 3, 5, 5, 4, 5, 5, 6, 5, 3, 1, 2, 6, 6, 3, 18});
static_assert(field_counts.size() == std::variant_size_v<EventChoice>);

template <std::size_t I = 0> bool same_body(Event::Body const& a, Event::Body const& b) {
    if constexpr (I == std::variant_size_v<EventChoice>) {
        return false;
    } else {
        if (a.index() != I || b.index() != I) return same_body<I + 1>(a, b);
        return fields<field_counts[I]>(std::get<I>(a)) == fields<field_counts[I]>(std::get<I>(b));
    }
}

// The number of a reply's first call has no meaning if the reply has no calls.
Event normalized(Event event) {
    if (auto* e = std::get_if<ModelReplied>(&event.body); e && e->calls.empty()) e->first_call = 0;
    return event;
}

bool same(Event const& a, Event const& b) {
    return std::tie(a.seq, a.at, a.turn, a.activity) == std::tie(b.seq, b.at, b.turn, b.activity) &&
           same_body(a.body, b.body);
}

SessionId id() {
    return SessionId::make(7, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
}
Time at(std::int64_t ms) { return from_ms(1'795'290'000'000 + ms); }
PendingId pending(Generation generation = 2) { return {id(), 9, generation, {7, 7, 7}}; }
Actor const by{ActorType::webhook, "ci:main"};  // a name may contain colons
Json const value = Json::trusted(R"({"n":1e6,"s":"\u000a"})");
TraceHeaders const trace{"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a=1,b=\"2\""};

Event event(Event::Body body, TurnNo turn = 3) {
    Event out;
    out.seq = 43;
    out.at = at(0);
    out.turn = turn;
    out.activity = Activity::waiting_async;
    out.body = std::move(body);
    return out;
}

PauseTerms rich_pause() {
    PauseTerms terms;
    terms.reason = PauseReason::approval;
    terms.continuation = Continuation::reentry;
    terms.placeholder = value;
    terms.message = "Ship it?\r\ndata: no";
    terms.form = Json::trusted("{}");
    terms.schema = Json::trusted("true");
    terms.external_ref = "run-1";
    terms.timeout = Duration::max();
    terms.estimated = Duration(300'000);
    terms.on_deadline = OnDeadline::deny;
    terms.answer = {{"alice", "role:answer"}, 2};
    terms.state = Json::trusted(R"({"job":7})");
    terms.metadata = Json::trusted("[1]");
    terms.webhook_url = "https://example.org/hook";
    terms.escalate_to = {"bob"};
    terms.poll_every = Duration(30'000);
    terms.warn_before = Duration(60'000);
    terms.remind_after = Duration(70'000);
    terms.remind_every = Duration(80'000);
    terms.task = 3;
    return terms;
}

CallSpec rich_call() {
    CallSpec spec;
    spec.model_id = "call_0";
    spec.tool = "deploy";
    spec.input = value;
    spec.input_digest = sha256(json::canonical(value));
    spec.terms.crash = CrashPolicy::ask;
    spec.terms.may_pause = {PauseReason::tool_result, PauseReason::handoff};
    spec.terms.gates = {"first", "second"};
    spec.terms.pause_timeout = Duration(5'000);
    spec.terms.time_limit = Duration(30'000);
    spec.terms.webhook_url = "https://example.org/early";
    spec.refused = "no such tool";
    spec.ask = 2;
    spec.ask_attempt = 3;
    spec.shown = sha256("all of it");
    spec.then = {rich_pause(), {}};
    spec.at_once = rich_pause();
    spec.budget = BudgetUse{{BudgetPer::session, BudgetKind::cost, "EUR"}, 30, 31, 15};
    return spec;
}

Receipt receipt(SubmissionKind kind, CallStatus status) {
    return {pending(), kind, status, sha256("payload"), at(0), by, "http", "gh-1", 43};
}

Submission edited_decision() {
    Submission what;
    what.kind = SubmissionKind::decision;
    what.approved = true;
    what.reason = "looks fine";
    what.arguments = value;
    what.arguments_digest = sha256(json::canonical(value));
    what.content = Json::trusted(R"({"action":"succeeded"})");
    what.action = "succeeded";
    what.output = Json::trusted("[1]");
    what.digest = sha256("payload");
    return what;
}

Submission reported_result() {
    Submission what;
    what.output = Json::trusted("null");
    what.title = "Done";
    what.metadata = value;
    what.digest = sha256("payload");
    return what;
}

using AddEvent = std::function<void(Event::Body)>;

void add_reasons(AddEvent const& add) {
    InputReceived queued{2, {}, {}, Json::trusted("[]"), by, {}, {}};
    queued.behind = 1;
    add(queued);
    add(InputDropped{12, "cancelled", "not \"needed\""});
    add(Cancelled{9, receipt(SubmissionKind::cancel, CallStatus::cancelled), true, "asked for",
                  "not\r\nneeded"});
    add(TurnEnded{3, FinishReason::cancelled, {1, 2, 3}, std::nullopt, "not needed"});
}

void add_tasks_and_mail(AddEvent const& add) {
    add(TaskStarted{3, id(), "demo", "look \"it\" up", value, true, true, 9, by, "k.d", "mark",
                    true, trace});
    add(TaskChanged{3, TaskStatus::resumed, 4, value, true, true, true, true, true, value, "broken",
                    "k.d", by, "half way", "not needed", trace});
    add(TaskCleared{3, "cleared"});
    MailTarget const bob{id(), "bob"};
    MailId const earlier{id(), 5};
    add(MailSent{{bob, {id(), ""}},
                 "hi\r\ndata: no",
                 earlier,
                 earlier,
                 3,
                 Wake::never,
                 by,
                 "k.d",
                 at(60'000),
                 trace});
    add(MailSent{{bob}, "hi", std::nullopt, {id(), 43}, 0, Wake::standard, by, "", std::nullopt});
    Mail const mail{{id(), 41}, "default", id(),         "ann", "bob", "hi",  earlier,
                    earlier,    3,         Wake::always, by,    at(7), at(9), trace};
    add(MailReceived{mail, 12, MailHold::minute, at(60'000), "k.d"});
    Mail const plain_mail{{id(), 43}, "default",  {}, {}, {}, "hi",
                          {},         {id(), 43}, 0,  {}, by, at(7)};
    add(MailReceived{plain_mail, 1, MailHold::none, std::nullopt, ""});
    add(MailReleased{{1, 12}, by});
    add(MailBounced{12, bob, {"not_found", "gone"}});
    add(MailExpired{{2, 3}});
    add(RunReported{2, "half \"way\""});
    add_reasons(add);
}

void add_pause_events(AddEvent const& add) {
    add(CallPaused{pending(), rich_pause(), at(9'000)});
    add(GateAsked{pending(1), "first", rich_pause(), at(9'000)});
    add(GateDecided{9, "first", true, "", value, sha256(json::canonical(value))});
    add(GateDecided{9, "first", false, "denied: no", std::nullopt, {}});
    GateDecided later{9, "second", true, "", value, sha256(json::canonical(value))};
    later.again = true;
    add(later);
    add(Submitted{receipt(SubmissionKind::decision, CallStatus::completed), edited_decision(),
                  trace});
    add(Submitted{receipt(SubmissionKind::result, CallStatus::completed), reported_result()});
    add(Voted{pending(), by, true, sha256("payload"), edited_decision()});
    add(GateMissing{9, "first"});
    add(GateBack{9, "first"});
    add(Reassigned{pending(), {"bob", "role:answer"}, at(9)});
    add(Reassigned{pending(), {"bob"}, std::nullopt});
    add(Reassigned{pending(), {"bob"}, at(9), Actor{ActorType::token, "alice"}});
    add(DeadlineNear{pending(), at(30'000)});
    add(Reminded{pending(), 1, at(30'000)});
    add(Reminded{pending(), 2, std::nullopt});
    add(Polled{pending(), at(30'000), 0, {}});
    add(Polled{pending(), at(60'000), 3, "503: \r\ndata: no"});
    add(Progressed{pending(), "50", value});
    add(Claimed{pending(), by, at(30'000)});
    add(Expired{receipt(SubmissionKind::expiry, CallStatus::expired), ErrorReason::unknown});
    add(Cancelled{9, receipt(SubmissionKind::cancel, CallStatus::cancelled), true, "asked for"});
    add(Cancelled{9, std::nullopt, false, "the turn was cancelled"});
}

void add_agent_events(AddEvent const& add) {
    add(AgentPrompted{1, 2, 41, 5, "dormouse:x/3.1.2"});
    add(AgentAttached{"ses_1", "load", "opencode 1.18", true, "plan"});
    add(AgentDetached{{"agent_crashed", "exit 1"}, at(1'000), {"a", "b"}, true});
    add(AgentUpdate{2, 3, 3, 12, {AgentOutputKind::message, Json::trusted("[]"), true}});
    add(AgentUpdate{
        2, 4, 3, 0, {AgentOutputKind::tool, value, false, "t1", "ls", AgentToolStatus::failed}});
    add(AgentReplied{1, 2, FinishReason::length, {1, 2, 3}, {{"USD", 1250}}});
    add(AgentAsked{pending(), rich_call(), 1, 12, rich_pause(), at(9'000)});
    add(BudgetReached{pending(), rich_call(), 1, 12, rich_pause(), at(9'000)});
    add(BudgetRaised{9, {{BudgetPer::session, BudgetKind::cost, "EUR"}, 40}, by});
    add(AgentGranted{9, 2, 1, "t2"});
    add(AgentGranted{0, 2, 2, "t3", "mcp__dormouse__inbox"});
}

// Each type with every field filled in.
std::vector<Event> one_of_each() {
    TurnTerms terms{{2, true},      3,   12, "sha256:x", {"limits", "notes"}, {"audit"},
                    OnRestart::ask, true};
    std::vector<Event> out;
    auto const add = [&](Event::Body body, TurnNo turn = 3) {
        out.push_back(event(std::move(body), turn));
    };
    add(SessionCreated{"default", "ops", "ops-1", "Ship", "/src", value, by, "k.d",
                       Parent{id(), 3, 2}, "here"},
        0);
    add(InputReceived{4, InputSource::mail, PromptMode::steer, Json::trusted("[]"), by, pending(),
                      "k.d", 2, 5, 7, value, 3, trace});
    add(InputDropped{12, "cancelled"});
    add(TurnStarted{3, 2, InputSource::task, terms, true});
    add(ModelRequested{2, 3, 41, 5});
    add(ModelReplied{
        2, 3, FinishReason::length, value, {rich_call(), CallSpec{.tool = "x"}}, 8, {1, 2, 3}});
    std::get<ModelReplied>(out.back().body).calls[1].input_digest = sha256("null");
    add(ModelFailed{2, 3, {"model_failed", "503"}, at(1'000)});
    add(ToolStarted{pending(), 2, 5});
    add(ToolFinished{9, 2, std::nullopt, value, "", "Done", value});
    add(ToolFinished{9, 1, ErrorReason::unknown, {}, "outcome unknown", "", {}});
    add(ToolFailed{9, 2, "busy", at(2'000)});
    auto const more = [&](Event::Body body) { add(std::move(body)); };
    add_pause_events(more);
    add(CallInDoubt{pending(1), CrashPolicy::ask, pending(2), at(9'000), "lost", Duration(70'000),
                    Duration(80'000)});
    add(Note{9, 2, "conflict", sha256("other"), 3, "Offered after."});
    add(TurnEnded{3, FinishReason::error, {1, 2, 3}, Trouble{"step_limit", "50"}});
    add(StatusChanged{Lifecycle::active, Lifecycle::paused, "asked"});
    add(Forked{id(), 12, Json::trusted("[]"), 4});
    add(SessionChanged{"", "", Json::trusted("null"), "b"});  // removed: not the same as unchanged
    add(SessionChanged{std::nullopt, std::nullopt, std::nullopt, std::nullopt});
    add(SessionEnded{by}, 0);
    add(SessionDeleted{by}, 0);
    add(ArtifactEmitted{"plan.txt", "text/plain", 9, sha256("artifact!"), 9});
    add(Repaired{"pending row 1.1: missing", by});
    add(TurnChecked{});
    add(TurnNotified{3});
    add_tasks_and_mail(more);
    add_agent_events(more);
    add(HistoryCut{40, 20, 9, 3, 8, by});
    Redacted redacted{.message = 4, .turn = 2, .what = "label a", .reason = "secret"};
    redacted.text = "[removed]";
    redacted.title = redacted.set_title = redacted.text;
    redacted.alias = std::string();
    redacted.labels = Json::trusted(R"({"a":"[removed]"})");
    redacted.tasks = {1, 2};
    redacted.quarantined = {7};
    redacted.events = 2;
    redacted.bytes = 30;
    redacted.artifacts = 1;
    redacted.artifact_bytes = 20;
    redacted.deliveries = 1;
    redacted.by = by;
    add(redacted);
    return out;
}

Result<std::vector<RecordPtr>> there_and_back(Event const& event) {
    return unpack(id(), event.seq, pack(id(), {record(id(), event)}));
}

TEST(Record, EveryType_RoundTripsWithEqualBytes) {
    std::set<std::size_t> seen;
    for (Event const& one : one_of_each()) {
        SCOPED_TRACE(type_name(one.body));
        auto const back = there_and_back(one);
        ASSERT_TRUE(back && back->size() == 1);
        EXPECT_TRUE(same(back->front()->event, one));
        EXPECT_EQ(back->front()->data, record(id(), one)->data);
        seen.insert(one.body.index());
    }
    EXPECT_EQ(seen.size(), std::variant_size_v<EventChoice>);
}

TEST(Record, OmittedField_IsReadAsItsDefault) {
    for (Event one : {event(CallPaused{pending(), {}, {}}),
                      event(ModelReplied{1, 1, {}, Json::trusted("[]"), {}, 0, {}}),
                      event(InputReceived{1, {}, {}, Json::trusted("[]"), {}, {}, {}}),
                      event(ModelFailed{1, 1, {}, {}}), event(TurnEnded{3, {}, {}, {}}),
                      event(GateAsked{pending(1), "g", {}, {}})}) {
        one.activity.reset();
        auto const back = there_and_back(one);
        ASSERT_TRUE(back);
        EXPECT_TRUE(same(back->front()->event, one)) << type_name(one.body);
    }
}

// As release 0.1 wrote them.
TEST(Record, EventsWithoutLaterFields_ReadAsBefore) {
    auto const records = unpack(
        id(), 1,
        R"([["input_received",7,{"turn":2,"parts":[],"source":"prompt","by":"token:ann"},1],)"
        R"(["input_dropped",0,{"messageID":"msg_x_1","why":"cancelled with everything"},0],)"
        R"(["cancelled",0,{"callID":"call_1","mayHaveRun":true,"why":"cancelled"},1],)"
        R"(["turn_ended",0,{"finishReason":"cancelled","usage":{}},1],)"
        R"(["task_changed",0,{"taskID":"tsk_x_1","status":"cancelled","run":1},0]])");
    ASSERT_TRUE(records) << records.error().detail;
    auto const body = [&]<class E>(std::size_t at, E const*) {
        return std::get<E>((*records)[at]->event.body);
    };
    EXPECT_EQ(body(0, static_cast<InputReceived*>(nullptr)).behind, 0U);
    EXPECT_EQ(body(1, static_cast<InputDropped*>(nullptr)).reason, "");
    EXPECT_EQ(body(2, static_cast<Cancelled*>(nullptr)).reason, "");
    EXPECT_EQ(body(3, static_cast<TurnEnded*>(nullptr)).reason, "");
    EXPECT_EQ(body(4, static_cast<TaskChanged*>(nullptr)).reason, "");
}

TEST(Record, EventsOfAScenario_RoundTripInOneFrame) {
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        auto const sample = testing::story(seed, 40);
        auto const records = testing::records_of(sample);
        auto const back = unpack(sample.id, 1, pack(sample.id, records));
        ASSERT_TRUE(back);
        ASSERT_EQ(back->size(), records.size());
        for (std::size_t i = 0; i < records.size(); ++i) {
            EXPECT_TRUE(same((*back)[i]->event, normalized(records[i]->event)))
                << seed << ' ' << records[i]->data;
            EXPECT_EQ((*back)[i]->data, records[i]->data);
        }
    }
}

TEST(Record, TypeOfANewerRelease_IsRefusedAndNamed) {
    auto const refused = unpack(id(), 1, R"([["session_created",1,{},0],["teleported",1,{},0]])");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::newer_format);
    EXPECT_NE(refused.error().detail.find("teleported"), std::string::npos);
    EXPECT_NE(refused.error().detail.find(id().text()), std::string::npos);
}

TEST(Record, UnknownFields_AreKeptInTheData) {
    auto const back = unpack(
        id(), 4, R"([["input_dropped",5,{"messageID":"msg_x","why":"so","colour":"red"},1]])");
    ASSERT_TRUE(back);
    EXPECT_NE(back->front()->data.find(R"("colour":"red")"), std::string::npos);
}

TEST(Record, TruncatedRecord_IsAnError) {
    auto const broken = unpack(id(), 1, R"([["session_created",1]])");
    ASSERT_FALSE(broken);
    EXPECT_EQ(broken.error().code, Code::internal);
}

TEST(Record, EventObject_HasEveryMemberOfTheEnvelope) {
    Event one = event(SessionEnded{by});
    std::string const text = event_object(id(), "default", *record(id(), one));
    ASSERT_TRUE(json::check(text));
    EXPECT_EQ(
        text,
        R"({"seq":43,"type":"session_ended","v":1,"sessionID":")" + id().text() +
            R"(","projectID":"default","turnID":"trn_)" + id().bare() +
            R"(_3","at":1795290000000,"activity":{"type":"waiting_async"},"status":"completed",)"
            R"("data":{"by":"webhook:ci:main"}})");
    one.turn = 0;
    one.activity.reset();
    std::string const outside = event_object(id(), "default", *record(id(), one));
    EXPECT_TRUE(json::View(outside)["turnID"].exists());
    EXPECT_TRUE(json::View(outside)["turnID"].is_null());
    EXPECT_FALSE(json::View(outside)["activity"].exists());
}

TEST(Record, SseFrame_AnyContent_StaysOneFrame) {
    std::string const nasty =
        "a\nb\r\nid: 9\r\revent: x\n\n\xE2\x80\xA8 \xF0\x9F\x90\xAD \x01 \xFF";
    Json const inside = json::compact(Json::trusted("{\n\t\"k\" :\r\n [ 1 ,\n 2 ] }"));
    std::vector<Event> events = one_of_each();
    events.push_back(event(InputDropped{1, nasty}));
    events.push_back(event(Progressed{pending(), nasty, inside}));
    events.push_back(event(SessionCreated{
        nasty, nasty, nasty, nasty, nasty, inside, {ActorType::token, nasty}, nasty}));
    for (Event const& one : events) {
        std::string const frame = sse_frame(id(), nasty, *record(id(), one));
        std::string const head = "id: 43\nevent: " + std::string(type_name(one.body)) + "\ndata: ";
        ASSERT_TRUE(frame.starts_with(head));
        ASSERT_TRUE(frame.ends_with("\n\n"));
        std::string_view const data =
            std::string_view(frame).substr(head.size(), frame.size() - head.size() - 2);
        EXPECT_EQ(data.find_first_of("\r\n"), std::string_view::npos) << data;
        EXPECT_TRUE(json::check(data)) << data;
    }
}

}  // namespace
}  // namespace dormouse::wire
