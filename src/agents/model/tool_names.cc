#include "model/tool_names.h"

#include "base/text/chars.h"

namespace dormouse::model {

namespace {

constexpr std::size_t name_max = 64;

}  // namespace

std::string ToolNames::plain(std::string name) {
    for (char& c : name) {
        if (!is_letter_or_digit(c) && c != '-') c = '_';
    }
    if (name.size() > name_max) name.resize(name_max);
    return name.empty() ? "_" : name;
}

ToolNames::ToolNames(std::vector<agent::ToolDeclaration> const& tools) {
    // Unchanged names come first, so that no changed name takes one of them.
    for (bool const same : {true, false}) {
        for (agent::ToolDeclaration const& tool : tools) {
            std::string name = plain(tool.name);
            if ((name == tool.name) != same) continue;
            for (int n = 2; from_.contains(name); ++n) {
                std::string const end = "_" + std::to_string(n);
                name = plain(tool.name).substr(0, name_max - end.size()) + end;
            }
            from_.emplace(name, tool.name);
            to_.emplace(tool.name, name);
        }
    }
}

std::string ToolNames::to_provider(std::string const& name) const {
    auto const found = to_.find(name);
    return found == to_.end() ? plain(name) : found->second;
}

std::string ToolNames::from_provider(std::string const& name) const {
    auto const found = from_.find(name);
    return found == from_.end() ? name : found->second;
}

}  // namespace dormouse::model
