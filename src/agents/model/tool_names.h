#pragma once
// Providers take [A-Za-z0-9_-]{1,64} as the name of a tool; ours may hold more.

#include "agent/model.h"

#include <map>
#include <string>
#include <vector>

namespace dormouse::model {

class ToolNames {
public:
    explicit ToolNames(std::vector<agent::ToolDeclaration> const& tools);

    // The name with `_` for each character that providers do not take, cut to their length.
    [[nodiscard]] static std::string plain(std::string name);

    // What the provider is told, also for tools that are not declared (any more).
    [[nodiscard]] std::string to_provider(std::string const& name) const;
    // What it meant; as it is when it was not told.
    [[nodiscard]] std::string from_provider(std::string const& name) const;

private:
    std::map<std::string, std::string> to_;
    std::map<std::string, std::string> from_;
};

}  // namespace dormouse::model
