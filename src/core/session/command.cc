#include "session/command.h"

namespace dormouse::session {

CommandBody::CommandBody() = default;
CommandBody::CommandBody(CommandBody const& other) = default;
CommandBody::CommandBody(CommandBody&& other) noexcept = default;
CommandBody& CommandBody::operator=(CommandBody const& other) = default;
CommandBody& CommandBody::operator=(CommandBody&& other) noexcept = default;
CommandBody::~CommandBody() = default;

}  // namespace dormouse::session
