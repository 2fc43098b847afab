#pragma once
// The interface to systemd, without libsystemd: messages about its state (sd_notify(3)), sockets
// that were opened for it (sd_listen_fds(3)), and credentials (systemd.exec(5)).

#include <dormouse/error.h>

#include "base/scope.h"
#include "io/fd.h"
#include "port/world.h"

#include <optional>
#include <string>

namespace dormouse::io {

// Sends messages to the service manager that started the process; without one does nothing. On one
// thread. A message that cannot be sent is lost: the manager then acts by its time limits.
class ServiceManager {
public:
    // Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and removes them from the environment,
    // so that programs that are started do not speak for this process. While the process has one
    // thread.
    [[nodiscard]] static ServiceManager of_environment();
    // `socket`: the path of a datagram socket, "@NAME" for an abstract one, or empty for none.
    // `limit`: the manager restarts the process if it hears nothing for that long; 0: never.
    ServiceManager(std::string socket, Duration limit);

    // Requests are answered from now on.
    void ready() { send("READY=1"); }
    // READY follows when the new configuration is in force.
    void reloading();
    void stopping() { send("STOPPING=1"); }
    // Reports from now on, twice in each limit, that the loop runs.
    void watch(port::Loop& loop);

private:
    void send(std::string const& message) const;

    std::string socket_;
    Duration limit_;
    Scope scope_;
};

// A TCP socket that listens already.
struct InheritedSocket {
    Fd socket;
    std::string address;  // "127.0.0.1:3676", "[::1]:3676"
};

// The socket that the service manager opened for this process (LISTEN_FDS, LISTEN_PID), which are
// removed from the environment; nullopt: none. While the process has one thread.
// Errors: bad_value, if there are several, or it is no TCP socket that listens.
[[nodiscard]] Result<std::optional<InheritedSocket>> inherited_socket();

// Sets a variable of this process for each file NAME, or dormouse_NAME, of $CREDENTIALS_DIRECTORY
// (LoadCredential=, of single files or of a folder), unless it is set: secrets are then in no unit
// and in no /proc/PID/environ. A line break at the end is left out. While the process has one
// thread. Errors: bad_value, if a file cannot be read or has over 64 KiB or a NUL byte.
[[nodiscard]] Result<void> take_credentials();
// The same for the files of `folder` ([server] secrets_dir), which people change while the process
// runs. A later call names another folder in its place. Errors: also those of check_secrets().
[[nodiscard]] Result<void> take_secrets(std::string const& folder);
// Error: bad_value for a folder or a file of it that cannot be read, that others can read (files)
// or change, or that is no variable's value. Others may write a sticky folder of root, of which
// each file then belongs to root.
[[nodiscard]] Result<void> check_secrets(std::string const& folder);
// The value of a variable of this process; of one that take_credentials() has set, or that is not
// set, what its file contains now; of one that take_secrets() has set, only that, so that a removed
// secret has no value. nullopt: neither exists. On any thread.
[[nodiscard]] std::optional<std::string> variable_now(std::string const& name);

// inherited_socket() for descriptor `fd`, which is owned from then on.
[[nodiscard]] Result<InheritedSocket> adopt_socket(int fd);

}  // namespace dormouse::io
