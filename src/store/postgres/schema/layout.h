#pragma once
// The numbers in the rows (tables.cc).

#include "port/stored_row.h"

namespace dormouse::store::postgres {

using port::checksum;
using port::key_of;
using port::key_size_max;
using port::seq_end;

[[nodiscard]] inline std::int64_t number_of(SessionId session) {
    return static_cast<std::int64_t>(session.number());
}

}  // namespace dormouse::store::postgres
