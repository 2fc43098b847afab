#include "config/parts.h"

#include "json/json.h"
#include "json/schema.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

namespace dormouse::config {

namespace {

// RFC 9110: a token.
bool header_name(std::string_view name) {
    return !name.empty() && name.size() <= 128 && std::ranges::all_of(name, [](char c) {
        return std::string_view(
                   "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                   "!#$%&'*+-.^_`|~")
            .contains(c);
    });
}

bool header_value(std::string_view value) {
    return value.size() <= 8'192 && std::ranges::all_of(value, [](unsigned char c) {
               return c == '\t' || (c >= 0x20 && c != 0x7F);
           });
}

// Those that say where a message ends or goes: whoever sends it sets them.
bool header_taken(std::string name) {
    std::ranges::transform(name, name.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr std::string_view taken[] = {"host",       "content-length", "transfer-encoding",
                                          "connection", "upgrade",        "te",
                                          "trailer",    "expect"};
    return std::ranges::find(taken, name) != std::end(taken);
}

using Got = std::expected<Header, std::string>;

Got header_of(std::string const& name, Node const& node, World const& world) {
    if (auto const* const constant = node.get<std::string>()) return Header{name, *constant, {}};
    auto const* const table = node.get<Node::Table>();
    if (table == nullptr) return std::unexpected("is " + std::string(node.kind()));
    Header out{name, {}, {}};
    std::string prefix;
    for (Member const& member : *table) {
        auto const* const text = member.node.get<std::string>();
        if (text == nullptr || (member.name != "env" && member.name != "prefix")) {
            return std::unexpected("may not have " + shown(member.name) + " like that");
        }
        (member.name == "env" ? out.env : prefix) = *text;
    }
    if (out.env.empty()) return std::unexpected(std::string("names no variable"));
    auto const value = world.variable(out.env);
    if (!value) {
        return std::unexpected("needs a variable of the environment that is not set" +
                               shown_variable(out.env));
    }
    out.value = prefix + *value;
    return out;
}

void write_json(json::Writer& out, Node const& node);

struct WriteJson {
    json::Writer& out;
    void operator()(bool value) const { out.value(value); }
    void operator()(std::int64_t value) const { out.value(value); }
    void operator()(double value) const { out.value(value); }
    void operator()(std::string const& value) const { out.value(value); }
    void operator()(Node::Array const& list) const {
        out.begin_array();
        for (Node const& element : list) write_json(out, element);
        out.end_array();
    }
    void operator()(Node::Table const& table) const {
        out.begin_object();
        for (Member const& member : table) {
            out.key(member.name);
            write_json(out, member.node);
        }
        out.end_object();
    }
    void operator()(Node::Other const& /*other*/) const { out.null(); }
};

void write_json(json::Writer& out, Node const& node) { std::visit(WriteJson{out}, node.value); }

// What JSON has no word for; empty: nothing.
std::string not_json(Node const& node) {
    if (node.get<Node::Other>()) return "holds " + std::string(node.kind());
    auto const* const number = node.get<double>();
    if (number && !std::isfinite(*number)) return "holds a number that is not finite";
    if (auto const* const list = node.get<Node::Array>()) {
        for (Node const& element : *list) {
            if (auto found = not_json(element); !found.empty()) return found;
        }
    }
    if (auto const* const table = node.get<Node::Table>()) {
        for (Member const& member : *table) {
            if (auto found = not_json(member.node); !found.empty()) return found;
        }
    }
    return {};
}

}  // namespace

std::expected<Json, std::string> to_json(Node const& node) {
    if (auto found = not_json(node); !found.empty()) return std::unexpected(std::move(found));
    json::Writer out;
    write_json(out, node);
    auto checked = json::check(out.take());
    if (!checked) return std::unexpected("can not be JSON: " + checked.error().detail);
    return *checked;
}

std::vector<Header> read_headers(Section const& section, Reading const& reading) {
    constexpr std::string_view how =
        "write name = \"text\", or name = { env = \"VARIABLE\", prefix "
        "= \"Bearer \" } with the variable set";
    std::vector<Header> out;
    Node const* const node = section.node("headers");
    if (node == nullptr) return out;
    for (Member const& member : *node->get<Node::Table>()) {
        std::string const title = section.label("headers") + " " + shown(member.name);
        if (!header_name(member.name)) {
            reading.report.add(member.line, title + " can not be the name of a header",
                               "use letters, digits and -");
        } else if (header_taken(member.name)) {
            reading.report.add(member.line, title + " is set by whoever sends", "leave it out");
        } else if (auto header = header_of(member.name, member.node, reading.world); !header) {
            reading.report.add(member.line, title + " " + header.error(), how);
        } else if (!header_value(header->value)) {
            reading.report.add(member.line, title + " has a value that no header can have",
                               "use up to 8192 bytes without line breaks");
        } else {
            out.push_back(std::move(*header));
        }
    }
    return out;
}

std::optional<Secret> read_secret(Section const& section, std::string_view name,
                                  Reading const& reading) {
    std::string variable;
    section.read(name, variable);
    if (variable.empty()) return std::nullopt;
    return Secret{variable, reading.world.variable(variable).value_or("")};
}

Json read_schema(Section const& section, std::string_view name, Reading const& reading) {
    std::string file;
    section.read(name, file);
    if (file.empty()) return {};
    auto const path = (std::filesystem::path(reading.folder) / file).string();
    auto const text = reading.world.read_file(path);
    if (!text) {
        section.report(name, "can not be read: " + path + ": " + text.error().detail,
                       "name a file, as seen from the folder of this one");
        return {};
    }
    auto const schema = json::check(*text);
    if (!schema) {
        section.report(name, "is not JSON: " + path + ": " + schema.error().detail,
                       "correct that file");
        return {};
    }
    auto const broken = json::violations(*schema, Json::trusted("null"));
    bool const usable = json::View(*schema).kind() == json::Kind::object &&
                        (broken.empty() || broken.front().pointer != "#");
    if (usable) return json::compact(*schema);
    section.report(
        name,
        "is not a JSON Schema: " + path + (broken.empty() ? "" : ": " + broken.front().message),
        "correct that file (draft 7)");
    return {};
}

}  // namespace dormouse::config
