#include "wire/journal/history.h"

#include "json/json.h"
#include "session/expiry.h"
#include "wire/mail_json.h"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace dormouse::wire {

using namespace dormouse::session;

namespace {
constexpr std::size_t progress_kept = 20;

// Joins neighbouring parts of the same text type into one.
Json joined_parts(Json const& before, Json const& more) {
    struct Part {
        std::string type, text;
        std::string_view raw;
    };
    std::vector<Part> parts;
    for (Json const* const list : {&before, &more}) {
        json::View(*list).elements([&](json::View part) {
            std::string const type = part["type"].string_or("");
            bool const goes_on = (type == "text" || type == "reasoning") && !parts.empty() &&
                                 parts.back().type == type;
            if (!goes_on) parts.push_back({type, {}, part.raw()});
            parts.back().text += part["text"].string_or("");
        });
    }
    json::Writer out;
    out.begin_array();
    for (Part const& part : parts) {
        if (part.type == "text" || part.type == "reasoning") {
            out.begin_object().member("type", part.type).member("text", part.text).end_object();
        } else {
            out.raw(part.raw);
        }
    }
    return out.end_array().json();
}

// The members of `before`, replaced and completed by those of `more`.
Json joined_members(Json const& before, Json const& more) {
    json::Writer out;
    out.begin_object();
    std::set<std::string, std::less<>> written;
    for (Json const* const object : {&more, &before}) {
        json::View(*object).members([&](std::string_view name, json::View value) {
            if (written.insert(std::string(name)).second) out.member_raw(name, value.raw());
        });
    }
    return out.end_object().json();
}

}  // namespace

struct HistoryFold {
    History& h;
    Event const& event;

