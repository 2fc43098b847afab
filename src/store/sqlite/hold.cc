#include "store/sqlite/hold.h"

#include "store/sqlite/data_directory.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace dormouse::store::sqlite {

bool is_held(std::filesystem::path const& directory) {
    std::error_code error;
    return std::filesystem::exists(directory / held_name, error);
}

Result<void> write_hold(std::filesystem::path const& directory, std::string const& why) {
    auto const file = directory / held_name;
    int const fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bool const written = fd >= 0 &&
                         ::write(fd, why.data(), why.size()) == static_cast<ssize_t>(why.size()) &&
                         ::fsync(fd) == 0;
    int const error = errno;
    if (fd >= 0) ::close(fd);
    if (!written)
        return fail(Code::store_unavailable,
                    file.string() + ": " + std::generic_category().message(error));
    return sync_directory(directory);
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
