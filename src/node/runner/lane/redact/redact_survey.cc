#include "runner/lane/redact/redact_survey.h"

#include "json/json.h"
#include "session/task.h"
#include "wire/names.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <variant>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

// The tools whose argument `task_id` names a task (agent/task_tools.cc).
constexpr std::array<std::string_view, 2> tools_of_tasks{"background_output", "background_resume"};

bool has_number(MailReleased const& released, std::uint64_t number) {
    return std::ranges::find(released.numbers, number) != released.numbers.end();
}

TaskNo own_task(SessionId const& session, std::string_view text) {
    auto const id = parse_numbered("tsk_", text);
    return id && id->session == session ? static_cast<TaskNo>(id->number) : 0;
}

}  // namespace

Survey::Survey(State const& state, RedactionAsk const& ask) : state_(state), ask_(ask) {
    if (ask.call != 0) target.calls.insert(ask.call);
    target.set = ask.set;
    target.label = ask.label;
    target.at_creation = ask.at_creation;
    target.alias_of = ask.set == wire::SessionProperty::alias ? state.id : ask.alias_of;
    if (ask.item.empty()) return;
    mail_ = parse_mail_id(ask.item);
    if (mail_) return;
    prefix_ = ask.item + ": ";
    task_ = own_task(state.id, ask.item);
    run_ = state.parent && ask.item == task_id(state.parent->session, state.parent->task);
    if (ask.item.starts_with("prt_")) {
        target.part = ask.item;
    } else if (task_ == 0 && !run_) {
        target.copied = ask.item;
    }
}

// In a fork, values inherited from the parent and values set later are redacted separately.
std::string Survey::at_creation(std::string const& what) const {
    return ask_.at_creation ? what + " at creation" : what;
}

std::string Survey::what() const {
    if (ask_.alias_of) return "alias of " + ask_.alias_of->text();
    switch (ask_.set) {
        case wire::SessionProperty::none: break;
        case wire::SessionProperty::title: return at_creation("title");
        case wire::SessionProperty::alias: return "alias";
        case wire::SessionProperty::labels:
            return at_creation(ask_.label.empty() ? "labels" : "label " + ask_.label);
    }
    return "";
}

void Survey::begin_pass() {
    again_ = false;
    earlier.reset();
    unread = false;
    changed_ = {};
    got_ = 0;
    reported_ = 0;
    replies_.clear();
    cancelled_ = {};
    calls_cancelled_.clear();
}

void Survey::take(wire::RecordPtr const& record) {
    Event const& event = record->event;
    find(event);
    link_task(event);
    link_report(event);
    find_run(event);
    find_reason(event);
    find_set(event);
    // Content after an earlier redaction needs another redaction.
    if (note_artifacts(*record)) earlier.reset();
    note_earlier(record);
    auto const* const e = std::get_if<Submitted>(&event.body);
    if (e && e->what->rule && has_call(e->receipt.pending.call))
        rules.insert(numbered_id("rul_", state_.id, event.seq));
    if (event.turn != 0 && turns.contains(event.turn)) of_turn.insert(event.seq);
}

void Survey::note_earlier(wire::RecordPtr const& record) {
    auto const* const e = std::get_if<Redacted>(&record->event.body);
    if (!e || !found_ || earlier) return;
    bool const same =
        e->message == named_ && e->call == ask_.call && e->turn == ask_.turn && e->what == what();
    if (same && e->reason.starts_with(prefix_)) earlier = record;
}

// Returns true if the record holds content of the target.
bool Survey::note_artifacts(wire::Record const& record) {
    Event const& event = record.event;
    if (auto const* e = std::get_if<ArtifactEmitted>(&event.body)) {
        if (e->digest == wire::no_digest) return false;  // removed earlier
        artifacts_.emplace(event.seq, e->bytes);
        if (e->call != 0 && has_call(e->call)) remove_artifact(event.seq);
    }
    if (auto const* e = std::get_if<Forked>(&event.body)) {
        // Its artifacts follow.
        name_artifacts(wire::copied_content(e->messages, target).raw());
        return true;
    }
    if (!wire::redacted(event, target)) return false;
    of_turn.insert(event.seq);
    name_artifacts(record.data);
    return true;
}

