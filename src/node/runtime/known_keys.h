#pragma once
// Master keys of several servers on one database: all must have a key before one of them encrypts
// with it.

#include "store/postgres/postgres_store.h"
#include "store/sealed/master_keys.h"

#include <string>
#include <vector>

namespace dormouse::runtime {

// The text that PostgresStore::announce_keys() takes.
[[nodiscard]] std::string announced(store::MasterKeys const& masters);

// Refuses a first master key that a working process lacks. Errors: wrong_state. To tell such a
// process from one that was killed takes 6 s.
[[nodiscard]] Result<void> refuse_unknown(store::PostgresStore& store,
                                          store::MasterKeys const& masters);

// Returns the names of the processes that encrypt new data keys with another key than the first
// one, for people.
[[nodiscard]] Result<std::vector<std::string>> with_another_first(store::PostgresStore& store,
                                                                  store::MasterKeys const& masters);

}  // namespace dormouse::runtime