    void operator()(InputReceived const& e) const {
        MessageView message;
        message.seq = event.seq;
        message.turn = e.turn;
        message.source = e.source;
        message.by = e.by;
        message.parts = e.parts;
        message.created = event.at;
        message.answers = e.answers;
        auto const [turn, is_new] = h.turns_.try_emplace(e.turn);
        bool const waits = event.turn != e.turn && !turn->second.started;
        if (is_new && waits) {
            turn->second.no = e.turn;
            turn->second.cause = e.source;
            turn->second.by = e.by;
            turn->second.input = event.seq;
            turn->second.created = event.at;
        } else if (!waits) {
            message.shown = event.seq;
        }
        turn->second.messages.push_back(event.seq);
        h.messages_.emplace(event.seq, std::move(message));
    }
    void operator()(InputDropped const& e) const {
        MessageView& message = h.messages_.at(e.input);
        message.dropped = true;
        TurnView& turn = h.turns_.at(message.turn);
        turn.dropped = true;
        turn.finish = FinishReason::cancelled;
        turn.cancel_reason = e.reason;
        turn.ended = event.at;
        turn.ended_seq = event.seq;
    }
    void operator()(TurnStarted const& e) const {
        if (e.cause == InputSource::mail && !e.again) begin_with_mail(e);
        TurnView& turn = h.turns_.at(e.turn);
        turn.started = turn.started.value_or(event.at);
        turn.step_limit = e.terms.step_limit;
        turn.finish.reset();
        turn.error.reset();
        turn.cancel_reason.clear();
        turn.ended.reset();
        turn.ended_seq = 0;
        for (Seq const seq : turn.messages) {
            MessageView& input = h.messages_.at(seq);
            if (input.shown == 0) input.shown = event.seq;
        }
    }
    void operator()(ModelRequested const& e) const {
        TurnView& turn = this->turn(event.turn);
        if (!h.steps_.empty() && h.steps_.back().reply == 0) h.steps_.pop_back();
        h.steps_.push_back({event.turn, e.step, e.view_seq, 0, event.at});
        turn.step = e.step;
        take_mail_into_turn(e.view_seq);
    }
    void operator()(ModelReplied const& e) const {
        if (!h.steps_.empty()) {
            h.steps_.back().reply = event.seq;
            h.steps_.back().at = event.at;
        }
        MessageView message;
        message.seq = event.seq;
        message.turn = event.turn;
        message.assistant = true;
        message.parts = e.parts;
        message.usage = e.usage;
        message.created = event.at;
        message.shown = event.seq;
        CallNo no = e.first_call;
        for (CallSpec const& spec : e.calls) {
            CallView call;
            call.no = no;
            call.turn = event.turn;
            call.step = e.step;
            call.message = event.seq;
            call.spec = spec;
            call.inputs.emplace_back(event.seq, spec.input);
            message.calls.push_back(no);
            h.calls_.emplace(no++, std::move(call));
        }
        TurnView& turn = this->turn(event.turn);
        turn.messages.push_back(event.seq);
        turn.usage = sum(turn.usage, e.usage);
        ++turn.steps;
        h.messages_.emplace(event.seq, std::move(message));
    }
    void operator()(ToolStarted const& e) const {
        CallView& call = h.calls_.at(e.pending.call);
        if (call.started == 0) {
            call.started = event.seq;
            call.started_at = event.at;
        }
        ++call.attempts;
    }
    void operator()(ToolFinished const& e) const {
        CallView& call = settle(e.call);
        call.error = e.error_reason;
        call.error_text = e.error;
        call.output = e.output;
        call.title = e.title;
        call.metadata = e.metadata;
    }
    void operator()(CallPaused const& e) const { open(e.pending, e.terms, e.deadline, ""); }
    void operator()(GateAsked const& e) const { open(e.pending, e.terms, e.deadline, e.gate); }
    void operator()(GateDecided const& e) const {
        CallView& call = h.calls_.at(e.call);
        if (e.input) {
            call.spec.input = *e.input;
            call.inputs.emplace_back(event.seq, *e.input);
        }
        if (!e.rule.empty()) call.by_rules.push_back({e.gate, e.rule, e.by, event.at});
        if (e.allowed) return;
        settle(e.call);
        call.error = ErrorReason::denied;
        call.error_text = e.message;
    }
    // Not part of a message: the model does not see it.
    void operator()(BudgetReached const& e) const { add_asked(e, e.message); }
    void operator()(Submitted const& e) const {
        PauseView& pause = close(e.receipt);
        pause.what = e.what;
        CallView& call = h.calls_.at(e.receipt.pending.call);
        if (pause.terms.continuation == Continuation::reentry) return edit(call, pause, e.what);
        settle(call.no);
        if (e.what->kind == SubmissionKind::decision && !e.what->approved) {
            call.error = ErrorReason::denied;
            call.error_text = e.what->reason.empty() ? "denied" : "denied: " + e.what->reason;
            return;
        }
        call.output = e.what->output;
        call.title = e.what->title;
        call.metadata = e.what->metadata;
        if (e.what->kind != SubmissionKind::error) return;
        call.error = ErrorReason::failed;
        call.error_text = e.what->error;
    }
    void operator()(Voted const& e) const {
        if (PauseView* pause = find(e.pending))
            pause->votes.push_back({e.by, e.approved, e.digest, event.at});
    }
    void operator()(Reassigned const& e) const {
        PauseView* const pause = find(e.pending);
        if (!pause) return;
        pause->terms.answer.from = e.answerers;
        if (!e.by) pause->terms.escalate_to.clear();
        pause->terms.definition.reset();
        pause->deadline = e.deadline;
        pause->claimed_until = {};
    }
    void operator()(Progressed const& e) const {
        PauseView* const pause = find_or_open_early(e.pending);
        ++pause->progress_count;
        pause->progress.push_back({event.seq, e.key, e.payload, event.at});
        if (pause->progress.size() > progress_kept) pause->progress.erase(pause->progress.begin());
    }
    void operator()(Claimed const& e) const {
        if (PauseView* pause = find(e.pending)) {
            pause->claimed_by = e.by.name;
            pause->claimed_until = e.until;
        }
    }
    void operator()(Expired const& e) const {
        PauseReason const asked = close(e.receipt).terms.reason;
        CallView& call = settle(e.receipt.pending.call);
        call.error = e.reason;
        call.error_text = expiry_text(asked, e.reason);
    }
    void operator()(Cancelled const& e) const {
        CallView& call = h.calls_.at(e.call);
        if (e.receipt) {
            PauseView& pause = close(*e.receipt);
            pause.what.reason = e.reason;
            bool const question_only =
                pause.terms.reason == PauseReason::elicitation && call.has_other_open_pause(pause);
            if (question_only) return;
        }
        settle(e.call);
        call.error = ErrorReason::cancelled;
        call.error_text = e.reason.empty() ? "cancelled" : "cancelled: " + e.reason;
    }
    void operator()(CallInDoubt const& e) const {
        CallView& call = h.calls_.at(e.pending.call);
        open(e.pending, in_doubt_terms(call.spec.terms), e.deadline, "");
        find(e.pending)->in_doubt = true;
        if (!e.question) return;
        PauseTerms asked;
        asked.reason = PauseReason::elicitation;
        asked.continuation = Continuation::reentry;
        asked.message = (e.why.empty() ? "The server stopped while this tool ran."
                                       : "It is unknown what this tool did: " + e.why + ".") +
                        " Run it again, enter its result, or give up?";
        open(*e.question, asked, std::nullopt, "");
    }
    void operator()(TurnEnded const& e) const {
        TurnView& turn = this->turn(e.turn);
        turn.finish = e.finish;
        turn.error = e.error;
        turn.cancel_reason = e.reason;
        turn.ended = event.at;
        turn.ended_seq = event.seq;
        if (!h.steps_.empty() && h.steps_.back().reply == 0) h.steps_.pop_back();
    }
    void operator()(Forked const& e) const {
        h.forked_ = h.forked_.is_null() ? e.messages : joined(h.forked_, e.messages);
        if (e.from != SessionId()) h.forked_from_ = e.from;
    }
    static Json joined(Json const& some, Json const& more) {
        if (some.text() == "[]") return more;
        if (more.text() == "[]") return some;
        std::string out(some.text());
        out.back() = ',';
        return Json::trusted(out.append(more.text().substr(1)));
    }
    void operator()(ArtifactEmitted const& e) const {
        h.artifacts_.emplace(event.seq, e);
        if (e.call != 0) h.calls_.at(e.call).artifact = event.seq;
    }
    void operator()(TaskStarted const& e) const {
        TaskView task{e.task, e.child, e.agent, e.description, e.parts};
        task.queued = e.queued;
        task.call = e.call;
        task.by = e.by;
        task.created = event.at;
        h.tasks_.emplace(e.task, std::move(task));
    }
    void operator()(TaskChanged const& e) const {
        TaskView& task = h.tasks_.at(e.task);
        bool const was_over = task.ended.has_value();
        bool const over = e.status != TaskStatus::running && e.status != TaskStatus::resumed;
        task.status = e.status;
        task.run = e.run;
        task.gone = task.gone || e.gone;
        if (!e.parts.is_null()) {
            task.result = {};
            task.error.clear();
            task.progress.clear();
            task.ended.reset();
            task.resumed = event.at;
        }
        task.queued = !over && !e.begins && (task.queued || e.queued);
        if (!e.result.is_null()) task.result = e.result;
        if (!e.error.empty()) task.error = e.error;
        if (!e.progress.empty()) task.progress = e.progress;
        if (over && !was_over) task.ended = event.at;
    }
    void operator()(TaskCleared const& e) const { h.tasks_.erase(e.task); }
    void operator()(MailSent const& e) const {
        h.sent_.emplace(event.seq, SentView{e, event.at, {}});
    }
    void operator()(MailReceived const& e) const {
        MessageView& message = notice(mail_parts(e.mail));
        message.by = e.mail->from ? Actor{ActorType::session, e.mail->from->text()} : e.mail->by;
        message.mail = event.seq;
        h.mails_.emplace(event.seq, MailView{e, event.at});
    }
    void operator()(MailReleased const& e) const {
        for (auto& [seq, mail] : h.mails_) {
            if (std::ranges::find(e.numbers, mail.what.number) != e.numbers.end())
                mail.released = true;
        }
    }
    void operator()(MailExpired const& e) const {
        for (auto& [seq, mail] : h.mails_) {
            if (std::ranges::find(e.numbers, mail.what.number) == e.numbers.end()) continue;
            mail.expired = true;
            h.messages_.at(seq).dropped = true;
            std::erase(h.unread_, seq);
        }
    }
    void operator()(MailBounced const& e) const {
        (void)notice(bounce_parts(h.session_, e));
        if (auto const sent = h.sent_.find(e.mail); sent != h.sent_.end())
            sent->second.bounced.push_back(e);
    }
    void operator()(AgentPrompted const& e) const {
        (*this)(ModelRequested{e.step, e.attempt, e.view_seq, e.epoch});
    }
    void operator()(AgentReplied const& e) const {
        if (!h.steps_.empty()) {
            h.steps_.back().reply = event.seq;
            h.steps_.back().at = event.at;
        }
        TurnView& turn = this->turn(event.turn);
        turn.usage = sum(turn.usage, e.usage);
        ++turn.steps;
        lose_tools();
    }
    void operator()(AgentDetached const&) const { lose_tools(); }
    void operator()(AgentUpdate const& e) const {
        if (e.what.kind == AgentOutputKind::plan) return;
        if (e.what.kind == AgentOutputKind::tool) return describe_tool(e);
        MessageView& message = agent_message(e.message, e.turn);
        message.parts =
            message.parts.text() == "[]" ? e.what.body : joined_parts(message.parts, e.what.body);
    }
    void operator()(AgentAsked const& e) const {
        MessageView& message = agent_message(e.message, event.turn);
        message.by_agent = e.spec->ask != 0;
        add_asked(e, message.seq);
        if (e.spec->ask == 0) {  // of a client: there is no agent that describes it
            message.calls.push_back(e.pending.call);
            return;
        }
        AgentToolView& tool = agent_tool(e.spec->model_id, message);
        tool.asked = e.pending.call;
        if (tool.title.empty()) tool.title = e.terms->message;
        // Some agents describe a tool call only in their permission request.
        bool const known = json::View(tool.body)["input"].exists();
        if (known || e.spec->input.is_null()) return;
        json::Writer asked;
        asked.begin_object().member("input", e.spec->input).end_object();
        tool.body = joined_members(tool.body, asked.json());
    }
    template <class Other> void operator()(Other const&) const {}

