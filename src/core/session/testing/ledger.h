#pragma once
// Reads a log and checks what rules 4 and 6 promise: each call is settled once, each step is
// committed once, and each settlement is consumed by the first committed step that sees it, or by
// the end of its turn.

#include "session/event.h"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace dormouse::session::testing {

class Ledger {
public:
    explicit Ledger(std::vector<Event> const& log) {
        for (Event const& event : log)
            std::visit([&](auto const& body) { read(event, body); }, event.body);
    }

    // Describes every violation; empty: none.
    [[nodiscard]] std::string const& broken() const { return broken_; }
    // Nothing is open or unconsumed.
    [[nodiscard]] bool at_rest() const {
        for (auto const& [number, mail] : unread_) {
            if (mail.second) return false;  // a lost wake-up
        }
        return open_.empty() && unconsumed_.empty() && turn_ == 0;
    }

private:
    template <class Other> void read(Event const&, Other const&) {}

    void read(Event const&, SessionCreated const& e) { alone_ = e.agent == no_agent; }
    // A client's call: the client consumes its outcome, and the session completes with it.
    void read(Event const&, AgentAsked const& e) {
        if (!ever_.insert(e.pending.call).second) broken_ += "a call's number was given twice; ";
        open_.insert(e.pending.call);
    }
    // No settlement of it is consumed by a step.
    void read(Event const&, BudgetReached const& e) {
        if (!ever_.insert(e.pending.call).second) broken_ += "a call's number was given twice; ";
        if (budget_ != 0) broken_ += "two questions about budgets; ";
        if (requested_ != std::pair<std::uint32_t, std::uint32_t>())
            broken_ += "a budget paused a request; ";
        budget_ = e.pending.call;
        open_.insert(budget_);
    }
    void read(Event const& event, TurnStarted const& e) {
        if (alone_ && e.turn != 1) broken_ += "a session without an agent has a second turn; ";
        if (turn_ != 0) broken_ += "two open turns; ";
        turn_ = e.turn;
        unconsumed_.insert(event.seq);
    }
    void read(Event const& event, InputReceived const& e) {
        if (turn_ == 0 || e.turn != turn_ || e.answers) return;
        unconsumed_.insert(event.seq);
    }
    // Mail that wakes is read by a step, or by the end of the turn that has shown it.
    void read(Event const& event, MailReceived const& e) {
        if (e.number != ++mails_) broken_ += "an inbox number is missing; ";
        unread_[e.number] = {event.seq, e.hold == MailHold::none};
        if (turn_ != 0 && e.hold == MailHold::none) unconsumed_.insert(event.seq);
    }
    void read(Event const& event, MailReleased const& e) {
        for (std::uint64_t const number : e.numbers) {
            auto const mail = unread_.find(number);
            if (mail == unread_.end()) broken_ += "a mail that was read is released; ";
            if (mail != unread_.end()) mail->second.second = true;
        }
        if (turn_ == 0) return;
        unconsumed_.insert(event.seq);
        released_[event.seq].insert(e.numbers.begin(), e.numbers.end());
    }
    void read(Event const&, MailExpired const& e) {
        for (std::uint64_t const number : e.numbers) {
            auto const mail = unread_.find(number);
            if (mail == unread_.end()) {
                broken_ += "a mail that was read has expired; ";
            } else {
                unconsumed_.erase(mail->second.first);
                unread_.erase(mail);
                forget_release(number);
            }
        }
    }
    // A release has nothing to read once all of its mails have expired.
    void forget_release(std::uint64_t number) {
        for (auto& [seq, numbers] : released_) {
            if (numbers.erase(number) == 1 && numbers.empty()) unconsumed_.erase(seq);
        }
    }
    void show(Seq view) {
        std::erase_if(unread_, [&](auto const& mail) { return mail.second.first <= view; });
    }
    void read(Event const& event, ModelRequested const& e) {
        if (alone_) broken_ += "a model is asked without an agent; ";
        if (budget_ != 0) broken_ += "a model is asked while a budget is used up; ";
        if (e.view_seq >= event.seq) broken_ += "a request sees what does not exist yet; ";
        if (e.view_seq < view_) broken_ += "a request sees less than one before; ";
        if (!attempts_.insert({turn_, e.step, e.attempt}).second)
            broken_ += "an attempt was made twice; ";
        if (unconsumed_.empty()) broken_ += "a request for nothing new; ";
        view_ = e.view_seq;
        requested_ = {e.step, e.attempt};
    }
    void read(Event const&, ModelReplied const& e) {
        if (requested_ != std::pair(e.step, e.attempt)) broken_ += "an older attempt committed; ";
        if (!committed_.insert({turn_, e.step}).second) broken_ += "a step committed twice; ";
        requested_ = {};
        consume(view_);
        show(view_);
        for (std::size_t i = 0; i < e.calls.size(); ++i) {
            CallNo const no = e.first_call + static_cast<CallNo>(i);
            if (!ever_.insert(no).second) broken_ += "a call's number was given twice; ";
            open_.insert(no);
        }
    }
    void read(Event const& event, ToolFinished const& e) { settle(event.seq, e.call); }
    void read(Event const& event, GateDecided const& e) {
        if (!e.allowed) settle(event.seq, e.call);
    }
    void read(Event const&, ToolStarted const& e) {
        if (alone_) broken_ += "a tool runs without an agent; ";
        if (!open_.contains(e.pending.call))
            broken_ += "a tool started for a call that is settled; ";
        reentry_.erase(e.pending);
    }
    void read(Event const&, CallPaused const& e) {
        if (e.terms->continuation == Continuation::reentry) reentry_.insert(e.pending);
    }
    void read(Event const&, GateAsked const& e) { reentry_.insert(e.pending); }
    void read(Event const&, CallInDoubt const& e) {
        reentry_.erase(e.pending);
        if (e.question) questions_.insert(*e.question);
    }
    void read(Event const& event, Submitted const& e) {
        PendingId const& pending = e.receipt.pending;
        if (!questions_.contains(pending) && !reentry_.contains(pending))
            settle(event.seq, pending.call);
    }
    void read(Event const& event, Expired const& e) { settle(event.seq, e.receipt.pending.call); }
    void read(Event const& event, Cancelled const& e) {
        if (!e.receipt || !questions_.contains(e.receipt->pending)) settle(event.seq, e.call);
    }
    void read(Event const&, TurnEnded const& e) {
        bool const settled_all =
            e.finish == FinishReason::cancelled || e.finish == FinishReason::error ||
            e.finish == FinishReason::step_limit || e.finish == FinishReason::budget;
        if (!settled_all && !alone_ && !unconsumed_.empty())
            broken_ += "a turn ended with something unconsumed; ";
        if (!open_.empty()) broken_ += "a turn ended with an open call; ";
        if (e.turn != turn_) broken_ += "another turn ended; ";
        unconsumed_.clear();
        show(view_);
        turn_ = 0;
        requested_ = {};
    }

