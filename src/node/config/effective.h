#pragma once
// The configuration as the server uses it: every key with its value. A secret is shown as the name
// of its variable. Pure.

#include "config/config.h"

#include <string>
#include <vector>

namespace dormouse::config {

struct ShownKey {
    std::string name;
    std::string value;       // as TOML; empty: none
    std::string by_default;  // the same
};
struct ShownSection {
    std::string heading;  // "[server]", "[[model]]"
    std::string name;     // its id or name; empty: there is one of its kind
    std::vector<ShownKey> keys = {};
};

[[nodiscard]] std::vector<ShownSection> effective(Config const& config);
// TOML; keys with their defaults are comments.
[[nodiscard]] std::string effective_text(Config const& config);
// {file, sections: [{heading, name, keys: [{name, value, default, changed}]}]}
[[nodiscard]] Json effective_json(Config const& config);

}  // namespace dormouse::config
