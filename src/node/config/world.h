#pragma once
// The environment that reading a configuration needs.

#include <dormouse/error.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::config {

struct Environment {
    // The value of an environment variable; nullopt: not set, or empty.
    std::function<std::optional<std::string>(std::string const& name)> variable;
    // Reads a whole file; `detail` of an error says briefly why it failed.
    std::function<Result<std::string>(std::string const& path)> read_file;
    std::string current_folder = "/";  // absolute: the file's relative name is resolved against it
    std::function<bool(std::string const& path)> is_folder;
    // A path, or a name that is searched in $PATH.
    std::function<bool(std::string const& program)> is_program;
    // Tools that exist without configuration, and what the demo adds.
    std::vector<std::string> builtin_tools;
    std::vector<std::string> demo_tools;
    std::vector<std::string> demo_agents;
};

}  // namespace dormouse::config
