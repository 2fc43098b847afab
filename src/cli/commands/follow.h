#pragma once
// Follows a turn through the event stream: for prompt, and for --wait of commands that let a turn
// continue.

#include "cli/client/patience.h"
#include "cli/commands/commands.h"

#include <cstdint>
#include <optional>
#include <string>

namespace dormouse::cli {

struct Following {
    std::string session;
    std::string turn;
    std::int64_t seq = 1;         // the newest event that is known
    std::int64_t after = 0;       // the newest event that is printed already
    bool through_sleeps = false;  // --wait: until the turn ends
};

// Prints the turn until it ends, or the session sleeps or stops. Returns the exit status. The
// client's interrupt_fd is that of `patience`.
[[nodiscard]] Outcome<int> follow_turn(Context const& context, Client& client,
                                       Patience const& patience, Following what);

// The value of --wait[=TIME].
struct WaitOption {
    bool given = false;
    std::optional<Duration> limit = {};
};
// `written`: empty: not given; "true": without a time.
[[nodiscard]] Outcome<WaitOption> wait_option(std::string const& written);

// Runs a command that lets a turn continue, and then, with --wait, follows that turn. The session
// is read before the command, so that nothing of the turn is missed.
class TurnWait {
public:
    explicit TurnWait(WaitOption const& option);

    // For the client of the command.
    [[nodiscard]] int interrupt_fd() const { return patience_ ? patience_->fd() : -1; }
    // Remembers where the session of this call is.
    [[nodiscard]] Outcome<void> before_call(Client& client, std::string const& pending);
    [[nodiscard]] Outcome<void> before_session(Client& client, std::string const& session);
    // Follows the turn, if there is one; `turn` replaces that of the call.
    [[nodiscard]] Outcome<int> follow(Context const& context, Client& client,
                                      std::string turn = {});

private:
    // Without --wait Ctrl-C ends the process.
    std::optional<Interrupts> interrupts_;
    std::optional<Patience> patience_;
    Following following_{.session = {}, .turn = {}, .through_sleeps = true};
};

}  // namespace dormouse::cli
