#include "store/files/contents.h"

#include "base/crypto/sha256.h"
#include "base/enum_words.h"
#include "base/text/chars.h"
#include "base/text/text.h"
#include "json/json.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace dormouse::store::files {

namespace {

using port::PendingStatus;

constexpr std::array statuses = {PendingStatus::waiting, PendingStatus::completed,
                                 PendingStatus::failed, PendingStatus::expired,
                                 PendingStatus::cancelled};
constexpr std::string_view digest_key = R"(,"digest":")";
constexpr std::size_t digest_size = 64;
constexpr std::size_t folder_name_max = 200;
constexpr Duration write_within_min{1'000};
constexpr std::size_t calls_per_ms = 10;  // about 2 KB

void add_by_session(json::Writer& out, Contents const& contents) {
    out.key("bySession").begin_object();
    std::optional<SessionId> session;
    for (auto const& [id, entry] : contents.calls) {
        if (session != id.session) {
            if (session) out.end_array();
            out.key(id.session.text()).begin_array();
            session = id.session;
        }
        out.value(id.text());
    }
    if (session) out.end_array();
    out.end_object();
}

void add_by_status(json::Writer& out, Contents const& contents) {
    out.key("byStatus").begin_object();
    for (PendingStatus const status : statuses) {
        out.key(word_of(status)).begin_array();
        for (auto const& [id, entry] : contents.calls)
            if (entry.status == status) out.value(id.text());
        out.end_array();
    }
    out.end_object();
}

void add_by_expiration(json::Writer& out, Contents const& contents) {
    std::vector<std::pair<Time, PendingId>> due;
    for (auto const& [id, entry] : contents.calls)
        if (entry.expires) due.emplace_back(*entry.expires, id);
    std::ranges::sort(due);
    out.key("byExpiration").begin_array();
    for (auto const& [at, id] : due) {
        out.begin_object().member("pendingID", id.text());
        out.member("expiresAt", to_ms(at)).end_object();
    }
    out.end_array();
}

// The text before the digest; nullopt: the digest is another one.
std::optional<std::string_view> digested(std::string_view text) {
    constexpr std::size_t tail = digest_key.size() + digest_size + 2;
    if (text.size() < tail || !text.ends_with("\"}")) return std::nullopt;
    auto const body = text.substr(0, text.size() - tail);
    auto const rest = text.substr(body.size());
    bool const same = rest.starts_with(digest_key) &&
                      rest.substr(digest_key.size(), digest_size) == hex(sha256(body));
    return same ? std::optional(body) : std::nullopt;
}

bool read_calls(json::View statuses_read, Contents& out) {
    bool good = true;
    for (PendingStatus const status : statuses) {
        statuses_read[word_of(status)].elements([&](json::View id) {
            auto const call = PendingId::parse(id.string_or(""));
            good = good && call && out.calls.emplace(*call, CallEntry{status}).second;
        });
    }
    return good;
}

bool read_expirations(json::View list, Contents& out) {
    bool good = true;
    list.elements([&](json::View one) {
        auto const call = PendingId::parse(one["pendingID"].string_or(""));
        auto const at = one["expiresAt"].integer();
        auto const found = call ? out.calls.find(*call) : out.calls.end();
        good = good && at && found != out.calls.end();
        if (good) found->second.expires = from_ms(*at);
    });
    return good;
}

bool stays(char c, bool first) {
    return is_letter_or_digit(c) || c == '-' || c == '_' || (c == '.' && !first);
}

}  // namespace

std::string text_of(Contents const& contents) {
    json::Writer out;
    out.begin_object();
    add_by_session(out, contents);
    add_by_status(out, contents);
    add_by_expiration(out, contents);
    out.member("position", contents.position).end_object();
    std::string text = out.take();
    text.pop_back();
    std::string const digest = hex(sha256(text));
    return text.append(digest_key).append(digest).append("\"}");
}

Duration write_within(Contents const& contents) {
    return std::max(write_within_min, Duration(contents.calls.size() / calls_per_ms));
}

std::optional<Contents> parse_contents(std::string_view text) {
    if (!digested(text) || !json::check(text)) return std::nullopt;
    json::View const all(text);
    Contents out;
    out.position = all["position"].string_or("");
    bool const good = !out.position.empty() && read_calls(all["byStatus"], out) &&
                      read_expirations(all["byExpiration"], out);
    return good ? std::optional(std::move(out)) : std::nullopt;
}

std::string folder_of(std::string_view project) {
    std::string out;
    for (char const c : project) {
        if (stays(c, out.empty()))
            out += c;
        else
            out += "%" + hex(std::array{static_cast<std::uint8_t>(c)});
    }
    if (out.empty()) return "%";
    return out.size() <= folder_name_max ? out : "%%" + hex(sha256(project));
}

}  // namespace dormouse::store::files
