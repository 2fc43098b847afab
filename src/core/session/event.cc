#include "session/event.h"

namespace dormouse::session {

EventBody::EventBody() = default;
EventBody::EventBody(EventBody const& other) = default;
EventBody::EventBody(EventBody&& other) noexcept = default;
EventBody& EventBody::operator=(EventBody const& other) = default;
EventBody& EventBody::operator=(EventBody&& other) noexcept = default;
EventBody::~EventBody() = default;

Receipt const* receipt_in(Event const& event) {
    if (auto const* e = std::get_if<Submitted>(&event.body)) return &e->receipt;
    if (auto const* e = std::get_if<Expired>(&event.body)) return &e->receipt;
    if (auto const* e = std::get_if<Cancelled>(&event.body); e && e->receipt) return &*e->receipt;
    return nullptr;
}

}  // namespace dormouse::session
