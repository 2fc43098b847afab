#include "wire/event_json.h"

#include "wire/mail_json.h"
#include "wire/names.h"
#include "wire/program_json.h"

#include <array>

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

struct Read {
    SessionId const& session;
    Seq seq;
    json::View data;

    std::uint32_t number(std::string_view name, std::int64_t usual = 0) const {
        return static_cast<std::uint32_t>(data[name].integer_or(usual));
    }
    std::string string(std::string_view name) const { return data[name].string_or(""); }
    Json value(std::string_view name) const {
        return data[name].exists() ? data[name].copy() : Json();
    }
    Actor actor(std::string_view name) const { return parse_actor(string(name)); }
    PendingId pending(std::string_view name = "pendingID") const {
        return PendingId::parse(string(name)).value_or(PendingId());
    }
    std::vector<std::uint64_t> numbers() const {
        std::vector<std::uint64_t> out;
        data["numbers"].elements(
            [&](json::View n) { out.push_back(static_cast<std::uint64_t>(n.integer_or(0))); });
        return out;
    }
    TaskNo task() const {
        auto const id = parse_numbered("tsk_", string("taskID"));
        return id ? static_cast<TaskNo>(id->number) : 0;
    }
    bool flag(std::string_view name) const { return data[name].boolean_or(false); }
    CallNo call() const { return parse_call(string("callID")).value_or(0); }
    Seq message() const {
        auto const id = parse_numbered("msg_", string("messageID"));
        return id ? id->number : 0;
    }
    std::optional<Time> time(std::string_view name) const {
        auto const ms = data[name].integer();
        return ms ? std::optional(from_ms(*ms)) : std::nullopt;
    }
    Trouble trouble() const {
        return {data["error"]["code"].string_or(""), data["error"]["message"].string_or("")};
    }
    Receipt receipt() const {
        Receipt receipt = read_receipt(session, data["receipt"]);
        receipt.pending = pending();
        receipt.seq = seq;
        return receipt;
    }
    template <class E> E word(std::string_view name, E usual) const {
        auto const text = data[name].string();
        return text ? parse<E>(*text).value_or(usual) : usual;
    }

