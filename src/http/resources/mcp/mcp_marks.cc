#include "http/resources/mcp/mcp_marks.h"

#include "base/crypto/sha256.h"
#include "base/text/text.h"
#include "json/json.h"

#include <algorithm>
#include <span>

namespace dormouse::http {
namespace {

constexpr std::size_t mark_key_bytes = 16;
constexpr std::size_t bucket_digits = 2;

std::string mark_key(std::string const& text) {
    auto const digest = sha256(text);
    return hex(std::span(digest).first(mark_key_bytes));
}

template <class Item> void keep_newest_marks(std::vector<Item>& items, std::size_t max) {
    if (items.size() > max)
        items.erase(items.begin(), items.end() - static_cast<std::ptrdiff_t>(max));
}

}  // namespace

std::string mcp_session_key(std::string_view id) { return mark_key(std::string(id)); }

std::string mcp_request_key(std::string_view session_key, std::string_view request) {
    return mark_key(std::string(session_key) + " " + std::string(request));
}

std::string mcp_bucket(std::string_view session_key) {
    return std::string(session_key.substr(0, bucket_digits));
}

bool McpMarks::has_ended(std::string_view session_key) const {
    return std::ranges::find(ended, session_key) != ended.end();
}

bool McpMarks::end(std::string const& session_key) {
    if (has_ended(session_key)) return false;
    ended.push_back(session_key);
    keep_newest_marks(ended, ended_max);
    return true;
}

void McpMarks::withdraw(std::string const& request_key) {
    withdrawn.push_back({++newest, request_key});
    keep_newest_marks(withdrawn, withdrawn_max);
}

bool McpMarks::is_withdrawn(std::string_view request_key, std::uint64_t after) const {
    return std::ranges::any_of(withdrawn, [&](Withdrawn const& one) {
        return one.number > after && one.request == request_key;
    });
}

std::string McpMarks::text() const {
    json::Writer out;
    out.begin_object().member("newest", newest).key("ended").begin_array();
    for (std::string const& key : ended) out.value(key);
    out.end_array().key("withdrawn").begin_array();
    for (Withdrawn const& one : withdrawn) {
        out.begin_object().member("number", one.number).member("request", one.request);
        out.end_object();
    }
    return out.end_array().end_object().take();
}

McpMarks McpMarks::read(std::string_view text) {
    McpMarks out;
    auto const json = json::check(text);
    if (!json) return out;
    json::View const object(*json);
    auto const number = [](json::View value) {
        return static_cast<std::uint64_t>(std::max<std::int64_t>(value.integer_or(0), 0));
    };
    out.newest = number(object["newest"]);
    object["ended"].elements([&](json::View key) { out.ended.push_back(key.string_or("")); });
    object["withdrawn"].elements([&](json::View one) {
        out.withdrawn.push_back({number(one["number"]), one["request"].string_or("")});
    });
    return out;
}

}  // namespace dormouse::http