    TurnView& turn(TurnNo no) const { return h.turns_[no]; }

    void touch(PendingId const& pending) const {
        if (PauseView* const pause = find(pending)) pause->changed = event.at;
    }

private:
    MessageView& agent_message(Seq seq, TurnNo turn) const {
        auto const known = h.messages_.find(seq);
        if (known != h.messages_.end()) return known->second;
        MessageView message;
        message.seq = seq;
        message.turn = turn;
        message.assistant = true;
        message.by_agent = true;
        message.parts = Json::trusted("[]");
        message.created = event.at;
        message.shown = event.seq;
        if (auto const of = h.turns_.find(turn); of != h.turns_.end())
            of->second.messages.push_back(seq);
        return h.messages_.emplace(seq, std::move(message)).first->second;
    }
    // The tool call with this id, or a new one of `message`.
    AgentToolView& agent_tool(std::string const& id, MessageView& message) const {
        auto const [at, is_new] = h.agent_tools_.try_emplace(id, message.seq);
        auto& tools = is_new ? message.agent_tools : h.messages_.at(at->second).agent_tools;
        auto const found = std::ranges::find(tools, id, &AgentToolView::id);
        if (found != tools.end()) return *found;
        tools.push_back({id, {}, {}, false, Json::trusted("{}"), 0, event.at, event.at});
        return tools.back();
    }
    void describe_tool(AgentUpdate const& e) const {
        auto const known = h.agent_tools_.find(e.what.tool_call);
        bool const has = known != h.agent_tools_.end();
        if (!has && e.message == 0) return;  // of a journal that is read from its middle
        MessageView& message = has && e.message == 0 ? h.messages_.at(known->second)
                                                     : agent_message(e.message, e.turn);
        AgentToolView& tool = agent_tool(e.what.tool_call, message);
        tool.status = e.what.status;
        tool.unknown = false;
        tool.changed = event.at;
        if (!e.what.title.empty()) tool.title = e.what.title;
        tool.body = joined_members(tool.body, e.what.body);
    }
    // Tool calls that are still open now have no known outcome.
    void lose_tools() const {
        for (auto const& [id, seq] : h.agent_tools_) {
            for (AgentToolView& tool : h.messages_.at(seq).agent_tools) {
                if (tool.id != id || !is_open(tool.status)) continue;
                tool.unknown = true;
                tool.status = AgentToolStatus::failed;
                tool.changed = event.at;
            }
        }
        h.agent_tools_.clear();
    }
    // A user message of the turn whose request sees it first.
    MessageView& notice(Json parts) const {
        MessageView message;
        message.seq = event.seq;
        message.source = InputSource::mail;
        message.parts = std::move(parts);
        message.created = event.at;
        message.shown = event.seq;
        h.unread_.push_back(event.seq);
        return h.messages_.emplace(event.seq, std::move(message)).first->second;
    }
    void begin_with_mail(TurnStarted const& e) const {
        TurnView& turn = h.turns_[e.turn];
        turn.no = e.turn;
        turn.cause = e.cause;
        turn.input = e.input;
        turn.by = h.messages_.at(e.input).by;
        turn.created = event.at;
    }
    void take_mail_into_turn(Seq view_seq) const {
        TurnView& turn = this->turn(event.turn);
        std::erase_if(h.unread_, [&](Seq seq) {
            if (seq > view_seq) return false;
            h.messages_.at(seq).turn = event.turn;
            turn.messages.push_back(seq);
            return true;
        });
    }
    PauseView* find(PendingId const& pending) const {
        auto const call = h.calls_.find(pending.call);
        if (call == h.calls_.end()) return nullptr;
        auto const found = std::ranges::find(call->second.pauses, pending, &PauseView::pending);
        return found == call->second.pauses.end() ? nullptr : &*found;
    }
    // A call that begins with its pause: AgentAsked or BudgetReached.
    template <class Asked> void add_asked(Asked const& e, Seq message) const {
        CallView call;
        call.no = e.pending.call;
        call.turn = event.turn;
        call.step = e.step;
        call.message = message;
        call.spec = e.spec;
        call.started = event.seq;
        call.started_at = event.at;
        call.inputs.emplace_back(event.seq, e.spec->input);
        h.calls_.emplace(call.no, std::move(call));
        open(e.pending, e.terms, e.deadline, "");
    }
    void open(PendingId const& pending, PauseTerms const& terms, std::optional<Time> deadline,
              std::string const& gate) const {
        CallView& call = h.calls_.at(pending.call);
        PauseView* pause = find(pending);
        if (!pause) pause = &call.pauses.emplace_back();
        pause->pending = pending;
        pause->terms = terms;
        pause->deadline = deadline;
        pause->created = event.at;
        pause->started = call.started == 0 ? event.at : call.started_at;
        pause->receipt.reset();
        pause->in_doubt = false;  // of an earlier attempt under the same id
        pause->gate = gate;
        call.placeholders.emplace_back(event.seq, terms.placeholder);
    }
    // The pause, or an early one: an outcome that came before the tool paused.
    PauseView* find_or_open_early(PendingId const& pending) const {
        if (PauseView* pause = find(pending)) return pause;
        open(pending, {}, std::nullopt, "");
        return find(pending);
    }
    PauseView& close(Receipt const& receipt) const {
        PauseView& pause = *find_or_open_early(receipt.pending);
        pause.receipt = receipt;
        return pause;
    }
    // Applies arguments that were edited in an answer to the tool's own question. A gate's decision
    // has its own.
    void edit(CallView& call, PauseView const& pause, Submission const& what) const {
        if (!pause.gate.empty() || !what.approved || what.arguments.is_null()) return;
        call.spec.input = what.arguments;
        call.inputs.emplace_back(event.seq, what.arguments);
    }
    CallView& settle(CallNo no) const {
        CallView& call = h.calls_.at(no);
        call.settled = event.seq;
        call.settled_at = event.at;
        return call;
    }
};

