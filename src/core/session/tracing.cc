#include "session/tracing.h"

#include "base/check.h"
#include "base/crypto/siphash.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

namespace dormouse::session {

namespace {

constexpr std::size_t version_00_bytes = 55;

std::optional<int> digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return std::nullopt;
}

// Accepts lower-case hex digits only.
bool read_hex(std::string_view text, std::span<std::uint8_t> out) {
    if (text.size() != 2 * out.size()) return false;
    for (std::size_t i = 0; i < out.size(); ++i) {
        auto const high = digit(text[2 * i]);
        auto const low = digit(text[2 * i + 1]);
        if (!high || !low) return false;
        out[i] = static_cast<std::uint8_t>(*high * 16 + *low);
    }
    return true;
}

bool is_zero(std::span<std::uint8_t const> bytes) {
    return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

// The thing that an id is derived for. The values are part of the ids: a server that continues a
// turn must derive the same ids.
enum class IdKind : std::uint8_t { trace = 1, turn, resumed, model, tool, delivery, sent };

void put_number(std::uint64_t number, std::uint8_t* to) {
    if constexpr (std::endian::native == std::endian::little) number = __builtin_bswap64(number);
    std::memcpy(to, &number, sizeof number);
}

// The id of the session is the key of the hash: ids of spans do not reveal it.
std::uint64_t id_hash(IdKind kind, std::size_t part, SessionId const& session,
                      std::initializer_list<std::uint64_t> numbers) {
    SipHash out(session.bytes);
    out.add(static_cast<std::uint64_t>(kind) << 8U | part);
    for (std::uint64_t const number : numbers) out.add(number);
    return out.finish();
}

// Returns an id that is never all zero, which would mean "none".
template <class Id>
Id derived(IdKind kind, SessionId const& session, std::initializer_list<std::uint64_t> numbers) {
    Id out;
    for (std::size_t part = 0; part < out.size() / 8; ++part)
        put_number(id_hash(kind, part, session, numbers), out.data() + 8 * part);
    if (is_zero(out)) out.back() = 1;
    return out;
}

// Writes two digits for each byte; returns their end.
char* put_hex(std::span<std::uint8_t const> bytes, char* to) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (std::uint8_t const byte : bytes) {
        *to++ = digits[byte >> 4U];
        *to++ = digits[byte & 0xFU];
    }
    return to;
}

// Decides by the last bytes of the id, so that all processes decide the same.
bool is_sampled(TraceRules const& rules, TraceId const& trace) {
    std::uint64_t number = 0;
    for (std::uint8_t const byte : std::span(trace).last(7)) number = number << 8U | byte;
    return number % TraceRules::all < rules.sampled;
}

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

bool is_key_text(std::string_view text, std::size_t most, bool digit_first) {
    if (text.empty() || text.size() > most) return false;
    bool const digit = text.front() >= '0' && text.front() <= '9';
    if (!is_lower(text.front()) && !(digit_first && digit)) return false;
    return std::ranges::all_of(text, [](char c) {
        return is_lower(c) || (c >= '0' && c <= '9') ||
               std::string_view("_-*/").find(c) != std::string_view::npos;
    });
}

// "vendor" or "tenant@system"
bool is_tracestate_key(std::string_view key) {
    auto const at = key.find('@');
    if (at == std::string_view::npos) return is_key_text(key, 256, false);
    return is_key_text(key.substr(0, at), 241, true) && is_key_text(key.substr(at + 1), 14, false);
}

bool is_tracestate_value(std::string_view value) {
    if (value.empty() || value.size() > 256 || value.back() == ' ') return false;
    return std::ranges::all_of(
        value, [](char c) { return c >= 0x20 && c <= 0x7e && c != ',' && c != '='; });
}

std::string_view without_space(std::string_view text) {
    auto const first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::string with_span(TraceContext context, SpanId const& span) {
    context.span = span;
    return text(context);
}

}  // namespace

std::optional<TraceContext> parse_traceparent(std::string_view value) {
    if (value.size() < version_00_bytes) return std::nullopt;
    std::array<std::uint8_t, 1> version{};
    std::array<std::uint8_t, 1> flags{};
    TraceContext out;
    bool const dashes = value[2] == '-' && value[35] == '-' && value[52] == '-';
    if (!dashes || !read_hex(value.substr(0, 2), version) ||
        !read_hex(value.substr(3, 32), out.trace) || !read_hex(value.substr(36, 16), out.span) ||
        !read_hex(value.substr(53, 2), flags))
        return std::nullopt;
    bool const longer = value.size() > version_00_bytes;
    if (version[0] == 0xff || (version[0] == 0 && longer)) return std::nullopt;
    if (longer && value[version_00_bytes] != '-') return std::nullopt;
    if (is_zero(out.trace) || is_zero(out.span)) return std::nullopt;
    out.sampled = (flags[0] & 1U) != 0;
    return out;
}

std::string text(TraceContext const& context) {
    std::string out(version_00_bytes, '0');
    char* at = out.data() + 2;
    *at++ = '-';
    at = put_hex(context.trace, at);
    *at++ = '-';
    at = put_hex(context.span, at);
    *at = '-';
    CHECK(at + 3 == out.data() + out.size());  // the two digits of the flags are left
    out.back() = context.sampled ? '1' : '0';
    return out;
}

std::string checked_tracestate(std::string_view value) {
    if (value.size() > tracestate_bytes_max) return {};
    std::string out;
    std::vector<std::string_view> keys;
    for (std::size_t from = 0; from <= value.size();) {
        std::size_t const end = std::min(value.find(',', from), value.size());
        std::string_view const member = without_space(value.substr(from, end - from));
        from = end + 1;
        if (member.empty()) continue;
        auto const equals = member.find('=');
        if (equals == std::string_view::npos) return {};
        std::string_view const key = member.substr(0, equals);
        bool const is_new = std::ranges::find(keys, key) == keys.end();
        if (!is_new || keys.size() == tracestate_members_max || !is_tracestate_key(key) ||
            !is_tracestate_value(member.substr(equals + 1)))
            return {};
        keys.push_back(key);
        out += (out.empty() ? "" : ",") + std::string(member);
    }
    CHECK(out.size() <= value.size());
    return out;
}

TraceHeaders read_trace(std::string_view parent, std::string_view state) {
    auto const context = parse_traceparent(parent);
    if (!context) return {};
    return {text(*context), checked_tracestate(state)};
}

TraceContext trace_of_turn(TraceRules const& rules, SessionId const& session, TurnNo turn,
                           std::string_view received) {
    if (auto const context = parse_traceparent(received)) return *context;
    TraceContext out;
    out.trace = derived<TraceId>(IdKind::trace, session, {turn});
    out.sampled = is_sampled(rules, out.trace);
    return out;
}

SpanId turn_span(SessionId const& session, TurnNo turn) {
    return derived<SpanId>(IdKind::turn, session, {turn});
}

SpanId resumed_span(SessionId const& session, TurnNo turn, Seq since) {
    return derived<SpanId>(IdKind::resumed, session, {turn, since});
}

SpanId model_span(SessionId const& session, TurnNo turn, std::uint32_t step,
                  std::uint32_t attempt) {
    return derived<SpanId>(IdKind::model, session, {turn, step, attempt});
}

SpanId tool_span(SessionId const& session, CallNo call, Generation generation,
                 std::uint32_t attempt) {
    return derived<SpanId>(IdKind::tool, session, {call, generation, attempt});
}

SpanId delivery_span(SessionId const& from, Seq event, std::uint32_t n, std::uint32_t attempt) {
    return derived<SpanId>(IdKind::delivery, from, {event, n, attempt});
}

SpanId sent_span(SessionId const& from, Seq event) {
    return derived<SpanId>(IdKind::sent, from, {event});
}

TraceHeaders passed_on(TraceRules const& rules, SessionId const& session, TurnNo turn,
                       TraceHeaders const& received, SpanId const& span) {
    if (!rules.on) return received;
    return {with_span(trace_of_turn(rules, session, turn, received.parent), span), received.state};
}

TraceHeaders passed_on(TraceRules const& rules, SessionId const& session, AskModel const& ask) {
    return passed_on(rules, session, ask.turn, ask.trace,
                     model_span(session, ask.turn, ask.step, ask.attempt));
}

TraceHeaders passed_on(TraceRules const& rules, RunTool const& run) {
    SessionId const& session = run.pending.session;
    return passed_on(rules, session, run.turn, run.trace,
                     tool_span(session, run.pending.call, run.pending.generation, run.attempt));
}

TraceHeaders passed_on(TraceRules const& rules, SessionId const& session, AskGate const& ask) {
    return passed_on(rules, session, ask.turn, ask.trace, turn_span(session, ask.turn));
}

}  // namespace dormouse::session
