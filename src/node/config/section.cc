#include "config/section.h"

#include "config/members.h"
#include "config/values.h"

#include "base/check.h"
#include "base/text/duration.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

#include <algorithm>
#include <filesystem>

namespace dormouse::config {

namespace {

constexpr std::size_t shown_max = 60;
constexpr std::size_t list_max = 1'000;

std::string limits_text(Key const& key) {
    return std::to_string(key.min) + " to " + std::to_string(key.max);
}

std::string quoted_words(Key const& key) {
    std::string out;
    for (std::string const& word : split_words(key.words)) {
        out += (out.empty() ? "\"" : ", \"") + word + "\"";
    }
    return out;
}

std::string duration_advice(Key const& key) {
    return "write a duration from \"" + duration_text(Duration(key.min)) + "\" to \"" +
           duration_text(Duration(key.max)) + "\", a number and ms, s, m, h or d" +
           (key.none ? ", or \"none\"" : "");
}

// Says how to write a value of this kind.
std::string advice(Key const& key) {
    switch (key.kind) {
        case Kind::flag: return "write true or false";
        case Kind::number: return "write a whole number from " + limits_text(key);
        case Kind::price:
            return "write a number from " + limits_text(key) +
                   " with at most 6 decimals, for example 2.5";
        case Kind::duration: return duration_advice(key);
        case Kind::text: return "write a string in quotes";
        case Kind::word: return "write one of " + quoted_words(key);
        case Kind::texts: return "write a list of strings, for example [\"a\", \"b\"]";
        case Kind::table: return "write a table, for example { name = \"value\" }";
        case Kind::mixed: break;
    }
    return {};
}

bool right_kind(Key const& key, Node const& node) {
    switch (key.kind) {
        case Kind::flag: return node.get<bool>() != nullptr;
        case Kind::number: return node.get<std::int64_t>() != nullptr;
        case Kind::price: return node.get<std::int64_t>() || node.get<double>();
        case Kind::duration:
        case Kind::text:
        case Kind::word: return node.get<std::string>() != nullptr;
        case Kind::texts: return node.get<Node::Array>() != nullptr;
        case Kind::table: return node.get<Node::Table>() != nullptr;
        case Kind::mixed: break;
    }
    return true;
}

struct Wrong {
    std::string what;  // follows the key's name
    std::string advice;
};
using Check = std::optional<Wrong>;

Check check_duration(Key const& key, std::string const& text) {
    if (key.none && text == "none") return std::nullopt;
    auto const parsed = parse_duration(text);
    if (parsed && parsed->count() >= key.min && parsed->count() <= key.max) return std::nullopt;
    return Wrong{"is " + shown(text), duration_advice(key)};
}

Check check_price(Key const& key, Node const& node) {
    auto const* const whole = node.get<std::int64_t>();
    double const number = whole ? static_cast<double>(*whole) : *node.get<double>();
    bool const fits = number >= static_cast<double>(key.min) &&
                      number <= static_cast<double>(key.max) && price_of(number).has_value();
    if (fits) return std::nullopt;
    return Wrong{"is out of bounds or has more than 6 decimals", advice(key)};
}

Check check_word(Key const& key, std::string const& text) {
    if (has_word(key.words, text)) return std::nullopt;
    auto const words = split_words(key.words);
    std::vector<std::string_view> const views(words.begin(), words.end());
    auto const near = nearest(text, views);
    std::string const todo = "did you mean \"" + std::string(near) + "\"? It is one of ";
    return Wrong{"is " + shown(text), near.empty() ? advice(key) : todo + quoted_words(key)};
}

// A password or key written into the file by mistake must not appear in a log.
bool may_show(Form form, std::string_view text) {
    if (form == Form::variable || form == Form::variables) return false;
    bool const place = form == Form::store || form == Form::index || form == Form::redis;
    if (place && text.contains("://")) return false;
    return !text.contains('@');
}

Check check_text(Key const& key, std::string const& text, Environment const& environment) {
    auto const size = static_cast<std::int64_t>(text.size());
    if (size < key.min) return Wrong{"is empty", "write something, or leave it out"};
    if (size > key.max) {
        return Wrong{"has " + std::to_string(size) + " bytes",
                     "write at most " + std::to_string(key.max)};
    }
    if (auto const todo = misfit(key.form, text)) {
        return Wrong{may_show(key.form, text) ? "is " + shown(text) : "is malformed", *todo};
    }
    if (key.form == Form::variable && !environment.variable(text)) {
        return Wrong{"names a variable of the environment that is not set" + shown_variable(text),
                     "set it where the server is started, or name another one"};
    }
    return std::nullopt;
}

Check check_texts(Key const& key, Node::Array const& list, Environment const& environment) {
    if (list.size() > list_max) {
        return Wrong{"has " + std::to_string(list.size()) + " elements",
                     "write at most " + std::to_string(list_max)};
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
        auto const* const text = list[i].get<std::string>();
        std::string const place = "element " + std::to_string(i + 1) + " ";
        if (text == nullptr) return Wrong{place + "is " + std::string(list[i].kind()), advice(key)};
        if (auto wrong = check_text(key, *text, environment)) {
            return Wrong{place + wrong->what, wrong->advice};
        }
    }
    return std::nullopt;
}

Check check_value(Key const& key, Node const& node, Environment const& environment) {
    if (!right_kind(key, node)) return Wrong{"is " + std::string(node.kind()), advice(key)};
    switch (key.kind) {
        case Kind::number: {
            auto const number = *node.get<std::int64_t>();
            if (number >= key.min && number <= key.max) return std::nullopt;
            return Wrong{"is " + std::to_string(number), advice(key)};
        }
        case Kind::price: return check_price(key, node);
        case Kind::duration: return check_duration(key, *node.get<std::string>());
        case Kind::word: return check_word(key, *node.get<std::string>());
        case Kind::text: return check_text(key, *node.get<std::string>(), environment);
        case Kind::texts: return check_texts(key, *node.get<Node::Array>(), environment);
        default: return std::nullopt;
    }
}

// Returns why a key of another kind of its section is not allowed here.
std::string misplaced(Key const& key) {
    if (key.section == "notify") return "is for another kind";
    if (key.section == "tool") return "is for kind \"" + std::string(key.only) + "\" only";
    if (key.section == "mcp") return "is for a server with " + std::string(key.only);
    return key.only == "acp" ? "is for external agents (acp) only"
                             : "has no meaning for an external agent (acp), which has its own";
}

std::string title_of(std::string_view section, Node::Table const* table) {
    std::string title = heading(section);
    if (table == nullptr || !is_list(section)) return title;
    for (std::string_view const name : {"id", "name"}) {
        Node const* const node = find_key(section, name) ? find(*table, name) : nullptr;
        auto const* const text = node ? node->get<std::string>() : nullptr;
        if (text && !misfit(Form::id, *text) && text->size() <= 64) return title + " " + *text;
    }
    return title;
}

}  // namespace

std::string shown(std::string_view text) {
    if (text.size() <= shown_max) return "\"" + escape_for_terminal(text) + "\"";
    return "\"" + escape_for_terminal(cut_utf8(text, shown_max)) + "…\"";
}

std::string shown_variable(std::string_view name) {
    constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    bool const shows = name.size() <= 60 && name.find_first_not_of(plain) == std::string::npos;
    return shows ? ": " + std::string(name) : std::string();
}

void Report::add(std::uint32_t line, std::string what, std::string_view advice) {
    problems_.push_back({line, std::move(what) + "; " + std::string(advice)});
}

std::vector<Problem> Report::take() {
    std::ranges::stable_sort(problems_, {}, &Problem::line);
    return std::move(problems_);
}

std::string Reading::sibling(std::string const& name) const {
    return (std::filesystem::path(folder) / name).lexically_normal().string();
}

Section::Section(Reading const& reading, std::string_view section, Node const& node,
                 std::uint32_t line)
    : reading_(reading),
      section_(section),
      line_(line),
      title_(title_of(section, node.get<Node::Table>())),
      table_(node.get<Node::Table>()) {
    if (table_ == nullptr) {
        std::string const how = is_list(section) ? heading(section) : "a table";
        reading_.report.add(line_, heading(section) + " is " + std::string(node.kind()),
                            "write it as " + how + " with its keys below");
        return;
    }
    for (Member const& member : *table_) check_member(member);
    for (Key const* const key : keys_of(section_)) {
        if (key->required && find(*table_, key->name) == nullptr) {
            reading_.report.add(line_, title_ + " has no " + std::string(key->name),
                                "add it: " + std::string(key->about));
            bad_.push_back(key->name);
        }
    }
}

void Section::check_member(Member const& member) {
    Key const* const key = find_key(section_, member.name);
    if (key == nullptr) return unknown(member);
    if (auto const wrong = check_value(*key, member.node, reading_.environment)) {
        reading_.report.add(member.line, label(key->name) + " " + wrong->what, wrong->advice);
        bad_.push_back(key->name);
    }
}

void Section::unknown(Member const& member) const {
    std::string const name = shown(member.name);
    if (comes_later(section_, member.name)) {
        reading_.report.add(member.line,
                            title_ + ": " + member.name + " comes with a later release",
                            "leave it out until then");
        return;
    }
    std::vector<std::string_view> known;
    std::string list;
    for (Key const* const key : keys_of(section_)) {
        known.push_back(key->name);
        list += (list.empty() ? "" : ", ") + std::string(key->name);
    }
    auto near = nearest(member.name, known);
    // Perhaps a secret was given instead of the variable that holds it.
    Key const* const variable = find_key(section_, member.name + "_env");
    if (near.empty() && variable) near = variable->name;
    reading_.report.add(
        member.line, title_ + " has no key " + name,
        near.empty() ? "its keys are " + list : "did you mean " + std::string(near) + "?");
}

Node const* Section::node(std::string_view name) const {
    CHECK(find_key(section_, name) != nullptr);
    return table_ == nullptr || was_reported(name) ? nullptr : find(*table_, name);
}

bool Section::was_reported(std::string_view name) const {
    return std::ranges::find(bad_, name) != bad_.end();
}

bool Section::given(std::string_view name) const {
    return table_ != nullptr && find(*table_, name) != nullptr;
}

std::uint32_t Section::line(std::string_view name) const {
    if (table_ == nullptr) return line_;
    auto const at = std::ranges::find(*table_, name, &Member::name);
    return at == table_->end() ? line_ : at->line;
}

std::string Section::text(std::string_view name) const {
    Node const* const found = node(name);
    return found ? *found->get<std::string>() : std::string();
}

std::string Section::kind() const {
    if (section_ == "agent") return given("acp") ? "acp" : "model";
    if (section_ == "mcp") return given("url") ? "url" : "command";
    return find_key(section_, "kind") ? text("kind") : std::string();
}

void Section::fill(void* out, std::type_info const& type) const {
    std::string const own = kind();
    for (Key const* const key : keys_of(section_)) {
        if (!key->only.empty() && !own.empty() && !has_word(key->only, own)) {
            forbid(key->name, misplaced(*key));
            continue;
        }
        CHECK(!key->store || *key->owner == type);
        Node const* const value = node(key->name);
        if (value && key->store) key->store(out, {*this, *key, *value});
    }
}

std::string Section::label(std::string_view name) const {
    return title_ + (is_list(section_) ? ": " : " ") + std::string(name);
}

void Section::report(std::string_view name, std::string const& what,
                     std::string_view advice) const {
    reading_.report.add(line(name), label(name) + " " + what, advice);
}

void Section::forbid(std::string_view name, std::string const& why) const {
    if (given(name) && !was_reported(name)) report(name, why, "leave it out");
}

void Section::require(std::string_view name, std::string const& why) const {
    if (given(name)) return;
    reading_.report.add(line_, title_ + " has no " + std::string(name), why);
}

}  // namespace dormouse::config