namespace {

// Decides whether the message or call of an event was seen.
struct Seen {
    History const& h;

    bool operator()(InputDropped const& e) const { return h.messages().contains(e.input); }
    bool operator()(TurnStarted const& e) const {
        bool const known = e.cause == InputSource::mail || h.turns().contains(e.turn);
        return known && h.messages().contains(e.input);
    }
    bool operator()(TaskChanged const& e) const { return h.tasks().contains(e.task); }
    bool operator()(ArtifactEmitted const& e) const { return e.call == 0 || has(e.call); }
    bool operator()(ToolStarted const& e) const { return has(e.pending.call); }
    bool operator()(ToolFinished const& e) const { return has(e.call); }
    bool operator()(GateDecided const& e) const { return has(e.call); }
    bool operator()(CallPaused const& e) const { return has(e.pending.call); }
    bool operator()(GateAsked const& e) const { return has(e.pending.call); }
    bool operator()(Submitted const& e) const { return has(e.receipt.pending.call); }
    bool operator()(Voted const& e) const { return has(e.pending.call); }
    bool operator()(Reassigned const& e) const { return has(e.pending.call); }
    bool operator()(Progressed const& e) const { return has(e.pending.call); }
    bool operator()(Claimed const& e) const { return has(e.pending.call); }
    bool operator()(Expired const& e) const { return has(e.receipt.pending.call); }
    bool operator()(Cancelled const& e) const { return has(e.call); }
    bool operator()(CallInDoubt const& e) const { return has(e.pending.call); }
    template <class Other> bool operator()(Other const&) const { return true; }

private:
    [[nodiscard]] bool has(CallNo call) const { return h.calls().contains(call); }
};

}  // namespace

void History::add(Record const& record) {
    if (!std::visit(Seen{*this}, record.event.body)) return;
    HistoryFold const fold{*this, record.event};
    try {
        std::visit(fold, record.event.body);
        for (PendingId const& pending : touched(record.event)) fold.touch(pending);
    } catch (std::out_of_range const&) {
        // The event refers to something that does not exist: the journal is damaged. verify reports
        // where.
        return;
    }
}

}  // namespace dormouse::wire
