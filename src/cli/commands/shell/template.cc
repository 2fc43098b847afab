#include "cli/commands/shell/template.h"

#include "base/check.h"

#include <algorithm>
#include <utility>

namespace dormouse::cli {
namespace {

std::string without_lines_of_tags(std::string_view text) {
    constexpr std::string_view blank = " \t\n";
    std::string out;
    while (!text.empty()) {
        auto const line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
        auto const begin = std::min(line.find_first_not_of(blank), line.size());
        auto const bare = line.substr(begin, line.find_last_not_of(blank) + 1 - begin);
        bool const tag = bare.starts_with("{{") && bare.find("}}") == bare.size() - 2 &&
                         std::string_view("#^/=>").contains(bare[2]);
        out += tag || bare.starts_with("{{=") ? bare : line;
        text.remove_prefix(line.size());
    }
    return out;
}

class Filling {
public:
    Filling(Filter const& escape, std::map<std::string_view, Filter> const& filters)
        : escape_(escape), filters_(filters) {}

    void put(std::string_view text);
    [[nodiscard]] std::string fill(std::string_view text, Record const& data) {
        scopes_ = {&data};
        put(text);
        return std::move(out_);
    }

private:
    // Returns the text up to the end of the section `name` and advances `text` behind it.
    [[nodiscard]] static std::string_view take_section(std::string_view& text,
                                                       std::string_view name);
    void put_section(std::string_view tag, std::string_view body);
    void put_value(std::string_view tag);
    // Returns the innermost record that has this name.
    [[nodiscard]] Record const* scope_of(std::string_view name) const;

    Filter const& escape_;
    std::map<std::string_view, Filter> const& filters_;
    std::string out_;
    std::vector<Record const*> scopes_;
    std::map<std::string_view, std::string_view> parts_;
};

std::string_view Filling::take_section(std::string_view& text, std::string_view name) {
    int depth = 1;
    for (auto at = text.find("{{"); at != std::string_view::npos; at = text.find("{{", at + 2)) {
        auto const tag = text.substr(at + 2, text.find("}}", at) - at - 2);
        if (tag.substr(1, tag.find(' ') - 1) != name) continue;
        if (tag.front() == '#' || tag.front() == '^') ++depth;
        if (tag.front() != '/' || --depth > 0) continue;
        auto const body = text.substr(0, at);
        text.remove_prefix(text.find("}}", at) + 2);
        return body;
    }
    CHECK(false);
}

Record const* Filling::scope_of(std::string_view name) const {
    for (auto at = scopes_.rbegin(); at != scopes_.rend(); ++at) {
        if ((*at)->texts.contains(name) || (*at)->lists.contains(name)) return *at;
    }
    return nullptr;
}

void Filling::put_section(std::string_view tag, std::string_view body) {
    auto const space = tag.find(' ');
    auto const name = tag.substr(1, space - 1);
    auto const between = space == std::string_view::npos
                             ? std::string_view()
                             : tag.substr(space + 2, tag.size() - space - 3);
    auto const* const scope = scope_of(name);
    CHECK(scope != nullptr);
    auto const list = scope->lists.find(name);
    bool const empty =
        list == scope->lists.end() ? scope->texts.find(name)->second.empty() : list->second.empty();
    if (empty == (tag.front() == '#')) return;
    if (tag.front() == '^' || list == scope->lists.end()) return put(body);
    for (Record const& each : list->second) {
        if (&each != &list->second.front()) out_ += between;
        scopes_.push_back(&each);
        put(body);
        scopes_.pop_back();
    }
}

void Filling::put_value(std::string_view tag) {
    bool const as_it_is = tag.front() == '&';
    if (as_it_is) tag.remove_prefix(1);
    auto const bar = tag.find('|');
    auto const name = tag.substr(0, bar);
    auto const* const scope = scope_of(name);
    CHECK(scope != nullptr);
    std::string value = scope->texts.find(name)->second;
    if (bar != std::string_view::npos) value = filters_.at(tag.substr(bar + 1))(value);
    out_ += as_it_is ? value : escape_(value);
}

void Filling::put(std::string_view text) {
    for (;;) {
        auto const begin = text.find("{{");
        out_ += text.substr(0, begin);
        if (begin == std::string_view::npos) return;
        auto const end = text.find("}}", begin);
        auto const tag = text.substr(begin + 2, end - begin - 2);
        text.remove_prefix(end + 2);
        auto const name = tag.substr(1, tag.find(' ') - 1);
        switch (tag.front()) {
            case '#':
            case '^': put_section(tag, take_section(text, name)); break;
            case '=': parts_[name] = take_section(text, name); break;
            case '>': put(parts_.at(name)); break;
            default: put_value(tag);
        }
    }
}

}  // namespace

std::vector<Record> records(std::vector<std::string> const& texts) {
    std::vector<Record> out;
    for (auto const& text : texts) out.push_back({.texts = {{".", text}}});
    return out;
}

std::string filled(std::string_view text, Record const& data, Filter const& escape,
                   std::map<std::string_view, Filter> const& filters) {
    return Filling(escape, filters).fill(without_lines_of_tags(text), data);
}

}  // namespace dormouse::cli
