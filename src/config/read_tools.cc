#include "config/parts.h"

#include "base/text.h"
#include "json/json.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

namespace dormouse::config {

namespace {

constexpr std::string_view http_keys[] = {"url",          "method",     "headers", "body",
                                          "external_ref", "secret_env", "poll"};
constexpr std::string_view command_keys[] = {"command", "cwd", "env_allow"};

void check_kind(Section const& section, ToolKind kind) {
    bool const http = kind == ToolKind::http;
    for (std::string_view const name : http_keys) {
        if (!http) section.forbid(name, "is for kind \"http\" only");
    }
    for (std::string_view const name : command_keys) {
        if (http) section.forbid(name, "is for kind \"command\" only");
    }
    if (auto const later = section.word("later"); !http && later) {
        if (static_cast<Later>(*later) != Later::never)
            section.report("later", "is for kind \"http\" unless it is \"never\"",
                           "leave it out: exit status 75 or descriptor 3 say \"later\"");
    }
    if (http) {
        section.require("url", "add the address of the web service");
    } else {
        section.require("command", "add the program and its arguments");
    }
}

Json read_body(Section const& section) {
    std::string text;
    section.read("body", text);
    if (text.empty()) return {};
    auto const body = json::check(text);
    if (body) return json::compact(*body);
    section.report("body", "is not JSON: " + body.error().detail,
                   "write JSON between three single quotes: '''{ … }'''");
    return {};
}

std::optional<Poll> read_poll(Section const& section, Reading const& reading) {
    Node const* const node = section.node("poll");
    if (node == nullptr) return std::nullopt;
    Section const table(reading.report, reading.world, "tool.poll", *node, section.line("poll"));
    Poll out;
    table.read("url", out.url);
    table.read("every", out.every);
    table.read("done", out.done);
    table.read("output", out.output);
    return out;
}

HttpTool read_http(Section const& section, Reading const& reading) {
    HttpTool out;
    section.read("url", out.url);
    section.read("method", out.method);
    section.read("external_ref", out.external_ref);
    out.headers = read_headers(section, reading);
    out.body = read_body(section);
    out.secret = read_secret(section, "secret_env", reading);
    out.poll = read_poll(section, reading);
    if (auto const later = section.word("later")) out.later = static_cast<Later>(*later);
    return out;
}

// A program with a slash in its name, and the folder to run in, are seen from the file's folder.
std::string beside(Reading const& reading, std::string const& name) {
    return (std::filesystem::path(reading.folder) / name).lexically_normal().string();
}

// Those two of a table that has both: seen from the file's folder, and there.
void read_program(Section const& section, Reading const& reading, std::vector<std::string>& command,
                  std::string& cwd) {
    section.read("command", command);
    section.read("cwd", cwd);
    if (!cwd.empty()) {
        cwd = beside(reading, cwd);
        if (!reading.world.is_folder(cwd))
            section.report("cwd", "is no folder: " + cwd, "make it, or name another one");
    }
    if (section.node("command") == nullptr) return;
    if (command.empty() || command.front().empty()) {
        section.report("command", "names no program", "write for example [\"./deploy.sh\"]");
        return;
    }
    std::string& program = command.front();
    if (program.contains('/')) program = beside(reading, program);
    if (!reading.world.is_program(program)) {
        section.report("command", "names no program that can be run: " + program,
                       "name one in $PATH, or a file (as seen from the folder of this one) that "
                       "may be executed");
    }
}

CommandTool read_command(Section const& section, Reading const& reading) {
    CommandTool out;
    section.read("env_allow", out.env_allow);
    if (auto const later = section.word("later"))
        out.later = static_cast<Later>(*later) != Later::never;
    read_program(section, reading, out.command, out.cwd);
    return out;
}

std::optional<Validator> read_validator(Section const& section, Reading const& reading) {
    Node const* const node = section.node("validator");
    if (node == nullptr) return std::nullopt;
    Section const table(reading.report, reading.world, "tool.validator", *node,
                        section.line("validator"));
    Validator out;
    read_program(table, reading, out.command, out.cwd);
    table.read("env_allow", out.env_allow);
    table.read("time_limit", out.time_limit);
    return out;
}

}  // namespace

Tool read_tool(Section const& section, Reading const& reading) {
    Tool out;
    out.line = section.line();
    section.read("name", out.name);
    section.read("description", out.description);
    section.read("timeout", out.timeout);
    section.read("time_limit", out.time_limit);
    section.read("estimated_duration", out.estimated);
    section.read("warn_before", out.warn_before);
    section.read("webhook_url", out.webhook_url);
    out.webhook_secret = read_secret(section, "webhook_secret_env", reading);
    if (auto const crash = section.word("crash")) {
        out.crash = static_cast<session::CrashPolicy>(*crash);
    }
    out.input_schema = read_schema(section, "input_schema_file", reading);
    if (out.input_schema.is_null()) out.input_schema = Json::trusted(R"({"type":"object"})");
    out.result_schema = read_schema(section, "result_schema_file", reading);
    out.validator = read_validator(section, reading);
    // What is for the other kind is to be left out: nothing more is said of it.
    auto const kind = section.word("kind");
    if (!kind || static_cast<ToolKind>(*kind) == ToolKind::http)
        out.http = read_http(section, reading);
    if (!kind || static_cast<ToolKind>(*kind) == ToolKind::command)
        out.command = read_command(section, reading);
    if (kind) {
        out.kind = static_cast<ToolKind>(*kind);
        check_kind(section, out.kind);
    }
    return out;
}

namespace {

// {input.NAME}, where NAME is of letters, digits, _ . and -.
void check_question(Section const& section, std::string_view ask) {
    constexpr std::string_view start = "{input.";
    for (auto at = ask.find(start); at != ask.npos; at = ask.find(start, at + 1)) {
        auto const name = ask.substr(at + start.size());
        auto const end = std::ranges::find_if_not(name, [](unsigned char c) {
            return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
        });
        if (end != name.begin() && end != name.end() && *end == '}') continue;
        return section.report("ask", "has " + shown(ask.substr(at)) + ", which is no {input.NAME}",
                              "write for example {input.target}; its name is of letters, digits "
                              "and _ . -");
    }
}

void check_roles(Section const& section, std::string_view key,
                 std::vector<std::string> const& names) {
    constexpr std::string_view prefix = "role:";
    constexpr std::string_view roles[] = {"read", "answer", "operate", "admin"};
    for (std::string const& name : names) {
        if (!name.starts_with(prefix)) continue;
        std::string role = name.substr(prefix.size());
        if (std::ranges::find(roles, role) != std::end(roles)) continue;
        std::ranges::transform(role, role.begin(),
                               [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        auto const near = nearest(role, roles);
        section.report(key, "names " + shown(name) + ", and there is no such role",
                       near.empty() ? "write role:read, role:answer, role:operate or role:admin"
                                    : "did you mean \"role:" + std::string(near) + "\"?");
    }
}

}  // namespace

// "escalate:alice,role:answer" → who; nothing is left of a name that is none.
void read_escalation(Section const& section, std::string_view names, Gate& out) {
    constexpr std::size_t names_max = 16;
    while (true) {
        auto const comma = std::min(names.find(','), names.size());
        std::string const name(names.substr(0, comma));
        bool const plain = std::ranges::all_of(
            name, [](unsigned char c) { return c > ' ' && c < 0x7F && c != '"'; });
        if (name.empty() || !plain)
            return section.report("on_expiry", "names nobody behind \"escalate:\"",
                                  "write escalate:NAME, or escalate:NAME,NAME");
        out.escalate_to.push_back(name);
        if (comma == names.size()) break;
        names.remove_prefix(comma + 1);
    }
    if (out.escalate_to.size() > names_max)
        section.report("on_expiry", "names more than 16", "name fewer, or a role");
    check_roles(section, "on_expiry", out.escalate_to);
    if (!out.timeout)
        section.report("on_expiry", "asks somebody else at a deadline, and there is none",
                       "set timeout, for example \"4h\"");
}

void read_expiry(Section const& section, Gate& out) {
    constexpr std::string_view escalate = "escalate:";
    std::string word;
    section.read("on_expiry", word);
    if (word.starts_with(escalate))
        return read_escalation(section, std::string_view(word).substr(escalate.size()), out);
    if (word == "tell") out.on_expiry = OnExpiry::tell;
    if (word.empty() || word == "deny" || word == "tell") return;
    section.report("on_expiry", "is " + shown(word),
                   "write \"deny\", \"tell\" or \"escalate:NAME\"");
}

Gate read_gate(Section const& section, Reading const& /*reading*/) {
    Gate out;
    out.line = section.line();
    section.read("id", out.id);
    section.read("tools", out.tools);
    section.read("ask", out.ask);
    section.read("answerers", out.answerers);
    section.read("need", out.need);
    section.read("timeout", out.timeout);
    section.read("forbid_requester", out.forbid_requester);
    section.read("warn_before", out.warn_before);
    section.read("remind_after", out.remind_after);
    section.read("remind_every", out.remind_every);
    if (!out.remind_after) out.remind_after = out.remind_every;
    if (out.timeout == Duration::max()) out.timeout.reset();
    check_question(section, out.ask);
    check_roles(section, "answerers", out.answerers);
    read_expiry(section, out);
    if (section.node("tools") && out.tools.empty()) {
        section.report("tools", "is empty", "name the tools that this gate stands before");
    }
    for (std::string const& tool : out.tools) {
        if (!section.given("id")) out.id += (out.id.empty() ? "" : ",") + tool;
    }
    return out;
}

}  // namespace dormouse::config
