#include "external/url_template.h"

#include "base/text/chars.h"
#include "base/url.h"

#include <algorithm>
#include <array>

namespace dormouse::external {

namespace {

constexpr std::string_view of_input = "{input.";
constexpr std::string_view of_call = "{call.";
constexpr std::array<std::string_view, 4> call_names{"externalRef", "pendingID", "callID",
                                                     "sessionID"};
constexpr std::size_t value_max = 2'048;

std::unexpected<Error> malformed(std::string_view url, std::string_view what) {
    return fail(Code::bad_value, "url \"" + std::string(url) + "\": " + std::string(what));
}

bool is_plain(char c) { return c > ' ' && c < 0x7F && c != '{' && c != '}' && c != '"'; }

// Returns scheme, host and port.
std::string_view origin_of(std::string_view url) {
    auto const parts = split_url(url);
    return parts ? url.substr(0, url.size() - parts->target.size()) : url;
}

Result<std::string> text_of(json::View value, std::string const& name) {
    bool const number = value.kind() == json::Kind::number || value.kind() == json::Kind::boolean;
    auto const text = number ? std::optional(std::string(value.raw())) : value.string();
    if (!value.exists() || !text)
        return fail(Code::invalid_arguments,
                    name +
                        " must be a string or a number: it becomes part of "
                        "the tool's address");
    if (text->empty() || text->size() > value_max)
        return fail(Code::invalid_arguments, name + " must have 1 to 2048 bytes");
    return *text;
}

}  // namespace

Result<UrlTemplate> UrlTemplate::parse(std::string_view text, bool of_poll) {
    if (origin_of(text).find_first_of("{@\\") != text.npos)
        return malformed(text,
                         "its host must be constant, without user name: put secrets into headers");
    if (auto const why = wrong_url(origin_of(text)); !why.empty()) return malformed(text, why);
    if (text.contains('#')) return malformed(text, "must not have a fragment (#…)");
    UrlTemplate out;
    std::size_t const query = std::min(text.find('?'), text.size());
    std::string fault = out.add(text.substr(0, query), true, of_poll);
    if (fault.empty()) fault = out.add(text.substr(query), false, of_poll);
    if (!fault.empty()) return malformed(text, fault);
    return out;
}

// Returns what is wrong; empty: the text was added.
std::string UrlTemplate::add(std::string_view text, bool path, bool of_poll) {
    while (true) {
        std::size_t const at = std::min(text.find('{'), text.size());
        std::string_view const constant = text.substr(0, at);
        if (!std::ranges::all_of(constant, is_plain))
            return "spaces, quotes, } and characters other than ASCII must be percent-encoded";
        parts_.push_back({std::string(constant), {}, path, false});
        if (at == text.size()) return {};
        std::string_view const rest = text.substr(at);
        std::size_t const close = rest.find('}');
        bool const calls = of_poll && rest.starts_with(of_call);
        std::size_t const begin = calls ? of_call.size() : of_input.size();
        if ((!calls && !rest.starts_with(of_input)) || close == rest.npos || close == begin)
            return of_poll ? "only {input.NAME} and {call.NAME} are allowed in braces"
                           : "only {input.NAME} is allowed in braces";
        std::string_view const name = rest.substr(begin, close - begin);
        if (!is_made_of(name, "_-")) return "a NAME must consist of letters, digits, _ and -";
        if (calls && std::ranges::find(call_names, name) == call_names.end())
            return "{call.NAME} must be externalRef, pendingID, callID or sessionID";
        text = rest.substr(close + 1);
        bool const begins = constant.ends_with(path ? '/' : '=');
        bool const ends = text.empty() || text.front() == (path ? '/' : '&');
        if (!begins || !ends)
            return std::string(rest.substr(0, close + 1)) +
                   " must be a whole path segment or a whole query value";
        parts_.back().name = name;
        parts_.back().of_call = calls;
    }
}

Result<std::string> UrlTemplate::fill(json::View input, json::View call) const {
    std::string url;
    for (Part const& part : parts_) {
        url += part.text;
        if (part.name.empty()) continue;
        auto const value = text_of((part.of_call ? call : input)[part.name], part.name);
        if (!value) return std::unexpected(value.error());
        if (part.path && (*value == "." || *value == ".."))
            return fail(Code::invalid_arguments, part.name + " must not be . or ..");
        url += percent_encode(*value);
    }
    return url;
}

}  // namespace dormouse::external
