// Reads a History, and lists the calls that an event is about. history.cc builds it.
#include "wire/journal/history.h"

#include "base/check.h"

#include <algorithm>

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

// The newest value set at or before `seq`; nullptr: none.
Json const* value_at(std::vector<std::pair<Seq, Json>> const& values, Seq seq) {
    Json const* found = nullptr;
    for (auto const& [since, value] : values) {
        if (since <= seq) found = &value;
    }
    return found;
}

}  // namespace

bool CallView::waiting() const {
    bool const open =
        std::ranges::any_of(pauses, [](PauseView const& pause) { return !pause.receipt; });
    return settled == 0 && open;
}

bool CallView::has_other_open_pause(PauseView const& pause) const {
    return std::ranges::any_of(pauses,
                               [&](PauseView const& p) { return &p != &pause && !p.receipt; });
}

Json CallView::placeholder() const { return placeholder_at(UINT64_MAX); }

Json CallView::placeholder_at(Seq seq) const {
    static Json const pending = Json::trusted(R"({"status":"pending"})");
    Json const* const given = value_at(placeholders, seq);
    return given && !given->is_null() ? *given : pending;
}

Json CallView::input_at(Seq seq) const {
    Json const* const input = value_at(inputs, seq);
    CHECK(input);
    return *input;
}

PauseView const* History::pause(PendingId const& pending) const {
    auto const call = calls_.find(pending.call);
    if (call == calls_.end()) return nullptr;
    auto const found = std::ranges::find(call->second.pauses, pending, &PauseView::pending);
    return found == call->second.pauses.end() ? nullptr : &*found;
}

void History::close_calls_after(Seq seq, std::string const& text) {
    for (auto& [no, call] : calls_) {
        if (call.settled != 0 && call.settled <= seq) continue;
        call.settled = seq;
        call.error = ErrorReason::cancelled;
        call.error_text = text;
    }
}

std::optional<Consumed> History::consumed(Seq settled) const {
    std::optional<Consumed> first;
    for (StepView const& step : steps_) {
        if (step.reply == 0 || step.view_seq < settled) continue;
        first = Consumed{step.turn, step.step, step.reply, step.at};
        break;
    }
    for (auto const& [no, turn] : turns_) {
        if (turn.ended_seq < settled || (first && turn.ended_seq > first->seq)) continue;
        first = Consumed{no, 0, turn.ended_seq, *turn.ended};
        break;
    }
    return first;
}

namespace {

struct Touched {
    std::vector<PendingId>& out;

    void operator()(CallPaused const& e) const { out.push_back(e.pending); }
    void operator()(GateAsked const& e) const { out.push_back(e.pending); }
    void operator()(AgentAsked const& e) const { out.push_back(e.pending); }
    void operator()(BudgetReached const& e) const { out.push_back(e.pending); }
    void operator()(Submitted const& e) const { out.push_back(e.receipt.pending); }
    void operator()(Voted const& e) const { out.push_back(e.pending); }
    void operator()(Reassigned const& e) const { out.push_back(e.pending); }
    void operator()(DeadlineNear const& e) const { out.push_back(e.pending); }
    void operator()(Reminded const& e) const { out.push_back(e.pending); }
    void operator()(Progressed const& e) const { out.push_back(e.pending); }
    void operator()(Claimed const& e) const { out.push_back(e.pending); }
    void operator()(Expired const& e) const { out.push_back(e.receipt.pending); }
    void operator()(Cancelled const& e) const {
        if (e.receipt) out.push_back(e.receipt->pending);
    }
    void operator()(CallInDoubt const& e) const {
        out.push_back(e.pending);
        if (e.question) out.push_back(*e.question);
    }
    template <class Other> void operator()(Other const&) const {}
};

}  // namespace

std::vector<PendingId> touched(Event const& event) {
    std::vector<PendingId> out;
    std::visit(Touched{out}, event.body);
    return out;
}

}  // namespace dormouse::wire