void Survey::found_at(Seq seq, TurnNo turn) {
    if (!found_) named_ = ask_.call == 0 && ask_.turn == 0 ? seq : 0;
    found_ = true;
    if (turn != 0) turns.insert(turn);
}

void Survey::add_message(Seq seq) {
    if (seq != 0 && target.messages.insert(seq).second) again_ = true;
}

void Survey::add_call(CallNo call) {
    if (target.calls.insert(call).second) again_ = true;
}

void Survey::find(Event const& event) {
    if (ask_.message != 0 && event.seq == ask_.message) find_message(event);
    find_turn(event);
    find_call(event);
    find_mail(event);
    find_task(event);
    find_of_agent(event);
    if (auto const* const e = std::get_if<Forked>(&event.body)) find_copy(event.seq, *e);
}

// Finds a message that a fork or an import copied.
void Survey::find_copy(Seq seq, Forked const& begin) {
    if (!target.part.empty()) {
        auto const [message, call] = wire::message_of_part(begin.messages, target.part);
        if (message.empty()) return;
        target.copied = message;
        copied_call_ = call;
    }
    if (!wire::copied_message(begin.messages, target.copied).exists()) return;
    if (!found_) again_ = true;  // its artifacts follow
    found_at(seq, 0);
}

// Finds everything that belongs to a turn, except the mail that it read.
void Survey::find_turn(Event const& event) {
    if (ask_.turn == 0) return;
    if (auto const* e = std::get_if<InputReceived>(&event.body)) {
        if (e->turn == ask_.turn) find_message(event);
    } else if (event.turn == ask_.turn) {
        bool const mail = std::holds_alternative<MailReceived>(event.body) ||
                          std::holds_alternative<MailBounced>(event.body);
        if (!mail) find_message(event);
    }
    auto const* const started = std::get_if<TurnStarted>(&event.body);
    if (started && started->turn == ask_.turn) found_at(0, started->turn);
}

// Finds the reason with which the turn was cancelled. The same request can also have cancelled
// calls and tasks, and dropped prompts.
void Survey::find_reason(Event const& event) {
    if (std::holds_alternative<TurnStarted>(event.body)) calls_cancelled_.clear();
    if (auto const* e = std::get_if<Cancelled>(&event.body))
        calls_cancelled_.emplace_back(event.seq, e->reason);
    if (auto const* e = std::get_if<TurnEnded>(&event.body)) {
        cancelled_ = {};
        bool const its =
            (ask_.turn != 0 && e->turn == ask_.turn) || (run_ && run_turns_.contains(e->turn));
        if (!its || e->reason.empty()) return;
        target.reasons.insert(event.seq);
        for (auto const& [seq, reason] : calls_cancelled_)
            if (reason == e->reason) target.reasons.insert(seq);
        cancelled_ = {event.at, e->reason};
    }
    if (cancelled_.second.empty() || event.at != cancelled_.first) return;
    auto const* const dropped = std::get_if<InputDropped>(&event.body);
    if (dropped && dropped->reason == cancelled_.second) target.reasons.insert(event.seq);
    auto const* const changed = std::get_if<TaskChanged>(&event.body);
    if (!changed || changed->reason != cancelled_.second) return;
    if (target.tasks.insert(changed->task).second) again_ = true;
}

// Finds properties of the session, and its alias in mail.
void Survey::find_set(Event const& event) {
    if (target.alias_of) find_alias(event);
    if (ask_.set == wire::SessionProperty::none) return;
    found_ = true;
    auto const* const e = std::get_if<SessionChanged>(&event.body);
    bool const again = e && (ask_.set == wire::SessionProperty::title ? e->title.has_value()
                                                                      : e->labels.has_value());
    if (again && target.set_again == 0) target.set_again = event.seq;
}

