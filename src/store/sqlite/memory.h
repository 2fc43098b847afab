#pragma once
// Makes SQLite use the process's allocator and call std::new_handler before an allocation fails.

namespace dormouse::store::sqlite {

// REQUIRES: nothing in this process has used SQLite yet; otherwise the call has no effect.
void use_process_memory();

}  // namespace dormouse::store::sqlite
