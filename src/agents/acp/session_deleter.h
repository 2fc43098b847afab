#pragma once
// A process of an external agent that only deletes the agent's sessions, after they were deleted
// here. It ends soon after the last one. Runs on the loop.
// Example: add({{"s1"}, "/srv", done}) starts the process, signs in, sends session/delete of s1 and
// calls `done`.

#include "acp/dialect.h"
#include "acp/settings.h"
#include "acp/timer.h"
#include "port/process.h"

#include <deque>
#include <memory>
#include <optional>

namespace dormouse::acp {

class SessionDeleter : public std::enable_shared_from_this<SessionDeleter> {
public:
    struct Work {
        std::vector<std::string> names;  // the agent's ids of the sessions
        std::string cwd;
        // Called once. Errors: wrong_kind (the agent cannot delete sessions), agent_unavailable.
        port::Fn<void(Result<void>)> done;
    };
    // All arguments outlive this.
    SessionDeleter(Settings const& settings, port::Processes& processes, port::Loop& loop);

    // Returns the error for an agent that cannot delete sessions.
    [[nodiscard]] static std::unexpected<Error> unsupported();
    // REQUIRES: takes_more().
    void add(Work work);
    [[nodiscard]] bool takes_more() const { return state_ != State::ending; }
    void end();

private:
    enum class State : std::uint8_t { not_started, starting, idle, deleting, ending };

    void start(std::string const& cwd);
    void on_exit(port::ProcessEnd const& end);
    void greet();
    void delete_next();
    void on_deleted(Dialect::Answer<void> const& answer);
    void finish_first(Result<void> result);
    void refused(Refusal const& refusal);
    void give_up(std::unexpected<Error> const& why);
    [[nodiscard]] std::unexpected<Error> unavailable(std::string const& why) const;
    void limit_answer();

    Settings const& settings_;
    port::Processes& processes_;
    std::unique_ptr<Dialect> const dialect_;
    Timer timer_;  // for an answer, or until the process ends
    State state_ = State::not_started;
    std::optional<port::Processes::Number> process_;
    std::deque<Work> works_;
    std::string why_ended_;
};

}  // namespace dormouse::acp
