#include "runner/transfer/portable.h"

#include "base/check.h"
#include "base/crypto/sha256.h"
#include "base/enum_words.h"
#include "base/text/text.h"
#include "json/json.h"

#include <utility>

namespace dormouse::runner {

namespace {

constexpr std::size_t bare_size = 22;

json::Writer begin(std::string_view type) {
    json::Writer out;
    out.begin_object().member("type", type);
    return out;
}

std::string end(json::Writer& out) { return out.end_object().take(); }

std::string base64_of(std::string_view bytes) {
    return base64({reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size()});
}

std::optional<std::int64_t> ms(std::optional<Time> const& time) {
    return time ? std::optional(to_ms(*time)) : std::nullopt;
}

void write_ids(json::Writer& out, std::string_view name, std::vector<SessionId> const& ids) {
    out.key(name).begin_array();
    for (SessionId const& id : ids) out.value(id.text());
    out.end_array();
}

bool is_base64url(std::string_view text) {
    return text.find_first_not_of(
               "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
           std::string_view::npos;
}

}  // namespace

std::string head_line(TransferHead const& head) {
    json::Writer out = begin("export");
    out.member("format", transfer_format).member("product", "dormouse");
    out.member("release", head.release).member("at", to_ms(head.at));
    write_ids(out, "sessions", head.sessions);
    write_ids(out, "reserved", head.reserved);
    return end(out);
}

void LineDigest::add(std::string_view line) {
    std::string bytes(reinterpret_cast<char const*>(sum_.data()), sum_.size());
    sum_ = sha256(bytes.append(line));
}

std::string LineDigest::text() const { return digest_text(sum_); }

std::string session_line(port::SessionRow const& row) {
    json::Writer out = begin("session");
    out.member("id", row.id.text()).member("project", row.project).member("agent", row.agent);
    out.member("title", row.title).member("status", row.status);
    return end(out.member("created", to_ms(row.created)).member("updated", to_ms(row.updated)));
}

std::string row_line(port::Frame const& frame) {
    json::Writer out = begin("frame");
    out.member("first", frame.first).member("count", frame.count);
    return end(out.member("events", frame.bytes));
}

std::string artifact_line(Seq seq, std::string_view bytes) {
    json::Writer out = begin("artifact");
    return end(out.member("seq", seq).member("data", base64_of(bytes)));
}

std::string row_line(port::PendingRow const& row) {
    json::Writer out = begin("pending");
    out.member("call", row.call).member("generation", row.generation);
    out.member("status", word_of(row.status)).member("tool", row.tool);
    out.member("created", to_ms(row.created)).member("timeout", ms(row.timeout));
    out.member("paused", row.paused).member("settled", row.settled);
    return end(out.member("ref", row.external_ref));
}

std::string row_line(port::KeyRow const& row) {
    json::Writer out = begin("key");
    return end(out.member("key", base64_of(row.key)).member("seq", row.seq));
}

std::string row_line(port::OutboxRow const& row) {
    json::Writer out = begin("post");
    out.member("seq", row.key.seq).member("n", row.key.n).member("kind", row.kind);
    out.member("target", row.target).member("body", row.body);
    out.member("makes", row.makes ? std::optional(row.makes->text()) : std::nullopt);
    out.member("state", word_of(row.state)).member("created", to_ms(row.created));
    out.member("nextAt", to_ms(row.next_at)).member("attempts", row.attempts);
    out.member("lastStatus", row.last_status).member("lastError", row.last_error);
    return end(out.member("delivered", ms(row.delivered)));
}

std::string row_line(port::SecretRow const& row) {
    json::Writer out = begin("secret");
    out.member("call", row.call).member("generation", row.generation);
    return end(out.member("secret", row.secret));
}

std::string row_line(port::RuleRow const& row) {
    json::Writer out = begin("rule");
    return end(out.member("id", row.id).member("body", row.body));
}

std::string renamed(std::string text, NewIds const& ids) {
    if (ids.empty()) return text;
    // Each id of something in a session is a prefix, "_" and the 22 characters of the session.
    for (std::size_t at = text.find('_'); at != std::string::npos; at = text.find('_', at + 1)) {
        auto const bare = std::string_view(text).substr(at + 1, bare_size);
        if (bare.size() < bare_size) break;
        if (!is_base64url(bare)) continue;
        auto const bits = parse_base64url_128(bare);
        auto const found = bits ? ids.find(SessionId{*bits}) : ids.end();
        if (found == ids.end()) continue;
        std::string const bare_now = found->second.bare();
        CHECK(bare_now.size() == bare_size);
        text.replace(at + 1, bare_size, bare_now);
        at += bare_size;
    }
    return text;
}

std::string renamed_key(std::string key, NewIds const& ids) {
    bool const of_message = !key.empty() && (key.front() == 'o' || key.front() == 'u');
    if (!of_message || key.size() <= bare_size) return key;
    auto const bits = parse_base64url_128(std::string_view(key).substr(1, bare_size));
    auto const found = bits ? ids.find(SessionId{*bits}) : ids.end();
    if (found == ids.end()) return key;
    std::string const bare_now = found->second.bare();
    CHECK(bare_now.size() == bare_size);
    key.replace(1, bare_size, bare_now);
    return key;
}

}  // namespace dormouse::runner
