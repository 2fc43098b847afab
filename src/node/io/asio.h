#pragma once
// For io and server only: the io_context inside an AsioLoop, for sockets and timers of their own.

#include "io/loop.h"

#include <boost/asio/io_context.hpp>

namespace dormouse::io {

// REQUIRES: used on the loop's thread, or before run(). Lives as long as the loop.
[[nodiscard]] boost::asio::io_context& context_of(AsioLoop& loop);

}  // namespace dormouse::io
