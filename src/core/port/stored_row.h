#pragma once
// Shared by the stores on disk: the form of numbers, digests and lists of names in rows, and the
// detection of damaged rows.

#include "base/check.h"
#include "port/data_keys.h"
#include "port/store_rows.h"

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::port {

inline constexpr int seq_bits = 24;
inline constexpr Seq seq_end = Seq{1} << seq_bits;  // the first that does not fit
inline constexpr std::size_t key_size_max = 64;

// A place in a session as one number. REQUIRES: seq < seq_end.
[[nodiscard]] constexpr std::int64_t key_of(std::uint64_t number, Seq seq) {
    CHECK(seq < seq_end);
    return static_cast<std::int64_t>(number << seq_bits | seq);
}

// Detects damage to any row but a frame: the first 32 bits of SHA-256 over two numbers that
// identify the row (big-endian, 8 bytes each) and its bytes. For a frame see stamp_of().
[[nodiscard]] std::int64_t checksum(std::int64_t place, std::int64_t detail,
                                    std::string_view bytes);

// nullopt: another length.
[[nodiscard]] std::optional<Sha256> digest_of(std::string_view bytes);
// Zeros for bytes of another length; they match no key and no digest.
[[nodiscard]] Bits128 bits_of(std::string_view bytes);
// Each name ends with a line break.
[[nodiscard]] std::vector<std::string> names_of(std::string_view lines);
[[nodiscard]] std::string lines_of(std::vector<std::string> const& names);
// The bytes of Bits128 or Sha256, as long as it lives.
[[nodiscard]] std::string_view bytes_of(auto const& bits) {
    return {reinterpret_cast<char const*>(bits.data()), bits.size()};
}
// The statuses of a filter as a set of bits; all for none.
[[nodiscard]] std::int64_t statuses_of(PendingFilter const& filter);

// A row of a query: integer(i) of NULL is 0, maybe_integer(i) of NULL is nullopt.
template <class Row>
concept QueryRow = requires(Row const& row, int column) {
    { row.text(column) } -> std::convertible_to<std::string_view>;
    { row.integer(column) } -> std::convertible_to<std::int64_t>;
    { row.maybe_integer(column) } -> std::convertible_to<std::optional<std::int64_t>>;
};

// The value of a row, or a description of what is damaged.
template <class T> using ReadRow = std::expected<T, std::string>;

[[nodiscard]] ReadRow<SessionId> read_session_id(std::string_view bare);

template <QueryRow Row> std::string read_text(Row const& row, int column) {
    return std::string(std::string_view(row.text(column)));
}

template <QueryRow Row> std::optional<Time> read_time(Row const& row, int column) {
    auto const ms = row.maybe_integer(column);
    return ms ? std::optional(from_ms(*ms)) : std::nullopt;
}

// Columns: id, project, agent, alias, title, status, created, updated, turn.
template <QueryRow Row> ReadRow<SessionRow> read_session(Row const& row) {
    auto const id = read_session_id(row.text(0));
    if (!id) return std::unexpected(id.error());
    return SessionRow{.id = *id,
                      .project = read_text(row, 1),
                      .agent = read_text(row, 2),
                      .alias = read_text(row, 3),
                      .title = read_text(row, 4),
                      .status = read_text(row, 5),
                      .created = from_ms(row.integer(6)),
                      .updated = from_ms(row.integer(7)),
                      .turn = static_cast<TurnState>(row.integer(8))};
}

// Columns: call, generation, status, tool, created, timeout, paused, settled, external reference.
template <QueryRow Row> PendingRow read_pending(Row const& row) {
    return {.call = static_cast<CallNo>(row.integer(0)),
            .generation = static_cast<Generation>(row.integer(1)),
            .status = static_cast<PendingStatus>(row.integer(2)),
            .tool = read_text(row, 3),
            .created = from_ms(row.integer(4)),
            .timeout = read_time(row, 5),
            .paused = static_cast<Seq>(row.integer(6)),
            .settled = static_cast<Seq>(row.integer(7)),
            .external_ref = read_text(row, 8)};
}

// Columns: id, event (as the store has it: not read here), number, state, next attempt, kind,
// target, whether it creates a session (NULL: no), created, attempts, last status, last error,
// delivered, checksum, body.
template <QueryRow Row> ReadRow<OutboxRow> read_outbox(Row const& row, Seq seq) {
    auto const from = read_session_id(row.text(0));
    if (!from) return std::unexpected(from.error());
    if (seq >= seq_end) return std::unexpected("an outbox message of " + from->text());
    OutboxRow out;
    out.key = {*from, seq, static_cast<std::uint32_t>(row.integer(2))};
    out.state = static_cast<OutboxState>(row.integer(3));
    out.next_at = from_ms(row.integer(4));
    out.kind = row.text(5);
    out.target = row.text(6);
    if (row.maybe_integer(7)) out.makes = SessionId::parse(out.target);
    out.created = from_ms(row.integer(8));
    out.attempts = static_cast<std::uint32_t>(row.integer(9));
    out.last_status = static_cast<std::int32_t>(row.integer(10));
    out.last_error = row.text(11);
    out.delivered = read_time(row, 12);
    out.body = row.text(14);
    if (checksum(key_of(from->number(), seq), out.key.n, out.body) != row.integer(13)) {
        return std::unexpected("an outbox message of " + from->text() + ", event " +
                               std::to_string(seq));
    }
    return out;
}

// Columns: key, digest, delivery id, time, source, project, reference, body.
template <QueryRow Row> KeptRow read_kept(Row const& row) {
    return {.delivery = {bits_of(row.text(0)), bits_of(row.text(1))},
            .delivery_id = read_text(row, 2),
            .at = from_ms(row.integer(3)),
            .source = read_text(row, 4),
            .project = read_text(row, 5),
            .reference = read_text(row, 6),
            .body = read_text(row, 7)};
}

// Columns: id, kind, name, role, projects, agents, digest of the secret, created, expires.
template <QueryRow Row> ReadRow<TokenRow> read_token(Row const& row) {
    auto const secret = digest_of(row.text(6));
    if (!secret) return std::unexpected("token " + read_text(row, 0));
    return TokenRow{.id = read_text(row, 0),
                    .kind = read_text(row, 1),
                    .name = read_text(row, 2),
                    .role = read_text(row, 3),
                    .projects = names_of(row.text(4)),
                    .agents = names_of(row.text(5)),
                    .secret = *secret,
                    .created = from_ms(row.integer(7)),
                    .expires = read_time(row, 8)};
}

// Columns: id, token, person, role, label, endpoint, p256dh, auth, created.
template <QueryRow Row> DeviceRow read_device(Row const& row) {
    return {.id = read_text(row, 0),
            .token = read_text(row, 1),
            .person = read_text(row, 2),
            .role = read_text(row, 3),
            .label = read_text(row, 4),
            .endpoint = read_text(row, 5),
            .p256dh = read_text(row, 6),
            .auth = read_text(row, 7),
            .created = from_ms(row.integer(8))};
}

// Columns: id, id of the master key, mixed, wrapped.
template <QueryRow Row> DataKeyRow read_data_key(Row const& row) {
    return {read_text(row, 0), read_text(row, 1), row.integer(2) != 0, read_text(row, 3)};
}

// Columns: id, the session's number (NULL: none), its id, uses, last use, checksum, body. A damaged
// row is an error: it might answer more than a person meant.
template <QueryRow Row> ReadRow<RuleRow> read_rule(Row const& row) {
    RuleRow out;
    out.id = row.text(0);
    auto const number = row.maybe_integer(1);
    if (number) out.session = SessionId::parse("ses_" + read_text(row, 2));
    out.uses = static_cast<std::uint64_t>(row.integer(3));
    out.used = read_time(row, 4);
    out.body = row.text(6);
    bool const whole = number.has_value() == out.session.has_value() &&
                       row.integer(5) == checksum(number.value_or(0), 0, out.id + out.body);
    if (!whole) return std::unexpected("rule " + out.id);
    return out;
}

// A statement under its name.
template <class Name> struct Named {
    Name name;
    char const* text;
};

// Returns the texts only; compiles only if the entries are in the order of their enumeration.
template <class Name, std::size_t size>
consteval std::array<char const*, size> in_order(Named<Name> const (&entries)[size]) {
    std::array<char const*, size> texts{};
    for (std::size_t i = 0; i < size; ++i) {
        if (static_cast<std::size_t>(entries[i].name) != i) throw "out of order";
        texts[i] = entries[i].text;
    }
    return texts;
}

}  // namespace dormouse::port
