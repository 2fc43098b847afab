#pragma once
// The place that each encrypted piece is bound to: its kind and its key. A piece that was moved to
// another place, or taken from another kind, does not open. No two places have the same text.

#include "port/store_rows.h"

#include <string>

namespace dormouse::store::places {

[[nodiscard]] inline std::string of(char const* kind, SessionId session) {
    return std::string(kind) + '\n' + session.bare();
}

template <class... Numbers>
[[nodiscard]] std::string of(char const* kind, SessionId session, Numbers... numbers) {
    std::string out = of(kind, session);
    ((out += '\n' + std::to_string(numbers)), ...);
    return out;
}

[[nodiscard]] inline std::string frame(SessionId session, port::Frame const& frame) {
    return of("frame", session, frame.first, frame.count);
}
[[nodiscard]] inline std::string snapshot(SessionId session, port::SnapshotRow const& row) {
    return of("snapshot", session, row.seq, row.format);
}
[[nodiscard]] inline std::string artifact(SessionId session, Seq seq) {
    return of("artifact", session, seq);
}
[[nodiscard]] inline std::string title(SessionId session) { return of("title", session); }
[[nodiscard]] inline std::string message(port::OutboxKey const& key) {
    return of("message", key.from, key.seq, key.n);
}
[[nodiscard]] inline std::string message_error(port::OutboxKey const& key) {
    return of("message error", key.from, key.seq, key.n);
}
[[nodiscard]] inline std::string secret(SessionId session, CallNo call, Generation generation) {
    return of("secret", session, call, generation);
}
[[nodiscard]] inline std::string sent(SessionId session, port::SentRow const& row) {
    return of("sent", session, row.call, row.generation) + '\n' + row.target + '\n' + row.reference;
}
[[nodiscard]] inline std::string kept(Bits128 const& key) {
    return "kept\n" + std::string(key.begin(), key.end());
}
[[nodiscard]] inline std::string rule(std::string const& id) { return "rule\n" + id; }
[[nodiscard]] inline std::string value(std::string const& name) { return "value\n" + name; }
[[nodiscard]] inline std::string device(char const* what, std::string const& id) {
    return std::string("device ") + what + '\n' + id;
}

}  // namespace dormouse::store::places
