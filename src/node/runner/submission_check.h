#pragma once
// Checks the values that one submission brings, as far as they decide it: an output against the
// schema of the call and the validator of its tool, edited arguments against the tool's schema, and
// that the tool or gate to which the call returns is configured.
//
// Small values are checked at once. A large value, or a validator, takes longer; the session
// continues meanwhile. So the lane asks in two steps, again after each wait, with the call as it is
// then:
//
//   auto checked = check->look(call, submit);   // nullopt: not known yet
//   check->work(std::move(shared_submit), [] { /* look again */ });
//
// On the loop. What `World` names outlives this.

#include "port/catalogue.h"
#include "session/decide.h"

#include <memory>

namespace dormouse::runner {

class SubmissionCheck : public std::enable_shared_from_this<SubmissionCheck> {
public:
    struct World {
        port::ToolCatalogue* tools = nullptr;  // null: no values are checked
        port::Workers* workers = nullptr;      // null: large values are checked on the loop
    };
    explicit SubmissionCheck(World world) : world_(world) {}

    // `call` is open and waits for `submit` (session::call_to_check). nullopt: call work(), then
    // look again.
    [[nodiscard]] std::optional<session::Checked> look(session::Call const& call,
                                                       session::Submit const& submit);
    // Does what the last look() lacked; `done` comes on the loop, possibly before this returns.
    // REQUIRES: look() returned nullopt. `submit` is not changed before `done`.
    void work(std::shared_ptr<session::Submit const> const& submit, port::Fn<void()> done);

private:
    // By what the values are measured: JSON Schemas, null where nothing is.
    struct Schemas {
        Json result;
        Json arguments;
    };
    enum class Lacks : std::uint8_t { nothing, measuring, validating };

    [[nodiscard]] Schemas schemas(session::Call const& call, session::Submit const& submit) const;
    [[nodiscard]] bool is_measured_by(Schemas const& now) const;
    [[nodiscard]] bool measure(std::size_t steps, session::Submit const& submit);
    [[nodiscard]] bool measure_soon(session::Submit const& submit);
    [[nodiscard]] std::string validator(session::Call const& call,
                                        session::Submit const& submit) const;
    void validate(std::shared_ptr<session::Submit const> const& submit, port::Fn<void()> done);

    World world_;
    Lacks lacks_ = Lacks::nothing;
    std::optional<Error> failed_;  // a step of the work could not be done
    bool measured_ = false;
    Schemas schemas_;
    Json result_violations_;
    Json arguments_violations_;
    std::string tool_;  // whose validator is asked, or was
    Json tool_input_;
    std::optional<port::ValidationResult> validated_;  // nullopt: it was not asked yet
};

}  // namespace dormouse::runner
