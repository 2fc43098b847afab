#include "cli/client/interrupts.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>

namespace dormouse::cli {
namespace {

// nohup has it ignored, and it would be seen although.
bool is_ignored(int signal) {
    struct sigaction how{};
    return sigaction(signal, nullptr, &how) == 0 && how.sa_handler == SIG_IGN;
}

sigset_t interrupt_signals(Interrupts::Also also) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    if (also != Interrupts::Also::none) sigaddset(&set, SIGTERM);
    if (also == Interrupts::Also::term_and_hangup && !is_ignored(SIGHUP)) sigaddset(&set, SIGHUP);
    return set;
}

}  // namespace

Interrupts::Interrupts(bool also_term) : Interrupts(also_term ? Also::term : Also::none) {}

Interrupts::Interrupts(Also also) : also_(also) {
    auto const set = interrupt_signals(also_);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    fd_ = io::Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

Interrupts::~Interrupts() {
    signalfd_siginfo seen{};
    while (::read(fd_.get(), &seen, sizeof seen) > 0) {
    }  // a Ctrl-C that was handled must not end the process now
    auto const set = interrupt_signals(also_);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

bool Interrupts::sleep(Duration duration, int output_fd) const {
    std::array<pollfd, 2> waiting{pollfd{fd_.get(), POLLIN, 0}, pollfd{output_fd, 0, 0}};
    auto const ms = std::clamp<std::int64_t>(duration.count(), 0, 3'600'000);
    return ::poll(waiting.data(), waiting.size(), static_cast<int>(ms)) > 0;
}

}  // namespace dormouse::cli
