#pragma once
// SQLite's memory: that of the process, and what std::new_handler frees before it says that there
// is none.

namespace dormouse::store::sqlite {

// REQUIRES: nothing has used SQLite in this process yet; later it changes nothing.
void use_process_memory();

}  // namespace dormouse::store::sqlite
