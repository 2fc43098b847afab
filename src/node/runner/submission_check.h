#pragma once
// Checks the values of one submission as far as they decide it: an output against the call's schema
// and the tool's validator, edited arguments against the tool's schema, and that the tool or gate
// that continues is configured.
//
// Small values are checked at once. Large values and validators take longer, and the session
// continues meanwhile. So the lane asks in two steps, and again after each wait with the call as it
// is then:
//
//   auto checked = check->find(call, submit);   // nullopt: not known yet
//   check->work(std::move(shared_submit), [] { /* look again */ });
//
// On the loop. Everything in `Services` outlives this.

#include "port/catalogue.h"
#include "session/decide.h"

#include <memory>

namespace dormouse::runner {

class SubmissionCheck : public std::enable_shared_from_this<SubmissionCheck> {
public:
    struct Services {
        port::ToolCatalogue* tools = nullptr;  // null: values are not checked
        port::Workers* workers = nullptr;      // null: large values are checked on the loop
    };
    explicit SubmissionCheck(Services services) : services_(services) {}

    // REQUIRES: `call` is open and waits for `submit` (session::call_to_check). nullopt: call
    // work(), then look again.
    [[nodiscard]] std::optional<session::Checked> find(session::Call const& call,
                                                       session::Submit const& submit);
    // Does what the last find() lacked; `done` is called on the loop, possibly before this returns.
    // REQUIRES: find() returned nullopt; `submit` does not change before `done`.
    void work(std::shared_ptr<session::Submit const> const& submit, port::Fn<void()> done);

private:
    // JSON Schemas for the values; null: not checked.
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

    Services services_;
    Lacks lacks_ = Lacks::nothing;
    std::optional<Error> failed_;  // a step of the work failed
    bool measured_ = false;
    Schemas schemas_;
    Json result_violations_;
    Json arguments_violations_;
    std::string tool_;  // whose validator is, or was, asked
    Json tool_input_;
    std::optional<port::ValidationResult> validated_;  // nullopt: not asked yet
};

}  // namespace dormouse::runner
