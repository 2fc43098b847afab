#include "cli/client/new_file.h"

#include "io/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace dormouse::cli {

std::error_code write_new_file(std::string const& path, std::string_view text, mode_t mode) {
    int const fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0) return {errno, std::generic_category()};
    int error = io::write_whole(fd, text) ? 0 : errno;
    if (::close(fd) != 0 && error == 0) error = errno;
    if (error != 0) ::unlink(path.c_str());
    return {error, std::generic_category()};
}

bool is_disk_full(std::error_code error) {
    return error == std::errc::no_space_on_device ||
           error == std::error_code(EDQUOT, std::generic_category());
}

}  // namespace dormouse::cli
