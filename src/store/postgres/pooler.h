#pragma once
// Recognises a pooler that gives a connection another backend for each transaction. Ours keep
// settings, prepared statements and locks in their backend.

#include "store/postgres/connection.h"

namespace dormouse::store::postgres {

// Error: wrong_state, with what to do. REQUIRES: neither connection is in a transaction.
[[nodiscard]] Result<void> refuse_pooler(Connection& one, Connection& other);

}  // namespace dormouse::store::postgres
