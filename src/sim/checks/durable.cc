#include "sim/checks/durable.h"

#include <span>

namespace dormouse::sim {

using namespace dormouse::session;

void Durable::take(port::Append const& append) {
    bool const only_the_driver = append.frame.count == 0;
    if (only_the_driver) return;
    Session& session = sessions_[append.session];
    session.state.id = append.session;
    world_.trace(append.session.text() + " " + append.frame.bytes);
    auto records = wire::unpack(append.session, append.frame.first, append.frame.bytes);
    if (!records) return findings_.add("journal: " + records.error().detail);
    for (wire::RecordPtr const& record : *records) {
        if (record->event.seq != session.records.size() + 1) {
            return findings_.add("journal: " + append.session.text() + " has a gap");
        }
        session.records.push_back(record);
        take_event(session, record->event);
    }
    if (append.wake_at != wake_at(session.state) && append.wake_changed) {
        findings_.add("journal: a wake_at does not follow from the state");
    }
}

void Durable::fall_back(Copy earlier) {
    Lost lost;
    for (auto const& [id, session] : sessions_) {
        auto const found = earlier.sessions.find(id);
        std::size_t const kept = found == earlier.sessions.end() ? 0 : found->second.records.size();
        std::span const tail = std::span(session.records).subspan(kept);
        if (!tail.empty()) lost[id].assign(tail.begin(), tail.end());
    }
    for (auto const& [id, tail] : lost) lost_[id].insert(lost_[id].end(), tail.begin(), tail.end());
    sessions_ = std::move(earlier.sessions);
    happened_ = std::move(earlier.happened);
    ++falls_;
    world_.trace("fall back");
    newest_loss_ = std::move(lost);
    if (on_loss_) on_loss_(newest_loss_);
}

std::vector<wire::RecordPtr> const& Durable::lost(SessionId session) const {
    static std::vector<wire::RecordPtr> const none;
    auto const found = lost_.find(session);
    return found == lost_.end() ? none : found->second;
}

void Durable::take_event(Session& session, Event const& event) {
    apply(session.state, event);
    ++events_;
    ++types_[std::string(type_name(event.body))];
    auto const* const born = std::get_if<SessionCreated>(&event.body);
    if (born && !born->parent) once("session", born->by);
    auto const* const input = std::get_if<InputReceived>(&event.body);
    if (input && input->source == InputSource::prompt) once("input", input->by);
    take_receipt(session, event);
    if (on_event_) on_event_(session.state.id, event);
}

void Durable::take_receipt(Session& session, Event const& event) {
    Receipt const* const receipt = receipt_in(event);
    if (!receipt) return;
    if (receipt->seq != event.seq) findings_.add("receipt: it names another event");
    if (!session.receipts.emplace(receipt->pending, *receipt).second) {
        findings_.add("receipt: two terminal outcomes for " + receipt->pending.text());
    }
}

void Durable::once(std::string const& what, Actor const& by) {
    if (!happened_.insert(what + " " + by.name).second) {
        findings_.add("repeat: the " + what + " of " + by.name + " happened twice");
    }
}

Durable::Session const* Durable::find(SessionId session) const {
    auto const found = sessions_.find(session);
    return found == sessions_.end() ? nullptr : &found->second;
}

Event const* Durable::event(SessionId session, Seq seq) const {
    Session const* const found = find(session);
    bool const there = found && seq > 0 && seq <= found->records.size();
    return there ? &found->records[seq - 1]->event : nullptr;
}

Receipt const* Durable::receipt(PendingId const& pending) const {
    Session const* const session = find(pending.session);
    if (!session) return nullptr;
    auto const found = session->receipts.find(pending);
    return found == session->receipts.end() ? nullptr : &found->second;
}

}  // namespace dormouse::sim
