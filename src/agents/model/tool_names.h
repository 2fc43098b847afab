#pragma once
// Providers accept [A-Za-z0-9_-]{1,64} as the name of a tool; our names may hold other characters.

#include "agent/model.h"

#include <map>
#include <string>
#include <vector>

namespace dormouse::model {

class ToolNames {
public:
    explicit ToolNames(std::vector<agent::ToolDeclaration> const& tools);

    // Returns the name with `_` for each character that providers refuse, cut to their length.
    [[nodiscard]] static std::string plain(std::string name);

    // Returns the name for the provider, also for tools that are not declared (any more).
    [[nodiscard]] std::string to_provider(std::string const& name) const;
    // Returns our name for a provider's; an unknown name is returned unchanged.
    [[nodiscard]] std::string from_provider(std::string const& name) const;

private:
    std::map<std::string, std::string> to_;
    std::map<std::string, std::string> from_;
};

}  // namespace dormouse::model
