#include "store/sqlite/hold.h"

#include "store/sqlite/data_directory.h"

#include <system_error>

namespace dormouse::store::sqlite {

bool is_held(std::filesystem::path const& directory) {
    std::error_code error;
    return std::filesystem::exists(directory / held_name, error);
}

Result<void> remove_hold(std::filesystem::path const& directory) {
    std::error_code error;
    std::filesystem::remove(directory / held_name, error);
    if (error)
        return fail(Code::store_unavailable,
                    (directory / held_name).string() + ": " + error.message());
    return sync_directory(directory);
}

}  // namespace dormouse::store::sqlite
