#include "http/objects/objects.h"

namespace dormouse::http {

using namespace dormouse::session;

namespace {

struct Subject {
    State const& state;
    wire::History const& history;
    Event const& event;
    Time now;

    std::string operator()(SessionDeleted const&) const { return "null"; }
    std::string operator()(InputReceived const&) const { return message(event.seq); }
    std::string operator()(InputDropped const& e) const { return message(e.input); }
    std::string operator()(MailReceived const&) const { return message(event.seq); }
    std::string operator()(MailBounced const&) const { return message(event.seq); }
    std::string operator()(ModelReplied const&) const { return message(event.seq); }
    std::string operator()(TurnStarted const&) const { return turn(); }
    std::string operator()(TurnEnded const&) const { return turn(); }
    std::string operator()(ModelRequested const&) const { return turn(); }
    std::string operator()(ModelFailed const&) const { return turn(); }
    std::string operator()(ToolStarted const& e) const { return part(e.pending.call); }
    std::string operator()(ToolFinished const& e) const { return part(e.call); }
    std::string operator()(ToolFailed const& e) const { return part(e.call); }
    std::string operator()(GateDecided const& e) const { return part(e.call); }
    std::string operator()(ArtifactEmitted const& e) const {
        return e.call == 0 ? session_object(state) : part(e.call);
    }
    std::string operator()(GateMissing const& e) const { return part(e.call); }
    std::string operator()(GateBack const& e) const { return part(e.call); }
    std::string operator()(Note const& e) const { return part(e.call); }
    std::string operator()(CallPaused const& e) const { return pending(e.pending); }
    std::string operator()(GateAsked const& e) const { return pending(e.pending); }
    std::string operator()(Submitted const& e) const { return pending(e.receipt.pending); }
    std::string operator()(Voted const& e) const { return pending(e.pending); }
    std::string operator()(Reassigned const& e) const { return pending(e.pending); }
    std::string operator()(Polled const& e) const { return pending(e.pending); }
    std::string operator()(DeadlineNear const& e) const { return pending(e.pending); }
    std::string operator()(Reminded const& e) const { return pending(e.pending); }
    std::string operator()(Progressed const& e) const { return pending(e.pending); }
    std::string operator()(Claimed const& e) const { return pending(e.pending); }
    std::string operator()(Expired const& e) const { return pending(e.receipt.pending); }
    std::string operator()(CallInDoubt const& e) const { return pending(e.pending); }
    std::string operator()(Cancelled const& e) const {
        return e.receipt ? pending(e.receipt->pending) : part(e.call);
    }
    std::string operator()(AgentPrompted const&) const { return turn(); }
    std::string operator()(AgentReplied const&) const { return turn(); }
    std::string operator()(AgentUpdate const& e) const {
        return e.message == 0 ? turn() : message(e.message);
    }
    std::string operator()(AgentAsked const& e) const { return pending(e.pending); }
    std::string operator()(BudgetReached const& e) const { return pending(e.pending); }
    std::string operator()(BudgetRaised const&) const { return turn(); }
    std::string operator()(TaskStarted const& e) const { return task(e.task); }
    std::string operator()(TaskChanged const& e) const { return task(e.task); }
    std::string operator()(TaskCleared const&) const { return "null"; }
    template <class OfTheSession> std::string operator()(OfTheSession const&) const {
        return session_object(state);
    }

private:
    [[nodiscard]] std::string task(TaskNo no) const {
        auto const found = history.tasks().find(no);
        return found == history.tasks().end() ? "null" : task_object(state, found->second);
    }
    [[nodiscard]] std::string message(Seq seq) const {
        auto const found = history.messages().find(seq);
        bool const in_turn = found != history.messages().end() && found->second.turn != 0;
        return in_turn ? message_object(state, history, seq) : "null";
    }
    [[nodiscard]] std::string turn() const {
        return history.turns().contains(event.turn) ? turn_object(state, history, event.turn)
                                                    : "null";
    }
    [[nodiscard]] std::string part(CallNo call) const {
        return history.calls().contains(call) ? tool_part_object(state, history, call) : "null";
    }
    [[nodiscard]] std::string pending(PendingId const& id) const {
        wire::PauseView const* const pause = history.pause(id);
        return pause ? pending_object(state, history, *pause, now) : part(id.call);
    }
};

}  // namespace

std::string event_subject(State const& state, wire::History const& history, Event const& event,
                          Time now) {
    return std::visit(Subject{state, history, event, now}, event.body);
}

}  // namespace dormouse::http
