#pragma once
// Tools by name: a value that a program makes, fills and hands on. Copies share the tools.

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

// Its const members may be called from any thread.
class Registry {
public:
    Registry() = default;
    // Errors: those of add(), for the first tool that is refused.
    [[nodiscard]] static Result<Registry> of(std::initializer_list<ToolPtr> tools);

    // Errors: bad_value (no tool, a name that is none, a declaration that is wrong: it says what),
    // conflict (the name is taken).
    [[nodiscard]] Result<void> add(ToolPtr tool);
    // Calls that run go on. False: there is none of this name.
    bool remove(std::string_view name);

    // Null: there is none of this name.
    [[nodiscard]] ToolPtr find(std::string_view name) const;
    // In the order in which they were added.
    [[nodiscard]] std::vector<ToolPtr> list() const;

    // Runs the tool that the call names, within its limits, and blocks meanwhile. Whatever goes
    // wrong is an outcome, for the model: an unknown name is told the nearest one. A tool that
    // takes longer than its time limit is asked to stop and continues on a thread of its own, which
    // nobody waits for: its function must not refer to what the caller destroys.
    [[nodiscard]] RawOutcome run(Call const& call) const;

    // Runs all, so many at once (0: as many as there are, up to 64), and blocks meanwhile. The
    // outcomes are in the order of the calls. A call whose stop was requested before its turn does
    // not run.
    [[nodiscard]] std::vector<RawOutcome> run_all(std::span<Call const> calls,
                                                  std::size_t at_once = 0) const;

private:
    [[nodiscard]] std::shared_ptr<tools::Prepared const> prepared(std::string_view name) const;

    std::vector<std::shared_ptr<tools::Prepared const>> tools_;
};

}  // namespace dormouse::inline v0

#pragma GCC visibility pop
