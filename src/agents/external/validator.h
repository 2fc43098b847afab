#pragma once
// Programs that check results before they are accepted. All validators of a server share a queue: a
// limited number runs, a limited number waits, and further results are refused with a time to
// retry. See docs/how-to/tool-web-service.md. Runs on the loop.

#include "base/scope.h"
#include "external/declared.h"
#include "port/catalogue.h"
#include "port/process.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::external {

// Exit statuses of a validator; any other status means that it failed.
inline constexpr int exit_valid = 0;
inline constexpr int exit_invalid = 1;

struct Validator {
    std::vector<std::string> argv;              // REQUIRES: not empty; no shell
    std::string cwd = {};                       // empty: the server's
    std::vector<std::string> environment = {};  // NAME=value; variables about the call are added
    Duration time_limit{10'000};
};

class Validators {
public:
    struct Limits {
        std::size_t at_once = 8;
        std::size_t waiting = 1'000;
        std::size_t waiting_bytes = std::size_t{64}
                                    << 20;  // arguments and outputs of those that wait
        Duration patience{30'000};          // a result that waited longer is refused
    };
    enum class ValidationStatus : std::uint8_t { valid, invalid, failed, rejected };
    // Called for each result that was to be checked. `why` may name files and is for operators; it
    // never contains what the program was given or has written.
    using Listener = std::function<void(PendingId const&, std::string const& tool, ValidationStatus,
                                        std::string const& why)>;

    // Both references outlive this.
    Validators(port::Processes& processes, port::Clock const& clock, Limits limits)
        : processes_(processes), clock_(clock), limits_(limits) {}
    ~Validators();  // ends the running programs, without callbacks
    Validators(Validators const&) = delete;
    Validators& operator=(Validators const&) = delete;

    // Calls `then` once, perhaps before this returns. The returned function drops the question:
    // then `then` is not called any more. Errors: validator_unavailable, overloaded.
    agent::StopTool ask(std::shared_ptr<Validator const> validator, port::OfferedResult what,
                        port::Fn<void(port::ValidationResult)> then);
    // For results that come from now on.
    void set_limits(Limits limits) { limits_ = limits; }
    // An empty listener is allowed.
    void on_validated(Listener listener) { listener_ = std::move(listener); }
    [[nodiscard]] std::size_t running() const { return running_.size(); }
    [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
    // Returns the longest time that the check of a result may take.
    [[nodiscard]] Duration longest(Validator const& validator) const {
        return limits_.patience + validator.time_limit;
    }

private:
    using Number = std::uint64_t;
    struct Question {
        Number number = 0;
        std::shared_ptr<Validator const> validator;
        PendingId pending;
        std::string tool;
        std::string input;
        Duration since{};
        port::Fn<void(port::ValidationResult)> then;
        port::Processes::Number process = 0;  // while it runs
    };

    void start(Question question);
    void ended(Number number, port::ProcessEnd const& end);
    void next();
    void refuse(Question question, std::string const& why);
    void drop(Number number);
    void notify(Question const& question, ValidationStatus status, std::string const& why) const {
        if (listener_) listener_(question.pending, question.tool, status, why);
    }

    port::Processes& processes_;
    port::Clock const& clock_;
    Limits limits_;
    Listener listener_ = {};
    std::map<Number, Question> running_;
    std::deque<Question> waiting_;
    std::size_t waiting_bytes_ = 0;
    Number last_ = 0;
    Scope scope_;
};

// Returns the word of the metric: "fits", "misfit", "failed" or "refused".
[[nodiscard]] std::string_view text(Validators::ValidationStatus status);

// Returns the tool with all its results checked: those from outside, of its own attempts and of
// polls. `validators` outlives it.
[[nodiscard]] agent::Tool with_validator(agent::Tool tool, Validator validator,
                                         Validators& validators);

}  // namespace dormouse::external
