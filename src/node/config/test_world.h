#pragma once
// An environment for tests with the values given here.

#include "config/read.h"
#include "config/world.h"

#include <algorithm>
#include <map>
#include <vector>

namespace dormouse::config {

struct TestEnvironment {
    std::map<std::string, std::string> variables = {{"KEY", "s3cr3t-value"}};
    std::map<std::string, std::string> files = {
        {"/etc/d/schema.json", R"({"type": "object", "required": ["ref"]})"},
        {"/etc/d/text.json", "not JSON"},
        {"/etc/d/list.json", "[]"},
        {"/etc/d/broken.json", R"({"type": 5})"},
    };
    std::vector<std::string> folders = {"/etc/d/work"};
    std::vector<std::string> programs = {"node", "/etc/d/run.sh"};

    [[nodiscard]] Environment environment() const {
        Environment out;
        out.variable = [this](std::string const& name) -> std::optional<std::string> {
            auto const at = variables.find(name);
            return at == variables.end() ? std::nullopt : std::optional(at->second);
        };
        out.read_file = [this](std::string const& path) -> Result<std::string> {
            auto const at = files.find(path);
            if (at == files.end()) return fail(Code::not_found, "there is no such file");
            return at->second;
        };
        out.is_folder = [this](std::string const& path) {
            return std::ranges::find(folders, path) != folders.end();
        };
        out.is_program = [this](std::string const& program) {
            return std::ranges::find(programs, program) != programs.end();
        };
        out.current_folder = "/etc/d";
        out.builtin_tools = {"ask_human", "wait_for"};
        out.demo_tools = {"dangerous"};
        out.demo_agents = {"demo"};
        return out;
    }
};

// The configuration of this text, in the environment above.
inline std::expected<Config, std::vector<Problem>> read_text(std::string const& text) {
    TestEnvironment const environment;
    return read_config("d.toml", text, environment.environment());
}

}  // namespace dormouse::config