    void settle(Seq seq, CallNo no) {
        if (open_.erase(no) != 1) broken_ += "call " + std::to_string(no) + " was settled twice; ";
        if (no != budget_) unconsumed_.insert(seq);
        if (no == budget_) budget_ = 0;
    }
    void consume(Seq view) {
        unconsumed_.erase(unconsumed_.begin(), unconsumed_.upper_bound(view));
    }

    bool alone_ = false;  // the session has no agent
    std::uint64_t mails_ = 0;
    // By number: its event, and whether it wakes.
    std::map<std::uint64_t, std::pair<Seq, bool>> unread_;
    std::map<Seq, std::set<std::uint64_t>> released_;  // the mails of each release in an open turn
    TurnNo turn_ = 0;
    Seq view_ = 0;
    CallNo budget_ = 0;  // the open question about a budget
    std::pair<std::uint32_t, std::uint32_t> requested_{};
    std::set<std::pair<TurnNo, std::uint32_t>> committed_;
    std::set<std::tuple<TurnNo, std::uint32_t, std::uint32_t>> attempts_;
    std::set<Seq> unconsumed_;
    std::set<CallNo> open_, ever_;
    std::set<PendingId> reentry_, questions_;
    std::string broken_;
};

}  // namespace dormouse::session::testing
