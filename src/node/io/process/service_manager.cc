#include "io/process/service_manager.h"

#include "base/text/chars.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace dormouse::io {

namespace {

constexpr std::string_view credential_prefix =
    "dormouse_";  // of a folder: LoadCredential=dormouse:DIR
constexpr std::size_t credential_max = std::size_t{64} << 10;
constexpr int first_inherited = 3;  // SD_LISTEN_FDS_START

std::string take_variable(char const* name) {
    char const* const value = std::getenv(name);
    std::string text = value ? value : "";
    ::unsetenv(name);
    return text;
}

bool is_us(std::string const& pid) { return pid == std::to_string(::getpid()); }

// 0: not a number
std::uint64_t number_of(std::string const& text) {
    bool const digits = !text.empty() && text.size() < 19 && std::ranges::all_of(text, is_digit);
    return digits ? std::stoull(text) : 0;
}

std::unexpected<Error> refuse(std::string const& what) {
    return fail(Code::bad_value, "the socket of the service manager (LISTEN_FDS): " + what);
}

std::uint16_t port_of(in_port_t port) { return ntohs(port); }

// "": neither IPv4 nor IPv6
std::string address_of(sockaddr_storage const& name) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (name.ss_family == AF_INET) {
        auto const& v4 = reinterpret_cast<sockaddr_in const&>(name);
        ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
        return std::string(text.data()) + ":" + std::to_string(port_of(v4.sin_port));
    }
    if (name.ss_family != AF_INET6) return {};
    auto const& v6 = reinterpret_cast<sockaddr_in6 const&>(name);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    return "[" + std::string(text.data()) + "]:" + std::to_string(port_of(v6.sin6_port));
}

Result<std::string> read_credential(std::string const& path) {
    Fd const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::string value(credential_max + 1, '\0');
    ssize_t const size = ::read(file.get(), value.data(), value.size());
    if (size < 0) return fail(Code::bad_value, "credential " + path + " cannot be read");
    value.resize(static_cast<std::size_t>(size));
    if (value.size() > credential_max || value.contains('\0'))
        return fail(Code::bad_value, "credential " + path + " must be a text of at most 64 KiB");
    if (value.ends_with('\n')) value.pop_back();
    return value;
}

// Filled while the process has one thread.
std::set<std::string, std::less<>>& taken() {
    static std::set<std::string, std::less<>> names;
    return names;
}

// Names that take_secrets() has set: only their files give their values. Filled while the process
// has one thread.
std::set<std::string, std::less<>>& secret_names() {
    static std::set<std::string, std::less<>> names;
    return names;
}

// Empty: none. Written while the process has one thread.
std::string& secrets_folder() {
    static std::string folder;
    return folder;
}

// Files of a group are for a server that runs as another user than the one who writes them.
Result<void> refuse_open_to_others(std::string const& path, mode_t refused) {
    struct stat found{};
    if (::stat(path.c_str(), &found) != 0)
        return fail(Code::bad_value, path + ": " + std::strerror(errno));
    if ((found.st_mode & refused) == 0) return {};
    bool const folder = S_ISDIR(found.st_mode);
    return fail(Code::bad_value, path + " can be " + (folder ? "" : "read or ") +
                                     "changed by others: chmod " + (folder ? "750" : "640") +
                                     " it");
}

enum class Owner : bool { any, root };

// Returns whose files are read in the folder. Others can add files to a sticky folder of root, such
// as the volume of a Kubernetes Secret, but not replace those of root.
Result<Owner> owner_of_secrets(std::string const& folder) {
    struct stat found{};
    bool const known = ::stat(folder.c_str(), &found) == 0;
    bool const open = known && (found.st_mode & (S_IWOTH | S_IWGRP)) != 0;
    if (open && found.st_uid == 0 && (found.st_mode & S_ISVTX) != 0) return Owner::root;
    auto const closed = refuse_open_to_others(folder, S_IWOTH | S_IWGRP);
    return closed ? Result<Owner>(Owner::any) : std::unexpected(closed.error());
}

// A symbolic link is looked at, too.
bool is_of_root(std::string const& path) {
    struct stat link{};
    struct stat found{};
    return ::lstat(path.c_str(), &link) == 0 && ::stat(path.c_str(), &found) == 0 &&
           link.st_uid == 0 && found.st_uid == 0;
}

Result<std::string> read_secret(std::string const& path, Owner owner) {
    if (auto const closed = refuse_open_to_others(path, S_IRWXO | S_IWGRP); !closed)
        return std::unexpected(closed.error());
    if (owner == Owner::root && !is_of_root(path))
        return fail(Code::bad_value,
                    path + " is in a folder that others can write: it must belong to root");
    return read_credential(path);
}

// nullopt: there is no such file, or it cannot be used.
std::optional<std::string> credential_now(std::string const& name) {
    if (!is_variable_name(name)) return std::nullopt;
    char const* const folder = std::getenv("CREDENTIALS_DIRECTORY");
    for (std::string_view const prefix : {std::string_view(), credential_prefix}) {
        if (!folder) break;
        auto value = read_credential(std::string(folder).append("/").append(prefix).append(name));
        if (value) return *std::move(value);
    }
    if (secrets_folder().empty()) return std::nullopt;
    auto const owner = owner_of_secrets(secrets_folder());
    if (!owner) return std::nullopt;
    auto value = read_secret(secrets_folder() + "/" + name, *owner);
    return value ? std::optional(*std::move(value)) : std::nullopt;
}