void Survey::find_alias(Event const& event) {
    found_ = true;
    bool const root = ask_.set == wire::SessionProperty::alias;
    if (auto const* e = std::get_if<MailSent>(&event.body)) {
        for (MailTarget const& to : e->to) {
            if (root) named_in_.insert(to.session);
            if (root || to.session == target.alias_of)
                outbox[event.seq] = static_cast<std::uint32_t>(e->to.size());
        }
    } else if (auto const* got = std::get_if<MailReceived>(&event.body)) {
        if (root && got->mail->from) named_in_.insert(*got->mail->from);
        if (root || got->mail->from == target.alias_of) received.emplace(event.seq, got->number);
    } else if (auto const* lost = std::get_if<MailExpired>(&event.body)) {
        if (root) outbox[event.seq] = static_cast<std::uint32_t>(lost->numbers.size());
    }
}

void Survey::find_message(Event const& event) {
    Seq const seq = event.seq;
    if (auto const* e = std::get_if<InputReceived>(&event.body)) {
        found_at(seq, e->turn);
        target.messages.insert(seq);
        // The message that asked comes before it.
        if (e->answers && target.answers.insert(*e->answers).second) again_ = true;
    } else if (auto const* reply = std::get_if<ModelReplied>(&event.body)) {
        found_at(seq, event.turn);
        target.messages.insert(seq);
        for (std::size_t i = 0; i < reply->calls.size(); ++i)
            target.calls.insert(reply->first_call + static_cast<CallNo>(i));
    } else if (auto const* asked = std::get_if<AgentAsked>(&event.body)) {
        found_at(seq, event.turn);
        target.messages.insert(seq);
        target.calls.insert(asked->pending.call);
    } else if (auto const* update = std::get_if<AgentUpdate>(&event.body)) {
        if (update->message != seq) return;  // a part of a message
        found_at(seq, update->turn);
        target.messages.insert(seq);
    } else if (std::holds_alternative<MailReceived>(event.body)) {
        found_at(seq, 0);
        target.messages.insert(seq);
    } else if (auto const* bounced = std::get_if<MailBounced>(&event.body)) {
        found_at(bounced->mail, 0);
        add_message(bounced->mail);
    }
}

void Survey::find_call(Event const& event) {
    if (auto const* reply = std::get_if<ModelReplied>(&event.body)) {
        for (std::size_t i = 0; i < reply->calls.size(); ++i) {
            CallNo const no = reply->first_call + static_cast<CallNo>(i);
            // In a fork the answer is the outcome of the call that asked.
            bool const asks = std::ranges::any_of(
                target.answers, [&](PendingId const& id) { return id.call == no; });
            if (asks) makers_.emplace(event.seq, wire::call_text(no));
            if (!has_call(no)) continue;
            if (no == ask_.call) found_at(0, event.turn);
            turns.insert(event.turn);
            makers_.emplace(event.seq, wire::call_text(no));
        }
    }
    auto const* const asked = std::get_if<AgentAsked>(&event.body);
    if (!asked) return;
    if (has(asked->message)) target.calls.insert(asked->pending.call);
    if (!has_call(asked->pending.call)) return;
    if (asked->pending.call == ask_.call) found_at(0, event.turn);
    turns.insert(event.turn);
    makers_.emplace(asked->message, asked->spec->model_id);
    if (asked->spec->ask != 0 && agent_tools_.insert(asked->spec->model_id).second) again_ = true;
}

// Finds the updates and lost tools of the messages and calls of an external agent.
void Survey::find_of_agent(Event const& event) {
    if (auto const* e = std::get_if<AgentUpdate>(&event.body)) {
        bool const tool = e->what.kind == AgentOutputKind::tool;
        if (tool && has(e->message)) agent_tools_.insert(e->what.tool_call);
        bool const its =
            tool && turns.contains(e->turn) && agent_tools_.contains(e->what.tool_call);
        if (its || has(e->message)) target.messages.insert(event.seq);
    }
    auto const* const e = std::get_if<AgentDetached>(&event.body);
    if (e && !e->lost.empty() && !agent_tools_.empty() && turns.contains(event.turn))
        target.messages.insert(event.seq);
}

