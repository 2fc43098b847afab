#pragma once
// Programs that check results before they are taken. All that there are of one server share a
// line: so many run at once, so many more wait, and beyond that the sender is told to come again.
// docs/how-to/tool-web-service.md. On the loop.

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

// What a validator says by its exit status; any other means that it failed.
inline constexpr int exit_fits = 0;
inline constexpr int exit_misfit = 1;

struct Validator {
    std::vector<std::string> argv;              // REQUIRES: not empty; no shell
    std::string cwd = {};                       // empty: the server's
    std::vector<std::string> environment = {};  // NAME=value; what is told of the call comes on top
    Duration time_limit{10'000};
};

class Validators {
public:
    struct Limits {
        std::size_t at_once = 8;
        std::size_t waiting = 1'000;
        std::size_t waiting_bytes = std::size_t{64} << 20;  // of what waits: arguments and outputs
        Duration patience{30'000};                          // one that has waited longer is refused
    };
    enum class Word : std::uint8_t { fits, misfit, failed, refused };
    // Of each result that was asked about. `why` may name files and is for operators; it never
    // holds what the program was given or has written.
    using Told = std::function<void(PendingId const&, std::string const& tool, Word,
                                    std::string const& why)>;

    // Both outlive this.
    Validators(port::Processes& processes, port::Clock const& clock, Limits limits)
        : processes_(processes), clock_(clock), limits_(limits) {}
    ~Validators();  // ends those that run; nobody hears of them
    Validators(Validators const&) = delete;
    Validators& operator=(Validators const&) = delete;

    // `then` is called once, perhaps before this returns. The function that is given back drops the
    // question: then it is not called any more. Errors: validator_unavailable, overloaded.
    agent::StopTool ask(std::shared_ptr<Validator const> validator, port::OfferedResult what,
                        port::Fn<void(port::ValidationResult)> then);
    // Empty: nobody.
    void on_judged(Told told) { told_ = std::move(told); }
    [[nodiscard]] std::size_t running() const { return running_.size(); }
    [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }
    // The longest that a result may take to be judged.
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
    void tell(Question const& question, Word word, std::string const& why) const {
        if (told_) told_(question.pending, question.tool, word, why);
    }

    port::Processes& processes_;
    port::Clock const& clock_;
    Limits const limits_;
    Told told_ = {};
    std::map<Number, Question> running_;
    std::deque<Question> waiting_;
    std::size_t waiting_bytes_ = 0;
    Number last_ = 0;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// "fits", "misfit", "failed", "refused".
[[nodiscard]] std::string_view text(Validators::Word word);

// The tool, whose results are checked from now on wherever they come from: outside, its own
// attempts, polls. `validators` outlives it.
[[nodiscard]] agent::Tool with_validator(agent::Tool tool, Validator validator,
                                         Validators& validators);

}  // namespace dormouse::external
