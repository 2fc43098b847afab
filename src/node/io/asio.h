#pragma once
// For io and server only: access to the io_context inside an AsioLoop, for their own sockets and
// timers.

#include "io/loop.h"

#include <boost/asio/io_context.hpp>

namespace dormouse::io {

// REQUIRES: used on the loop's thread, or before run(). Valid as long as the loop.
[[nodiscard]] boost::asio::io_context& context_of(AsioLoop& loop);

}  // namespace dormouse::io