void Survey::find_mail(Event const& event) {
    if (auto const* e = std::get_if<MailSent>(&event.body)) {
        // The notice to the parent has the text of the mail before it.
        bool const notice = got_ != 0 && got_ + 1 == event.seq && e->by.name.empty();
        if (notice && has(got_)) add_message(event.seq);
        if (notice && has(event.seq)) add_message(got_);
        MailId const id{state_.id, event.seq};
        if (mail_ == id) {
            found_at(event.seq, 0);
            target.messages.insert(event.seq);
        }
        if (!has(event.seq)) return;
        if (event.turn != 0) turns.insert(event.turn);
        for (MailTarget const& to : e->to) mails_[id].insert(to.session);
        outbox[event.seq] = static_cast<std::uint32_t>(e->to.size());
    } else if (auto const* got = std::get_if<MailReceived>(&event.body)) {
        got_ = event.seq;
        if (mail_ == got->mail->id) {
            found_at(event.seq, 0);
            target.messages.insert(event.seq);
        }
        if (!has(event.seq)) return;
        // Quarantined mail is not read before its release.
        if (got->hold != MailHold::quarantined) unread = true;
        received.emplace(event.seq, got->number);
        mails_[got->mail->id].insert(got->mail->id.session);
    }
    if (auto const* released = std::get_if<MailReleased>(&event.body)) {
        for (auto const& [seq, number] : received)
            if (has(seq) && has_number(*released, number)) unread = true;
    }
    auto const* const model = std::get_if<ModelRequested>(&event.body);
    auto const* const agent = std::get_if<AgentPrompted>(&event.body);
    if (!unread || (!model && !agent)) return;
    unread = false;
    turns.insert(event.turn);
}

void Survey::link(CallNo call, TaskNo task) {
    if (call == 0 || task == 0) return;
    if (has_call(call) && target.tasks.insert(task).second) again_ = true;
    if (target.tasks.contains(task)) add_call(call);
}

// Finds the tasks that tools start and read.
void Survey::find_task(Event const& event) {
    if (auto const* e = std::get_if<TaskStarted>(&event.body)) {
        if (e->task == task_) {
            found_at(event.seq, 0);
            target.tasks.insert(e->task);
        }
        link(e->call, e->task);
        if (!target.tasks.contains(e->task)) return;
        children_[e->task] = e->child;
        outbox[event.seq] = 1;
    } else if (auto const* reply = std::get_if<ModelReplied>(&event.body)) {
        link_calls(*reply);
    } else if (auto const* paused = std::get_if<CallPaused>(&event.body)) {
        link(paused->pending.call, paused->terms->task);
    } else if (auto const* done = std::get_if<ToolFinished>(&event.body)) {
        // The tool background_task returns the id.
        if (done->output.text().starts_with("\"tsk_"))
            link(done->call, own_task(state_.id, json::View(done->output).string_or("")));
    }
}

void Survey::link_calls(ModelReplied const& reply) {
    for (std::size_t i = 0; i < reply.calls.size(); ++i) {
        CallSpec const& spec = reply.calls[i];
        if (std::ranges::find(tools_of_tasks, spec.tool) == tools_of_tasks.end()) continue;
        std::string const id = json::View(spec.input)["task_id"].string_or("");
        link(reply.first_call + static_cast<CallNo>(i), own_task(state_.id, id));
    }
}

// Links a task of an external agent to its outcome: an input right after the task's change.
void Survey::link_task(Event const& event) {
    if (auto const* e = std::get_if<TaskChanged>(&event.body)) {
        changed_ = {event.seq, e->task};
        if (target.tasks.contains(e->task)) outbox[event.seq] = 1;
        return;
    }
    auto const* const e = std::get_if<InputReceived>(&event.body);
    bool const outcome = e && e->source == InputSource::task && e->run == 0 && e->task == 0;
    if (!outcome || changed_.first == 0 || changed_.first + 1 != event.seq) return;
    if (has(event.seq) && target.tasks.insert(changed_.second).second) again_ = true;
    if (!target.tasks.contains(changed_.second)) return;
    target.messages.insert(event.seq);
    turns.insert(e->turn);
}

