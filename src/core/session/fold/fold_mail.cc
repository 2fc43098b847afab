#include "session/fold/fold.h"
#include "session/limits.h"

#include <algorithm>
#include <utility>

// Mail in the fold: the inbox, and how often conversations have woken the session.
namespace dormouse::session {

namespace {

void set_mail_timer(State& state) {
    std::optional<Time> next;
    auto const at = [&](Time time) {
        if (!next || time < *next) next = time;
    };
    for (InboxItem const& item : state.inbox) {
        if (item.hold == MailHold::minute) at(item.until);
        if (may_expire(state, item)) at(*item.expires);
    }
    set_timer(state, 0, TimerKind::mail, next);
}

bool one_wakes_already(State const& state) {
    return std::ranges::any_of(state.inbox, [&](InboxItem const& item) {
        return item.hold == MailHold::none && item.seq > state.asked_view;
    });
}

// Called only for a mail that the next request would not have seen anyway.
void count_wake(State& state, MailId const& conversation, Time at) {
    auto& known = state.conversations;
    auto found = std::ranges::find(known, conversation, &ConversationState::id);
    ConversationState woken{conversation, 0, at, 0};
    if (found != known.end()) {
        woken = *found;
        known.erase(found);
    }
    if (at >= woken.minute + limits::mail_minute) {
        woken.minute = at;
        woken.in_minute = 0;
    }
    ++woken.wakes;
    ++woken.in_minute;
    FITS(woken.in_minute <= woken.wakes);
    if (known.size() >= limits::conversations_max) known.erase(known.begin());
    known.push_back(woken);
}

void raise(InboxItem& item, OpenTurn& turn, Seq seq) {
    if (turn.newest_item != seq) item.before = turn.newest_item;
    item.raised = seq;
    turn.newest_item = seq;
}

void read_until(State& state, Seq view) {
    std::erase_if(state.inbox, [&](InboxItem const& item) { return item.seq <= view; });
    set_mail_timer(state);
}

}  // namespace

void receive_mail(State& state, Event const& event, MailReceived const& e) {
    FITS(e.number == state.mails + 1);
    FITS(e.hold != MailHold::minute || e.until);
    state.mails = e.number;
    bool const wakes = e.hold == MailHold::none;
    if (wakes && !one_wakes_already(state)) count_wake(state, e.mail->conversation, event.at);
    Actor const by = e.mail->from ? Actor{ActorType::session, e.mail->from->text()} : e.mail->by;
    state.inbox.push_back({e.mail->id,
                           e.number,
                           event.seq,
                           e.hold,
                           e.until.value_or(Time()),
                           {e.mail->conversation, e.mail->hops},
                           by,
                           e.mail->expires,
                           e.mail->trace});
    set_mail_timer(state);
    if (!wakes || !state.turn) return;
    raise(state.inbox.back(), *state.turn, event.seq);
    if (e.mail->wake == Wake::always) state.turn->steered = true;
}

void release_mail(State& state, Event const& event, MailReleased const& e) {
    for (InboxItem& item : state.inbox) {
        if (std::ranges::find(e.numbers, item.number) == e.numbers.end()) continue;
        if (!one_wakes_already(state)) count_wake(state, item.thread.conversation, event.at);
        item.hold = MailHold::none;
        if (state.turn) raise(item, *state.turn, event.seq);
    }
    set_mail_timer(state);
}

// The open turn need not continue for mails that have expired, if nothing else is new.
void expire_mail(State& state, MailExpired const& e) {
    auto const its = [&](InboxItem const& item) {
        return std::ranges::find(e.numbers, item.number) != e.numbers.end();
    };
    for (auto gone = state.inbox.rbegin(); gone != state.inbox.rend(); ++gone) {
        if (!its(*gone) || gone->raised == 0) continue;
        bool const shared = std::ranges::any_of(state.inbox, [&](InboxItem const& other) {
            return !its(other) && other.raised == gone->raised;
        });
        if (shared) continue;
        for (InboxItem& other : state.inbox) {
            if (other.before == gone->raised && &other != &*gone) other.before = gone->before;
        }
        if (state.turn && state.turn->newest_item == gone->raised)
            state.turn->newest_item = gone->before;
    }
    std::erase_if(state.inbox, its);
    if (state.turn && state.turn->newest_item <= state.committed_view) state.turn->steered = false;
    set_mail_timer(state);
}

// The request sees all mail up to `view`; mail that is new to it becomes messages of the turn.
void show_mail(State& state, Seq view) {
    Seq const before = state.asked_view;
    FITS(before <= view && view < state.head);
    state.asked_view = view;
    state.messages += std::exchange(state.new_bounces, 0);
    for (InboxItem const& item : state.inbox) {
        if (item.seq > view) break;
        if (item.seq > before) ++state.messages;
        auto& thread = turn_of(state).thread;
        if (!thread || item.thread.hops >= thread->hops) thread = item.thread;
    }
    if (!state.inbox.empty()) set_mail_timer(state);
}

void begin_with_mail(State& state) {
    for (InboxItem& item : state.inbox) item.raised = item.before = 0;
    if (!state.inbox.empty()) set_mail_timer(state);
}

void commit_mail(State& state) {
    if (!state.inbox.empty()) read_until(state, state.committed_view);
}

void end_mail(State& state) {
    if (!state.inbox.empty()) read_until(state, state.asked_view);
}

void restore_mail_timer(State& state) { set_mail_timer(state); }

ConversationState const* conversation_of(State const& state, MailId const& conversation) {
    auto const found = std::ranges::find(state.conversations, conversation, &ConversationState::id);
    return found == state.conversations.end() ? nullptr : &*found;
}

bool may_expire(State const& state, InboxItem const& item) {
    return item.expires && item.seq > state.asked_view &&
           !(state.turn && state.turn->input == item.seq);
}

InboxItem const* waking_mail(State const& state) {
    auto const found = std::ranges::find(state.inbox, MailHold::none, &InboxItem::hold);
    return found == state.inbox.end() ? nullptr : &*found;
}

}  // namespace dormouse::session
