#include "session/event.h"

namespace dormouse::session {

EventBody::EventBody() = default;
EventBody::EventBody(EventBody const& other) = default;
EventBody::EventBody(EventBody&& other) noexcept = default;
EventBody& EventBody::operator=(EventBody const& other) = default;
EventBody& EventBody::operator=(EventBody&& other) noexcept = default;
EventBody::~EventBody() = default;

}  // namespace dormouse::session