// Links mail and progress reports to the tool that made them: it ends in the same append or the
// next.
void Survey::link_report(Event const& event) {
    if (std::holds_alternative<RunReported>(event.body)) {
        reported_ = event.seq;
        if (run_) target.messages.insert(event.seq);
        if (has(event.seq)) outbox[event.seq] = 1;
        of_run_ = of_run_ || has(event.seq);
    }
    auto const* const e = std::get_if<ToolFinished>(&event.body);
    if (!e) return;
    if (reported_ != 0 && reported_ + 1 == event.seq) {
        if (has_call(e->call)) add_message(reported_);
        if (has(reported_)) add_call(e->call);
    }
    auto const mail = parse_mail_id(json::View(e->metadata)["mailID"].string_or(""));
    if (!mail || mail->session != state_.id) return;
    if (has_call(e->call)) add_message(mail->seq);
    if (has(mail->seq)) add_call(e->call);
}

// Finds the inputs and last replies of runs: the parent has copies of them.
void Survey::find_run(Event const& event) {
    if (!state_.parent) return;
    // The title is the beginning of the prompt, if nobody gave another one.
    if ((run_ || of_run_) && target.set == wire::SessionProperty::none) {
        target.set = wire::SessionProperty::title;
        target.at_creation = true;
        again_ = true;
    }
    if (auto const* e = std::get_if<InputReceived>(&event.body); e && e->run != 0) {
        run_turns_.insert(e->turn);
        if (run_) {
            found_at(event.seq, e->turn);
            target.messages.insert(event.seq);
        }
        of_run_ = of_run_ || has(event.seq);
    }
    if (!run_turns_.contains(event.turn)) return;
    if (std::holds_alternative<ModelReplied>(event.body)) replies_[event.turn] = event.seq;
    auto const* const update = std::get_if<AgentUpdate>(&event.body);
    if (update && update->what.kind == AgentOutputKind::message)
        replies_[event.turn] = update->message;
    if (!std::holds_alternative<TurnEnded>(event.body)) return;
    Seq const reply = replies_[event.turn];
    if (run_) add_message(reply);
    if (reply == 0 || !has(reply)) return;
    of_run_ = true;
    outbox[event.seq] = 1;
}

void Survey::remove_artifact(Seq seq) {
    if (target.artifacts.insert(seq).second) artifact_bytes += artifacts_.at(seq);
}

void Survey::name_artifacts(std::string_view text) {
    for (auto const& [seq, bytes] : artifacts_) {
        std::string const id = '"' + numbered_id("art_", state_.id, seq) + '"';
        if (text.contains(id)) remove_artifact(seq);
    }
}

std::vector<RedactionCopy> Survey::elsewhere() const {
    std::vector<RedactionCopy> out;
    for (auto const& [id, holders] : mails_) {
        for (SessionId const& session : holders)
            if (session != state_.id) out.push_back({session, CopyKind::mail, text(id)});
    }
    for (auto const& [task, child] : children_)
        out.push_back({child, CopyKind::task, task_id(state_.id, task)});
    for (SessionId const& session : named_in_)
        if (session != state_.id) out.push_back({session, CopyKind::alias, state_.id.text()});
    if (of_run_)
        out.push_back({state_.parent->session, CopyKind::task,
                       task_id(state_.parent->session, state_.parent->task)});
    return out;
}

std::vector<ForkName> Survey::in_forks() const {
    std::vector<ForkName> out;
    if (!target.copied.empty()) out.push_back({target.copied, copied_call_, target.part});
    auto const name = [&](Seq seq) { return numbered_id("msg_", state_.id, seq); };
    for (Seq const seq : target.messages) out.push_back({name(seq)});
    for (auto const& [seq, call] : makers_)
        if (!has(seq)) out.push_back({name(seq), call});
    return out;
}

}  // namespace dormouse::runner