    void operator()(SessionCreated& e) const {
        e = {string("projectID"), string("agentID"), string("alias"), string("title"),
             string("cwd"),       value("labels"),   actor("by"),     string("idem")};
        if (auto const task = parse_numbered("tsk_", string("taskID")))
            e.parent = Parent{task->session, static_cast<TaskNo>(task->number), number("depth", 1)};
    }
    void operator()(InputReceived& e) const {
        e.turn = number("turn");
        e.source = parse_source(string("source"));
        e.when = word("when", PromptMode::queue);
        e.parts = value("parts");
        e.by = actor("by");
        e.answers = PendingId::parse(string("answers"));
        e.idem = string("idem");
        e.run = number("run");
        e.task = task();
        e.typed_at = data["typedAt"].integer_or(0);
        e.answer = value("answer");
        e.behind = number("behind");
    }
    void operator()(InputDropped& e) const { e = {message(), string("why"), string("reason")}; }
    void operator()(TurnStarted& e) const {
        e.input = static_cast<Seq>(data["input"].integer_or(0));
        e.cause = parse_source(string("cause"));
        e.terms = read_turn_terms(data);
        e.again = data["again"].boolean_or(false);
    }
    void operator()(ModelRequested& e) const {
        e = {number("step"), number("attempt"), static_cast<Seq>(data["viewSeq"].integer_or(0)),
             static_cast<Epoch>(data["epoch"].integer_or(0))};
    }
    void operator()(ModelReplied& e) const {
        e.step = number("step");
        e.attempt = number("attempt");
        e.finish = word("finishReason", FinishReason::stop);
        e.parts = data["parts"].exists() ? data["parts"].copy() : Json::trusted("[]");
        data["calls"].elements([&](json::View call) {
            if (e.calls.empty())
                e.first_call = parse_call(call["callID"].string_or("")).value_or(0);
            e.calls.push_back(read_call_spec(call));
        });
        e.usage = read_usage(data["usage"]);
    }
    void operator()(ModelFailed& e) const {
        e = {number("step"), number("attempt"), trouble(), time("retryAt")};
    }
    void operator()(ToolStarted& e) const {
        e = {pending(), number("attempt", 1), static_cast<Epoch>(data["epoch"].integer_or(0))};
    }
    void operator()(ToolFinished& e) const {
        e.call = call();
        e.attempt = number("attempt", 1);
        if (data["reason"].exists()) e.error_reason = word("reason", ErrorReason::failed);
        e.output = value("output");
        e.error = string("error");
        e.title = string("title");
        e.metadata = value("metadata");
    }
    void operator()(ToolFailed& e) const {
        e = {call(), number("attempt"), string("error"), time("retryAt").value_or(Time())};
    }
    void operator()(CallPaused& e) const {
        e = {pending(), read_pause_terms(data), time("timeout")};
    }
    void operator()(GateAsked& e) const {
        e = {pending(), string("gate"), read_pause_terms(data), time("timeout")};
    }
    void operator()(GateDecided& e) const {
        e = {call(), string("gate"), string("verdict") == "allow", string("message"), std::nullopt,
             {}};
        if (!data["arguments"].exists()) return;
        e.input = value("arguments");
        e.input_digest = sha256(json::canonical(*e.input));
    }
    void operator()(GateMissing& e) const { e = {call(), string("gate")}; }
    void operator()(GateBack& e) const { e = {call(), string("gate")}; }
    void operator()(Submitted& e) const {
        e = {receipt(), read_submission(data)};
        e.what.digest = e.receipt.digest;
    }
    void operator()(Voted& e) const {
        json::View const vote = data["vote"];
        e = {pending(), parse_actor(vote["by"].string_or("")), vote["approved"].boolean_or(false),
             read_digest(vote["digest"]), read_submission(data)};
        e.what.digest = e.digest;
    }
    void operator()(DeadlineNear& e) const { e = {pending(), time("timeout")}; }
    void operator()(Reminded& e) const {
        e = {pending(), static_cast<std::uint32_t>(data["number"].integer_or(0)), time("next")};
    }
    void operator()(Reassigned& e) const {
        e = {pending(), {}, time("timeout")};
        data["from"].elements([&](json::View who) { e.answerers.push_back(who.string_or("")); });
    }
    void operator()(Polled& e) const {
        e = {pending(), time("next").value_or(Time()), number("failures"), string("error")};
    }
    void operator()(Progressed& e) const { e = {pending(), string("key"), value("payload")}; }
    void operator()(Claimed& e) const {
        e = {pending(), actor("by"), time("until").value_or(Time())};
    }
    void operator()(Expired& e) const { e = {receipt(), word("reason", ErrorReason::expired)}; }
    void operator()(Cancelled& e) const {
        e.call = call();
        if (data["receipt"].exists()) e.receipt = receipt();
        e.may_have_run = data["mayHaveRun"].boolean_or(false);
        e.why = string("why");
        e.reason = string("reason");
    }
    void operator()(InDoubt& e) const {
        e = {pending(),
             word("policy", CrashPolicy::never),
             PendingId::parse(string("question")),
             time("timeout"),
             string("why"),
             read_duration(data["remindAfter"]),
             read_duration(data["remindEvery"])};
    }
    void operator()(Note& e) const {
        e = {call(),           number("generation"), string("about"), read_digest(data["digest"]),
             number("number"), string("text")};
    }
    void operator()(TurnEnded& e) const {
        e.finish = word("finishReason", FinishReason::stop);
        e.usage = read_usage(data["usage"]);
        if (data["error"].exists()) e.error = trouble();
        e.reason = string("reason");
    }
    void operator()(TurnChecked&) const {}
    void operator()(TurnTold&) const {}
    void operator()(StatusChanged& e) const {
        e = {word("from", Lifecycle::active), word("to", Lifecycle::active), string("why")};
    }
    void operator()(Forked& e) const {
        e = {SessionId::parse(string("from")).value_or(SessionId()),
             static_cast<Seq>(data["seq"].integer_or(0)), value("messages"),
             number("messageCount")};
    }
    void operator()(SessionChanged& e) const {
        e.title = data["title"].string();
        e.alias = data["alias"].string();
        if (data["labels"].exists()) e.labels = value("labels");
    }
    void operator()(SessionEnded& e) const { e.by = actor("by"); }
    void operator()(SessionDeleted& e) const { e.by = actor("by"); }
    void operator()(Repaired& e) const { e = {string("what"), actor("by")}; }
    void operator()(ArtifactEmitted& e) const {
        e = {string("name"), string("mime"),
             static_cast<std::uint64_t>(data["bytes"].integer_or(0)), read_digest(data["digest"]),
             call()};
    }
    void operator()(TaskStarted& e) const {
        e.task = task();
        e.child = SessionId::parse(string("sessionID")).value_or(SessionId());
        e.agent = string("agentID");
        e.description = string("description");
        e.parts = value("parts");
        e.queued = flag("queued");
        e.notify = flag("notify");
        e.call = call();
        e.by = actor("by");
        e.idem = string("idem");
        e.mark = string("mark");
        e.fork = flag("fork");
    }
    void operator()(TaskChanged& e) const {
        e.task = task();
        e.status = word("status", TaskStatus::running);
        e.run = number("run");
        e.parts = value("parts");
        if (data["by"].exists()) e.by = actor("by");
        e.queued = flag("queued");
        e.begins = flag("begins");
        e.stops = flag("stops");
        e.gone = flag("gone");
        e.notify = flag("notify");
        e.result = value("result");
        e.error = string("error");
        e.idem = string("idem");
        e.progress = string("progress");
        e.reason = string("reason");
    }
    void operator()(RunReported& e) const { e = {number("run"), string("text")}; }
    void operator()(HistoryCut& e) const {
        e = {static_cast<Seq>(data["through"].integer_or(0)),
             static_cast<std::uint64_t>(data["messages"].integer_or(0)),
             static_cast<std::uint64_t>(data["artifactBytes"].integer_or(0)),
             number("turn"),
             number("call"),
             actor("by")};
    }
    void operator()(TaskCleared& e) const { e = {task(), string("why")}; }
    void operator()(MailSent& e) const {
        e.to = read_mail_targets(data["to"]);
        e.text = string("text");
        e.reply_to = parse_mail_id(string("replyTo"));
        e.conversation = parse_mail_id(string("conversation")).value_or(MailId{session, seq});
        e.hops = number("hops");
        e.wake = word("wake", Wake::usual);
        e.by = actor("by");
        e.idem = string("idem");
        e.expires = time("expires");
    }
    void operator()(MailExpired& e) const { e.numbers = numbers(); }
    void operator()(MailReceived& e) const {
        e = {read_mail(data), static_cast<std::uint64_t>(data["number"].integer_or(0)),
             word("hold", MailHold::none), time("until"), string("idem")};
    }
    void operator()(MailReleased& e) const {
        e.numbers = numbers();
        e.by = actor("by");
    }
    void operator()(MailBounced& e) const {
        auto const id = parse_mail_id(string("mailID"));
        e.mail = id ? id->seq : 0;
        for (MailTarget& to : read_mail_targets(data["to"])) e.to = std::move(to);
        e.error = trouble();
    }
    void operator()(AgentPrompted& e) const {
        e = {number("step"), number("attempt"), static_cast<Seq>(data["viewSeq"].integer_or(0)),
             static_cast<Epoch>(data["epoch"].integer_or(0)), string("marker")};
    }
    void operator()(AgentAttached& e) const {
        e = {string("acpSessionID"), string("how"), string("program"), flag("told"),
             string("mode")};
    }
    void operator()(AgentDetached& e) const {
        e = {trouble(), time("retryAt"), {}, flag("died")};
        data["lost"].elements([&](json::View title) { e.lost.push_back(title.string_or("")); });
    }
    void operator()(AgentUpdate& e) const {
        e = {number("attempt"), number("number"), 0, message(), read_news(data)};
    }
    void operator()(AgentReplied& e) const {
        e = {number("step"), number("attempt"), word("finishReason", FinishReason::stop),
             read_usage(data["usage"])};
    }
    void operator()(AgentAsked& e) const {
        e = {pending(), read_call_spec(data["call"]), number("step"),
             message(), read_pause_terms(data),       time("timeout")};
    }
    void operator()(AgentGranted& e) const {
        e = {call(), number("attempt"), number("ask"), string("toolCallID"), string("own")};
    }
};

// The variant's alternative whose type_name is `type`.
template <std::size_t I = 0> std::optional<Event::Body> body_of_type(std::string_view type) {
    if constexpr (I == std::variant_size_v<EventChoice>) {
        return std::nullopt;
    } else {
        Event::Body body{std::in_place_index<I>};
        if (type_name(body) == type) return body;
        return body_of_type<I + 1>(type);
    }
}

}  // namespace

std::optional<Event::Body> read_event_data(SessionId const& session, Seq seq, std::string_view type,
                                           json::View data) {
    auto body = body_of_type(type);
    if (body) std::visit(Read{session, seq, data}, *body);
    return body;
}

}  // namespace dormouse::wire
