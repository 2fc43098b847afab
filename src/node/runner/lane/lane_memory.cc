#include "runner/lane/lane.h"

#include "base/check.h"

// The memory of a lane besides the state: its newest records, and what it has closed.
namespace dormouse::runner {

using namespace dormouse::session;

namespace {
constexpr std::size_t closed_max = 4'096;
constexpr std::size_t node_bytes = 96;  // estimated overhead of a map entry: links and malloc

std::size_t weight_of(Call const& call) {
    std::size_t const texts = call.spec.input.size() + call.spec.tool.size();
    return sizeof(Call) + node_bytes + 2 * texts;
}

std::size_t weight_of(State const& state) {
    std::size_t out = sizeof(State) + state.labels.size() + state.title.size();
    for (auto const& [no, call] : state.calls) out += weight_of(call);
    out += state.queue.size() * sizeof(QueuedInput) + state.inbox.size() * sizeof(InboxItem);
    out += state.tasks.size() * (sizeof(Task) + node_bytes);
    out += state.timers.size() * 2 * node_bytes +
           state.outstanding.size() * (sizeof(Effect) + node_bytes);
    return out + state.conversations.size() * sizeof(ConversationState);
}

}  // namespace

std::size_t weight_of(wire::Record const& record) {
    return sizeof(wire::Record) + node_bytes + 2 * record.data.size();
}

std::size_t Lane::weight() const {
    std::size_t const closed = closed_.size() * (sizeof(Receipt) + node_bytes) +
                               earlier_.size() * (sizeof(Found::Earlier) + 2 * node_bytes) +
                               (progress_.size() + taken_.size()) * 2 * node_bytes;
    return sizeof(Lane) + (state_ ? weight_of(*state_) : 0) + recent_bytes_ + closed;
}

bool Lane::gone() const {
    return state_ &&
           (state_->lifecycle == Lifecycle::none || state_->lifecycle == Lifecycle::deleted);
}

void Lane::remember(std::vector<wire::RecordPtr> const& records) {
    for (wire::RecordPtr const& record : records) {
        recent_bytes_ += weight_of(*record);
        recent_.push_back(record);
    }
    if (recent_.size() > recent_max + recent_max / 8 || recent_bytes_ > recent_bytes_max) {
        forget_oldest();
    }
    if (closed_.size() > closed_max) closed_.clear();
    if (earlier_.size() > closed_max) earlier_.clear();
    if (progress_.size() > closed_max) progress_.clear();
    if (taken_.size() > closed_max) taken_.clear();
}

void Lane::forget_oldest() {
    std::size_t gone = 0;
    while (recent_.size() - gone > recent_max ||
           (recent_bytes_ > recent_bytes_max && recent_.size() - gone > 1)) {
        std::size_t const weight = weight_of(*recent_[gone++]);
        CHECK(recent_bytes_ >= weight);
        recent_bytes_ -= weight;
    }
    recent_.erase(recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(gone));
}

void Lane::remember_closed(Event const& event) {
    auto const keep = [&](Receipt const& receipt) {
        closed_[{receipt.pending.call, receipt.pending.generation}] = receipt;
    };
    if (auto const* e = std::get_if<Submitted>(&event.body)) keep(e->receipt);
    if (auto const* e = std::get_if<Expired>(&event.body)) keep(e->receipt);
    if (auto const* e = std::get_if<Cancelled>(&event.body); e && e->receipt) keep(*e->receipt);
    if (auto const* e = std::get_if<Progressed>(&event.body); e && !e->key.empty()) {
        progress_.insert(progress_key(e->pending, e->key));
    }
    if (auto earlier = earlier_in(event))
        earlier_[earlier_key(earlier->idem.substr(0, earlier->idem.find('.')))] =
            std::move(*earlier);
    if (auto const* e = std::get_if<Note>(&event.body)) {
        auto& [count, digests] = notes_[{e->call, e->generation}];
        ++count;
        digests.insert(e->digest);
    }
}

// Combines what the store had with what this lane has closed since.
Found Lane::found_for(Command const& command, Found fetched) const {
    CHECK(state_);
    Wanted const wanted = session::wanted(*state_, command);
    if (wanted.receipt) {
        auto const key = std::pair(wanted.receipt->call, wanted.receipt->generation);
        if (auto known = closed_.find(key); known != closed_.end()) fetched.receipt = known->second;
        if (auto noted = notes_.find(key); noted != notes_.end()) {
            fetched.notes += noted->second.first;
            if (wanted.note && noted->second.second.contains(*wanted.note))
                fetched.note_known = true;
        }
    }
    if (auto known = earlier_.find(wanted.earlier); known != earlier_.end())
        fetched.earlier = known->second;
    if (progress_.contains(wanted.progress)) fetched.progress_known = true;
    if (taken_.contains(wanted.taken)) fetched.taken = true;
    return fetched;
}

}  // namespace dormouse::runner
