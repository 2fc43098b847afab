#include "config/read.h"

#include "config/parts.h"

#include "base/text/text.h"

#include <algorithm>
#include <filesystem>

namespace dormouse::config {

namespace {

// The top of the file: checks that all sections exist and have the right brackets.
class File {
public:
    File(Node const& top, Reading const& reading)
        : top_(*top.get<Node::Table>()), reading_(reading) {
        for (Member const& member : top_) check(member);
    }

    [[nodiscard]] Section section(std::string_view name) const {
        auto const at = std::ranges::find(top_, name, &Member::name);
        static Node const nothing{0, Node::Table{}};
        bool const there = at != top_.end();
        return Section(reading_, name, there ? at->node : nothing, there ? at->line : 0);
    }

    template <class T> [[nodiscard]] std::vector<Placed<T>> list(std::string_view name) const {
        std::vector<Placed<T>> out;
        Node const* const node = find(top_, name);
        auto const* const elements = node ? node->get<Node::Array>() : nullptr;
        if (elements == nullptr) return out;  // absent or reported
        for (Node const& element : *elements) {
            Section section(reading_, name, element, element.line);
            T value = read_part<T>(section);
            out.push_back({std::move(value), std::move(section)});
        }
        return out;
    }

private:
    void check(Member const& member) {
        std::string_view const name = member.name;
        bool const known =
            !is_part_of_tool(name) && std::ranges::find(sections(), name) != sections().end();
        if (!known) return unknown(member);
        if (!is_list(name) || member.node.get<Node::Array>()) return;
        reading_.report.add(member.line, heading(name) + " is written as [" + member.name + "]",
                            "write it with two brackets: " + heading(name));
    }

    void unknown(Member const& member) {
        if (comes_later("", member.name)) {
            reading_.report.add(member.line, member.name + " comes with a later release",
                                "leave it out until then");
            return;
        }
        std::vector<std::string_view> names;
        std::string list;
        for (std::string_view const name : sections()) {
            if (is_part_of_tool(name)) continue;
            names.push_back(name);
            list += (list.empty() ? "" : ", ") + heading(name);
        }
        auto const near = nearest(member.name, names);
        bool const table = member.node.get<Node::Table>() || member.node.get<Node::Array>();
        reading_.report.add(
            member.line,
            "there is no " + std::string(table ? "section " : "key ") + shown(member.name) +
                (table ? "" : " at the top of the file"),
            near.empty() ? "the sections are " + list : "did you mean " + heading(near) + "?");
    }

    Node::Table const& top_;
    Reading const& reading_;
};

template <class T> std::vector<T> values(std::vector<Placed<T>> placed) {
    std::vector<T> out;
    for (auto& each : placed) out.push_back(std::move(each.value));
    return out;
}

Config read_parts(Node const& top, Reading const& reading) {
    File const file(top, reading);
    Config config;
    config.server = read_part<Server>(file.section("server"));
    config.store = read_part<Store>(file.section("store"));
    config.limits = read_part<Limits>(file.section("limits"));
    config.retention = read_part<Retention>(file.section("retention"));
    Parts parts{.projects = file.list<Project>("project"),
                .models = file.list<Model>("model"),
                .agents = file.list<Agent>("agent"),
                .tools = file.list<Tool>("tool"),
                .mcps = file.list<Mcp>("mcp"),
                .gates = file.list<Gate>("gate"),
                .budgets = file.list<Budget>("budget"),
                .sources = file.list<Source>("source"),
                .users = file.list<User>("user")};
    relate(config.server, parts, reading.environment);
    Section const oidc = file.section("oidc");
    config.oidc = read_part<Oidc>(oidc);
    relate(oidc, config.oidc, parts.users);
    config.telemetry = read_part<Telemetry>(file.section("telemetry"));
    config.backup = read_part<Backup>(file.section("backup"));
    config.archive = read_part<Archive>(file.section("archive"));
    config.projects = values(std::move(parts.projects));
    config.models = values(std::move(parts.models));
    config.agents = values(std::move(parts.agents));
    config.tools = values(std::move(parts.tools));
    config.mcps = values(std::move(parts.mcps));
    config.gates = values(std::move(parts.gates));
    config.budgets = values(std::move(parts.budgets));
    config.sources = values(std::move(parts.sources));
    config.users = values(std::move(parts.users));
    config.webhooks = values(file.list<Webhook>("webhook"));
    config.email = read_part<Email>(file.section("email"));
    auto notifies = file.list<Notify>("notify");
    relate(notifies, config.server, config.email, config.users);
    config.notifies = values(std::move(notifies));
    return config;
}

}  // namespace

std::expected<Config, std::vector<Problem>> read_config(std::string const& file,
                                                        std::string_view text,
                                                        Environment const& environment) {
    using Problems = std::vector<Problem>;
    if (text.size() > file_bytes_max) {
        return std::unexpected(
            Problems{{0, "the file has " + std::to_string(text.size()) + " bytes; write at most " +
                             std::to_string(file_bytes_max)}});
    }
    auto const top = parse_toml(text);
    if (!top) return std::unexpected(Problems{top.error()});
    Report report;
    auto const folder = (std::filesystem::path(environment.current_folder) / file).parent_path();
    Config config = read_parts(*top, {report, environment, folder.lexically_normal().string()});
    config.file = file;
    if (!report.empty()) return std::unexpected(report.take());
    return config;
}

std::string secrets_dir_of(std::string_view text) {
    auto const top =
        text.size() > file_bytes_max ? std::expected<Node, Problem>() : parse_toml(text);
    auto const* const sections = top ? top->get<Node::Table>() : nullptr;
    Node const* const server = sections ? find(*sections, "server") : nullptr;
    auto const* const keys = server ? server->get<Node::Table>() : nullptr;
    Node const* const value = keys ? find(*keys, "secrets_dir") : nullptr;
    auto const* const folder = value ? value->get<std::string>() : nullptr;
    return folder ? *folder : std::string();
}

std::string line_of(std::string const& file, Problem const& problem) {
    std::string const line = problem.line == 0 ? "" : ":" + std::to_string(problem.line);
    return file + line + ": " + problem.text;
}

}  // namespace dormouse::config