// Names, and values, of the variables in the folder.
using Secrets = std::map<std::string, std::string>;

Result<Secrets> secrets_in(std::string const& folder) {
    auto const owner = owner_of_secrets(folder);
    if (!owner) return std::unexpected(owner.error());
    Secrets out;
    std::error_code error;
    for (auto const& entry : std::filesystem::directory_iterator(folder, error)) {
        std::string const name = entry.path().filename().string();
        if (!is_variable_name(name)) continue;
        auto value = read_secret(entry.path().string(), *owner);
        if (!value) return std::unexpected(std::move(value.error()));
        out.emplace(name, *std::move(value));
    }
    if (error) return fail(Code::bad_value, folder + ": " + error.message());
    return out;
}

void set_variable(std::string const& name, std::string const& value,
                  std::set<std::string, std::less<>>& names) {
    ::setenv(name.c_str(), value.c_str(), 0);
    names.insert(name);
}

bool listens(int fd) {
    int value = 0;
    socklen_t size = sizeof value;
    return ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) == 0 && value == 1;
}

}  // namespace

ServiceManager ServiceManager::of_environment() {
    std::string socket = take_variable("NOTIFY_SOCKET");
    std::string const pid = take_variable("WATCHDOG_PID");
    auto const limit_us = number_of(take_variable("WATCHDOG_USEC"));
    bool const watched = pid.empty() || is_us(pid);
    return {std::move(socket),
            Duration(watched ? static_cast<std::int64_t>(limit_us / 1'000) : std::int64_t{0})};
}

ServiceManager::ServiceManager(std::string socket, Duration limit)
    : socket_(std::move(socket)), limit_(limit) {}

void ServiceManager::reloading() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    send("RELOADING=1\nMONOTONIC_USEC=" +
         std::to_string(std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / 1'000));
}

void ServiceManager::watch(port::Loop& loop) {
    if (socket_.empty() || limit_ <= Duration(0)) return;
    send("WATCHDOG=1");
    loop.after(limit_ / 2, scope_.guard([this, &loop] { watch(loop); }));
}

void ServiceManager::send(std::string const& message) const {
    sockaddr_un name{};
    bool const known = socket_.starts_with('/') || socket_.starts_with('@');
    if (!known || socket_.size() >= sizeof name.sun_path) return;
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, socket_.data(), socket_.size());
    if (socket_.front() == '@') name.sun_path[0] = '\0';  // an abstract name
    Fd const fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    auto const size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
    static_cast<void>(::sendto(fd.get(), message.data(), message.size(), MSG_NOSIGNAL,
                               reinterpret_cast<sockaddr const*>(&name), size));
}

std::optional<std::string> variable_now(std::string const& name) {
    if (secret_names().contains(name)) return credential_now(name);
    char const* const value = std::getenv(name.c_str());
    std::optional<std::string> out;
    if (!value || taken().contains(name)) out = credential_now(name);
    if (!out && value) out = value;
    return out;
}

Result<void> take_credentials() {
    char const* const folder = std::getenv("CREDENTIALS_DIRECTORY");
    if (!folder) return {};
    std::error_code error;
    for (auto const& entry : std::filesystem::directory_iterator(folder, error)) {
        std::string file = entry.path().filename().string();
        std::string const name = file.starts_with(credential_prefix)
                                     ? file.substr(credential_prefix.size())
                                     : std::move(file);
        if (!is_variable_name(name) || std::getenv(name.c_str())) continue;
        auto value = read_credential(entry.path().string());
        if (!value) return std::unexpected(std::move(value.error()));
        set_variable(name, *value, taken());
    }
    if (error) return fail(Code::bad_value, std::string(folder) + ": " + error.message());
    return {};
}

Result<void> take_secrets(std::string const& folder) {
    auto const secrets = secrets_in(folder);
    if (!secrets) return std::unexpected(secrets.error());
    secrets_folder() = folder;
    for (auto const& [name, value] : *secrets)
        if (!std::getenv(name.c_str())) set_variable(name, value, secret_names());
    return {};
}

Result<void> check_secrets(std::string const& folder) {
    auto const secrets = secrets_in(folder);
    return secrets ? Result<void>() : std::unexpected(secrets.error());
}

Result<std::optional<InheritedSocket>> inherited_socket() {
    std::string const pid = take_variable("LISTEN_PID");
    auto const count = number_of(take_variable("LISTEN_FDS"));
    take_variable("LISTEN_FDNAMES");
    if (!is_us(pid) || count == 0) return std::nullopt;
    if (count > 1) return refuse("one is served, and there are " + std::to_string(count));
    auto adopted = adopt_socket(first_inherited);
    if (!adopted) return std::unexpected(std::move(adopted.error()));
    return std::optional(*std::move(adopted));
}

Result<InheritedSocket> adopt_socket(int fd) {
    Fd socket(fd);
    sockaddr_storage name{};
    socklen_t size = sizeof name;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size) != 0)
        return refuse("descriptor " + std::to_string(fd) + " is not a socket");
    std::string address = address_of(name);
    if (address.empty() || !listens(fd))
        return refuse("must be a listening TCP socket: ListenStream=ADDRESS:PORT");
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    return InheritedSocket{std::move(socket), std::move(address)};
}

}  // namespace dormouse::io
