#include "wire/event_json.h"

#include "wire/mail_json.h"
#include "wire/names.h"
#include "wire/program_json.h"

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

struct Write {
    json::Writer& out;
    SessionId const& session;
    Event const& event;

    void operator()(SessionCreated const& e) const {
        out.member("projectID", e.project).member("agentID", e.agent);
        text_member("alias", e.alias);
        text_member("title", e.title);
        text_member("cwd", e.cwd);
        json_member("labels", e.labels);
        out.member("by", actor_text(e.by));
        text_member("idem", e.idem);
        if (!e.parent) return;
        out.member("parentID", e.parent->session.text());
        out.member("taskID", numbered_id("tsk_", e.parent->session, e.parent->task));
        if (e.parent->depth != 1) out.member("depth", e.parent->depth);
    }
    void operator()(InputReceived const& e) const {
        message_id(event.seq);
        out.member("turn", e.turn).member("parts", e.parts).member("source", source_text(e.source));
        if (e.when != PromptMode::queue) out.member("when", text(e.when));
        out.member("by", actor_text(e.by));
        if (e.answers) out.member("answers", e.answers->text());
        text_member("idem", e.idem);
        if (e.run > 0) out.member("run", e.run);
        if (e.task > 0) task_id(e.task);
        if (e.typed_at > 0) out.member("typedAt", e.typed_at);
        if (!e.answer.is_null()) out.member("answer", e.answer);
        if (e.behind > 0) out.member("behind", e.behind);
    }
    void operator()(InputDropped const& e) const {
        message_id(e.input);
        out.member("why", e.why);
        text_member("reason", e.reason);
    }
    void operator()(TurnStarted const& e) const {
        out.member("input", e.input).member("cause", source_text(e.cause));
        write_turn_terms(out, e.terms);
        if (e.again) out.member("again", true);
    }
    void operator()(ModelRequested const& e) const {
        step(e.step, e.attempt);
        out.member("viewSeq", e.view_seq).member("epoch", e.epoch);
    }
    void operator()(ModelReplied const& e) const {
        message_id(event.seq);
        step(e.step, e.attempt);
        if (e.finish != FinishReason::stop) out.member("finishReason", text(e.finish));
        if (e.parts.text() != "[]") out.member("parts", e.parts);
        CallNo no = e.first_call;
        if (!e.calls.empty()) out.key("calls").begin_array();
        for (CallSpec const& spec : e.calls) {
            out.begin_object().member("callID", call_text(no++));
            write_call_spec(out, spec);
            out.end_object();
        }
        if (!e.calls.empty()) out.end_array();
        out.key("usage");
        write_usage(out, e.usage);
    }
    void operator()(ModelFailed const& e) const {
        step(e.step, e.attempt);
        trouble(e.error);
        time_member("retryAt", e.retry_at);
    }
    void operator()(ToolStarted const& e) const {
        pause(e.pending);
        if (e.attempt != 1) out.member("attempt", e.attempt);
        out.member("epoch", e.epoch);
    }
    void operator()(ToolFinished const& e) const {
        out.member("callID", call_text(e.call));
        if (e.attempt != 1) out.member("attempt", e.attempt);
        if (e.error_reason) {
            out.member("error", e.error).member("reason", text(*e.error_reason));
            return;
        }
        out.member("output", e.output);
        text_member("title", e.title);
        json_member("metadata", e.metadata);
    }
    void operator()(ToolFailed const& e) const {
        out.member("callID", call_text(e.call))
            .member("attempt", e.attempt)
            .member("error", e.error);
        time_member("retryAt", e.retry_at);
    }
    void operator()(CallPaused const& e) const {
        pause(e.pending);
        write_pause_terms(out, e.terms);
        time_member("timeout", e.deadline);
    }
    void operator()(GateAsked const& e) const {
        pause(e.pending);
        out.member("gate", e.gate);
        write_pause_terms(out, e.terms);
        time_member("timeout", e.deadline);
    }
    void operator()(GateDecided const& e) const {
        out.member("callID", call_text(e.call)).member("gate", e.gate);
        out.member("verdict", e.allowed ? "allow" : "deny");
        text_member("message", e.message);
        if (e.input) out.member("arguments", *e.input);
    }
    void operator()(GateMissing const& e) const {
        out.member("callID", call_text(e.call)).member("gate", e.gate);
    }
    void operator()(GateBack const& e) const {
        out.member("callID", call_text(e.call)).member("gate", e.gate);
    }
    void operator()(Submitted const& e) const {
        pause(e.receipt.pending);
        receipt(e.receipt);
        write_submission(out, e.what);
    }
    void operator()(Voted const& e) const {
        pause(e.pending);
        out.key("vote")
            .begin_object()
            .member("by", actor_text(e.by))
            .member("approved", e.approved);
        out.member("digest", digest_text(e.digest)).end_object();
        write_submission(out, e.what);
    }
    void operator()(DeadlineNear const& e) const {
        pause(e.pending);
        time_member("timeout", e.deadline);
    }
    void operator()(Reminded const& e) const {
        pause(e.pending);
        out.member("number", e.number);
        time_member("next", e.next);
    }
    void operator()(Reassigned const& e) const {
        pause(e.pending);
        out.key("from").begin_array();
        for (std::string const& name : e.answerers) out.value(name);
        out.end_array();
        time_member("timeout", e.deadline);
    }
    void operator()(Polled const& e) const {
        pause(e.pending);
        out.member("next", to_ms(e.next));
        if (e.failures != 0) out.member("failures", e.failures);
        text_member("error", e.error);
    }
    void operator()(Progressed const& e) const {
        pause(e.pending);
        text_member("key", e.key);
        out.member("payload", e.payload);
    }
    void operator()(Claimed const& e) const {
        pause(e.pending);
        out.member("by", actor_text(e.by)).member("until", to_ms(e.until));
    }
    void operator()(Expired const& e) const {
        pause(e.receipt.pending);
        receipt(e.receipt);
        if (e.reason != ErrorReason::expired) out.member("reason", text(e.reason));
    }
    void operator()(Cancelled const& e) const {
        if (e.receipt) {
            pause(e.receipt->pending);
            receipt(*e.receipt);
        } else {
            out.member("callID", call_text(e.call));
        }
        out.member("mayHaveRun", e.may_have_run).member("why", e.why);
        text_member("reason", e.reason);
    }
    void operator()(InDoubt const& e) const {
        pause(e.pending);
        out.member("policy", text(e.policy));
        if (e.question) out.member("question", e.question->text());
        time_member("timeout", e.deadline);
        text_member("why", e.why);
        write_duration(out, "remindAfter", e.remind_after);
        write_duration(out, "remindEvery", e.remind_every);
    }
    void operator()(Note const& e) const {
        out.member("callID", call_text(e.call))
            .member("generation", e.generation)
            .member("about", e.about);
        out.member("digest", digest_text(e.digest))
            .member("number", e.number)
            .member("text", e.text);
    }
    void operator()(TurnEnded const& e) const {
        out.member("finishReason", text(e.finish)).key("usage");
        write_usage(out, e.usage);
        if (e.error) trouble(*e.error);
        text_member("reason", e.reason);
    }
    void operator()(TurnChecked const&) const {}
    void operator()(TurnTold const&) const {}
    void operator()(StatusChanged const& e) const {
        out.member("from", text(e.from)).member("to", text(e.to)).member("why", e.why);
    }
    void operator()(Forked const& e) const {
        if (e.from != SessionId()) out.member("from", e.from.text());  // else it was imported
        out.member("seq", e.seq).member("messageCount", e.message_count);
        out.member("messages", e.messages);
    }
    void operator()(SessionChanged const& e) const {
        if (e.title) out.member("title", *e.title);
        if (e.alias) out.member("alias", *e.alias);
        if (e.labels) out.member("labels", *e.labels);
    }
    void operator()(SessionEnded const& e) const { out.member("by", actor_text(e.by)); }
    void operator()(SessionDeleted const& e) const { out.member("by", actor_text(e.by)); }
    void operator()(Repaired const& e) const {
        out.member("what", e.what).member("by", actor_text(e.by));
    }
    void operator()(ArtifactEmitted const& e) const {
        out.member("artifactID", numbered_id("art_", session, event.seq)).member("name", e.name);
        out.member("mime", e.mime).member("bytes", e.bytes).member("digest", digest_text(e.digest));
        if (e.call != 0) out.member("callID", call_text(e.call));
    }
    void operator()(TaskStarted const& e) const {
        task_id(e.task);
        out.member("sessionID", e.child.text()).member("agentID", e.agent);
        out.member("description", e.description).member("parts", e.parts);
        flag("queued", e.queued);
        flag("notify", e.notify);
        if (e.call != 0) out.member("callID", call_text(e.call));
        out.member("by", actor_text(e.by));
        text_member("idem", e.idem);
        text_member("mark", e.mark);
        flag("fork", e.fork);
    }
    void operator()(TaskChanged const& e) const {
        task_id(e.task);
        out.member("status", text(e.status)).member("run", e.run);
        json_member("parts", e.parts);
        if (!e.parts.is_null()) out.member("by", actor_text(e.by));
        flag("queued", e.queued);
        flag("begins", e.begins);
        flag("stops", e.stops);
        flag("gone", e.gone);
        flag("notify", e.notify);
        json_member("result", e.result);
        text_member("error", e.error);
        text_member("idem", e.idem);
        text_member("progress", e.progress);
        text_member("reason", e.reason);
    }
    void operator()(RunReported const& e) const { out.member("run", e.run).member("text", e.text); }
    void operator()(HistoryCut const& e) const {
        out.member("through", e.through).member("messages", e.messages);
        out.member("artifactBytes", e.artifact_bytes).member("turn", e.turn);
        out.member("call", e.call).member("by", actor_text(e.by));
    }
    void operator()(TaskCleared const& e) const {
        task_id(e.task);
        out.member("why", e.why);
    }
    void operator()(MailSent const& e) const {
        MailId const id{session, event.seq};
        out.member("mailID", text(id)).key("to");
        write_mail_targets(out, e.to);
        out.member("text", e.text);
        if (e.reply_to) out.member("replyTo", text(*e.reply_to));
        if (e.conversation != id) out.member("conversation", text(e.conversation));
        if (e.hops != 0) out.member("hops", e.hops);
        if (e.wake != Wake::usual) out.member("wake", text(e.wake));
        out.member("by", actor_text(e.by));
        text_member("idem", e.idem);
        time_member("expires", e.expires);
    }
    void operator()(MailExpired const& e) const {
        out.key("numbers").begin_array();
        for (std::uint64_t const number : e.numbers) out.value(number);
        out.end_array();
    }
    void operator()(MailReceived const& e) const {
        message_id(event.seq);
        out.member("number", e.number);
        write_mail(out, e.mail);
        if (e.hold != MailHold::none) out.member("hold", text(e.hold));
        time_member("until", e.until);
        text_member("idem", e.idem);
    }
    void operator()(MailReleased const& e) const {
        out.key("numbers").begin_array();
        for (std::uint64_t const number : e.numbers) out.value(number);
        out.end_array().member("by", actor_text(e.by));
    }
    void operator()(MailBounced const& e) const {
        message_id(event.seq);
        out.member("mailID", numbered_id("mail_", session, e.mail)).key("to");
        write_mail_targets(out, {e.to});
        trouble(e.error);
    }
    void operator()(AgentPrompted const& e) const {
        step(e.step, e.attempt);
        out.member("viewSeq", e.view_seq).member("epoch", e.epoch).member("marker", e.marker);
    }
    void operator()(AgentAttached const& e) const {
        out.member("acpSessionID", e.acp_session).member("how", e.how);
        text_member("program", e.program);
        flag("told", e.told);
        text_member("mode", e.mode);
    }
    void operator()(AgentDetached const& e) const {
        trouble(e.error);
        time_member("retryAt", e.retry_at);
        flag("died", e.died);
        if (e.lost.empty()) return;
        out.key("lost").begin_array();
        for (std::string const& title : e.lost) out.value(title);
        out.end_array();
    }
    void operator()(AgentUpdate const& e) const {
        out.member("attempt", e.attempt).member("number", e.number);
        if (e.message != 0) message_id(e.message);
        write_news(out, e.what);
    }
    void operator()(AgentReplied const& e) const {
        step(e.step, e.attempt);
        if (e.finish != FinishReason::stop) out.member("finishReason", text(e.finish));
        out.key("usage");
        write_usage(out, e.usage);
    }
    void operator()(AgentAsked const& e) const {
        pause(e.pending);
        out.member("step", e.step);
        message_id(e.message);
        out.key("call").begin_object();
        write_call_spec(out, e.spec);
        out.end_object();
        write_pause_terms(out, e.terms);
        time_member("timeout", e.deadline);
    }
    void operator()(AgentGranted const& e) const {
        if (e.call != 0) out.member("callID", call_text(e.call));
        out.member("attempt", e.attempt).member("ask", e.ask).member("toolCallID", e.tool_call);
        text_member("own", e.own);
    }

private:
    void task_id(TaskNo task) const { out.member("taskID", numbered_id("tsk_", session, task)); }
    void flag(std::string_view name, bool set) const {
        if (set) out.member(name, true);
    }
    void message_id(Seq seq) const { out.member("messageID", numbered_id("msg_", session, seq)); }
    void step(std::uint32_t step, std::uint32_t attempt) const {
        out.member("step", step).member("attempt", attempt);
    }
    void pause(PendingId const& pending) const {
        out.member("callID", call_text(pending.call)).member("pendingID", pending.text());
        if (pending.generation != 1) out.member("generation", pending.generation);
    }
    void receipt(Receipt const& receipt) const {
        out.key("receipt").begin_object();
        write_receipt(out, receipt);
        out.end_object();
    }
    void trouble(Trouble const& error) const {
        out.key("error")
            .begin_object()
            .member("code", error.code)
            .member("message", error.message)
            .end_object();
    }
    void text_member(std::string_view name, std::string const& text) const {
        if (!text.empty()) out.member(name, text);
    }
    void json_member(std::string_view name, Json const& value) const {
        if (!value.is_null()) out.member(name, value);
    }
    void time_member(std::string_view name, std::optional<Time> const& time) const {
        if (time) out.member(name, to_ms(*time));
    }
};

}  // namespace

void write_event_data(json::Writer& out, SessionId const& session, Event const& event) {
    out.begin_object();
    std::visit(Write{out, session, event}, event.body);
    out.end_object();
}

}  // namespace dormouse::wire
