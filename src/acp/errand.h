#pragma once
// A process of an agent's program that is started only to tell it which sessions were deleted here,
// so that it deletes what it keeps of them. It ends soon after the last one was told. On the loop.

#include "acp/dialect.h"
#include "acp/settings.h"
#include "port/process.h"

#include <deque>
#include <memory>

namespace dormouse::acp {

class Errand : public std::enable_shared_from_this<Errand> {
public:
    struct Work {
        std::vector<std::string> names;  // as the program calls them
        std::string cwd;
        // Comes once. Errors: wrong_kind (the program deletes none), agent_unavailable.
        port::Fn<void(Result<void>)> done;
    };
    // All outlive this.
    Errand(Settings const& settings, port::Processes& processes, port::Loop& loop);

    // What is told when the program deletes none.
    [[nodiscard]] static std::unexpected<Error> no_way();
    // REQUIRES: takes_more().
    void add(Work work);
    [[nodiscard]] bool takes_more() const { return !ending_; }
    void end();

private:
    void start(std::string const& cwd);
    void on_end(port::ProcessEnd const& end);
    void greet();
    void next();
    void told(Dialect::Answer<void> const& answer);
    void refuse(Refusal const& refusal);
    void give_up(std::unexpected<Error> const& why);
    [[nodiscard]] std::unexpected<Error> gone(std::string const& why) const;
    void limit();
    void linger();

    Settings const& settings_;
    port::Processes& processes_;
    port::Loop& loop_;
    std::unique_ptr<Dialect> const dialect_;
    std::optional<port::Processes::Number> process_;
    std::deque<Work> works_;
    bool ready_ = false, busy_ = false, ending_ = false;
    std::uint64_t turn_of_clock_ = 0;  // timers of an earlier one mean nothing
    std::string why_ended_;
};

}  // namespace dormouse::acp
