#include "session/outbox.h"

#include "session/fold/fold.h"

#include <algorithm>

namespace dormouse::session {

namespace {

struct Sends {
    State const& before;
    std::vector<Event> const& earlier;
    Time at;
    std::vector<OutboxMessage>& out;

    // A turn that began as a run of this session's task has ended.
    void operator()(TurnEnded const& e) const {
        FITS(before.turn.has_value());
        if (!before.parent || before.turn->run == 0) return;
        RunEnded ended{before.parent->task, before.turn->run, e.finish, last_reply(), {}, false};
        if (e.error) ended.error = e.error->message;
        ended.gone = e.error && e.error->code == child_gone;
        send(before.parent->session, std::move(ended));
    }
    // A run that had not begun was dropped.
    void operator()(InputDropped const& e) const {
        for (QueuedInput const& input : before.queue) {
            if (input.seq != e.input || input.run == 0 || !before.parent) continue;
            send(before.parent->session,
                 RunEnded{
                     before.parent->task, input.run, FinishReason::cancelled, {}, e.why, false});
        }
    }
    void operator()(MailSent const& e) const {
        MailId const id{before.id, before.head + 1};
        FITS(!e.to.empty());
        for (MailTarget const& to : e.to) {
            Mail mail{id,         before.project, before.id, before.alias, to.alias, e.text,
                      e.reply_to, e.conversation, e.hops,    e.wake,       e.by,     at,
                      e.expires,  e.trace};
            send(to.session, std::move(mail));
        }
    }
    void operator()(MailExpired const& e) const {
        for (InboxItem const& item : before.inbox) {
            bool const its = std::ranges::find(e.numbers, item.number) != e.numbers.end();
            if (its && item.id.session != before.id)
                send(item.id.session, MailLost{item.id, {before.id, before.alias}});
        }
    }
    void operator()(RunReported const& e) const {
        if (before.parent)
            send(before.parent->session, RunProgress{before.parent->task, e.run, e.text});
    }
    // The parent may not know yet that the session is gone.
    void operator()(SessionEnded const&) const { gone("The session was ended."); }
    void operator()(SessionDeleted const&) const { gone("The session was deleted."); }
    void operator()(TaskStarted const& e) const {
        if (!e.queued)
            send(e.child,
                 run_of(e.task, 1, e.agent, e.description, e.parts, e.by, e.fork, e.trace));
    }
    void operator()(TaskChanged const& e) const {
        Task const& task = before.tasks.at(e.task);
        FITS(e.run >= task.run && !(e.begins && e.stops));
        if (e.begins) {
            bool const waited = e.parts.is_null();
            Json const& parts = waited ? task.parts : e.parts;
            Actor const& by = waited ? task.by : e.by;
            send(task.child, run_of(e.task, e.run, task.agent, task.description, parts, by,
                                    task.fork && e.run == 1, e.trace));
        }
        if (e.stops)
            send(task.child, StopRun{e.task, e.run, false, "The run was cancelled.", e.reason});
    }
    void operator()(TaskCleared const& e) const {
        Task const& task = before.tasks.at(e.task);
        if (task.begun() && !task.gone) send(task.child, StopRun{e.task, task.run, true, e.why});
    }
    template <class Other> void operator()(Other const&) const {}

private:
    [[nodiscard]] StartRun run_of(TaskNo task, std::uint32_t run, std::string const& agent,
                                  std::string const& title, Json const& parts, Actor const& by,
                                  bool fork, TraceHeaders const& trace) const {
        std::uint32_t const depth = before.parent ? before.parent->depth + 1 : 1;
        return {task, run, before.project, agent, title, before.cwd, parts, by, depth, fork, trace};
    }

    void gone(std::string why) const {
        if (!before.parent) return;
        send(before.parent->session,
             RunEnded{before.parent->task, 0, FinishReason::cancelled, {}, std::move(why), true});
    }
    // The reply that ends a turn is in the same append.
    Json last_reply() const {
        for (auto event = earlier.rbegin(); event != earlier.rend(); ++event) {
            if (auto const* reply = std::get_if<ModelReplied>(&event->body)) return reply->parts;
            auto const* update = std::get_if<AgentUpdate>(&event->body);
            if (update && update->what.kind == AgentOutputKind::message) return update->what.body;
        }
        return {};
    }
    void send(SessionId to, OutboxBody what) const { out.push_back({to, 0, 0, std::move(what)}); }
};

}  // namespace

std::vector<OutboxMessage> outbox_of(State const& before, std::vector<Event> const& earlier,
                                     Event const& event) {
    FITS(event.seq == before.head + 1);
    std::vector<OutboxMessage> out;
    std::visit(Sends{before, earlier, event.at, out}, event.body);
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i].seq = event.seq;
        out[i].n = static_cast<std::uint32_t>(i);
    }
    return out;
}

}  // namespace dormouse::session
