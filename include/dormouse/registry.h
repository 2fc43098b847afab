#pragma once
// Registry: tools by name. A value; copies share the tools.

#include <dormouse/tool.h>

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace dormouse::tools {
struct Prepared;
}

namespace dormouse::inline v0 {

// Const members may be called from any thread.
class Registry {
public:
    Registry() = default;
    // Errors: those of add(), for the first tool that is refused.
    [[nodiscard]] static Result<Registry> of(std::initializer_list<ToolPtr> tools);

    // Errors: bad_value (null, invalid name, wrong declaration; the detail says which), conflict
    // (the name is taken).
    [[nodiscard]] Result<void> add(ToolPtr tool);
    // Running calls continue. Returns false if the name is unknown.
    bool remove(std::string_view name);

    // Returns null if the name is unknown.
    [[nodiscard]] ToolPtr find(std::string_view name) const;
    // Returns the tools in the order in which they were added.
    [[nodiscard]] std::vector<ToolPtr> list() const;

    // Runs the tool that the call names, within its limits; blocks until it ends. Every failure is
    // an outcome for the model; for an unknown tool it names the most similar one. A tool that
    // exceeds its time limit is asked to stop and continues on a detached thread: its function must
    // not refer to anything that the caller destroys.
    [[nodiscard]] RawOutcome run(Call const& call) const;

    // Runs all calls, `at_once` at a time (0: all, up to 64), and blocks until they end. Returns
    // the outcomes in the order of the calls. A call whose stop was requested before it started
    // does not run.
    [[nodiscard]] std::vector<RawOutcome> run_all(std::span<Call const> calls,
                                                  std::size_t at_once = 0) const;

private:
    [[nodiscard]] std::shared_ptr<tools::Prepared const> prepared(std::string_view name) const;

    std::vector<std::shared_ptr<tools::Prepared const>> tools_;
};

}  // namespace dormouse::inline v0

#pragma GCC visibility pop
