#include "app/start/address_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace dormouse::app {

AddressFile::~AddressFile() {
    if (written_) ::unlink(path_.c_str());
}

// Renamed into its place, so that a reader never finds a part of it.
std::string AddressFile::write(std::string const& url) {
    std::string const fresh = path_ + ".new";
    std::string const line = url + "\n";
    int const fd =
        ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool const whole =
        fd >= 0 && ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    if (fd >= 0) ::close(fd);
    written_ = whole && std::rename(fresh.c_str(), path_.c_str()) == 0;
    return written_ ? std::string() : path_ + ": " + std::generic_category().message(errno);
}

}  // namespace dormouse::app
