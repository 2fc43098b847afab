#pragma once
// What reading a configuration asks of the world.

#include <dormouse/error.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::config {

struct World {
    // The value of a variable of the environment; nullopt: not set, or empty.
    std::function<std::optional<std::string>(std::string const& name)> variable;
    // The whole file; `detail` of the error says in a few words why not.
    std::function<Result<std::string>(std::string const& path)> read_file;
    std::string current_folder = "/";  // absolute: what a relative name of the file is seen from
    std::function<bool(std::string const& path)> is_folder;
    // A path, or a name to be looked for in $PATH.
    std::function<bool(std::string const& program)> is_program;
    // Tools that are there without configuration; what the demo brings besides.
    std::vector<std::string> builtin_tools;
    std::vector<std::string> demo_tools;
    std::vector<std::string> demo_agents;
};

}  // namespace dormouse::config
