#pragma once
// Identifiers. A session's id is 16 bytes: the first five hold the number under which the store
// keeps the session (so no index is needed), the rest is random. The id of anything that belongs to
// a session contains the session's id and a number, so a node can find the session from the text of
// any id alone:
//   ses_<22>                      session
//   trn_<22>_<n>                  the session's n-th turn
//   msg_<22>_<n>                  the message that event n added
//   rcp_<22>_<n>                  the receipt that event n created
//   art_<22>_<n>                  the artifact that event n names
//   rul_<22>_<n>                  the standing rule that event n made
//   tsk_<22>_<n>                  the session's n-th task
//   mail_<22>_<n>                 the mail that event n sent
//   dlv_<22>_<n>_<k>              the k-th delivery that event n sent
//   pnd_<22>_<call>_<gen>_<22>    one pause of one call; the last part is 128 random bits
// <22> is base64url (RFC 4648 §5) of 16 bytes, without padding. An id grants no rights.

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace dormouse::inline v0 {

using Seq = std::uint64_t;     // number of an event in its session, from 1 without gaps
using Epoch = std::uint64_t;   // how often the store was opened; names the process that wrote an
                               // intent
using CallNo = std::uint32_t;  // number of a tool call in its session, from 1
using TurnNo = std::uint32_t;  // number of a turn in its session, from 1
using TaskNo = std::uint32_t;  // number of a task in its session, from 1
using Generation = std::uint32_t;  // number of a pause of one call, from 1
using Bits128 = std::array<std::uint8_t, 16>;

struct SessionId {
    Bits128 bytes{};

    // REQUIRES: number < 2^40. The first five bytes of `random` are replaced.
    [[nodiscard]] static SessionId make(std::uint64_t number, Bits128 random);
    [[nodiscard]] static std::optional<SessionId> parse(std::string_view text);
    [[nodiscard]] std::uint64_t number() const;  // 40 bits
    [[nodiscard]] std::string text() const;      // ses_…
    [[nodiscard]] std::string bare() const;      // the 22 characters alone

    friend auto operator<=>(SessionId const&, SessionId const&) = default;
};

struct PendingId {
    SessionId session;
    CallNo call = 0;
    Generation generation = 0;
    Bits128 nonce{};

    [[nodiscard]] static std::optional<PendingId> parse(std::string_view text);
    [[nodiscard]] std::string text() const;  // pnd_…

    friend auto operator<=>(PendingId const&, PendingId const&) = default;
};

// The prefix ("trn_", "msg_", "rcp_", "art_", "rul_", "tsk_" or "mail_"), the session and the
// number.
[[nodiscard]] std::string numbered_id(std::string_view prefix, SessionId const& session,
                                      std::uint64_t number);

struct NumberedId {
    SessionId session;
    std::uint64_t number = 0;
};
// nullopt if `text` is not `prefix`_<22>_<n>.
[[nodiscard]] std::optional<NumberedId> parse_numbered(std::string_view prefix,
                                                       std::string_view text);

// Returns the session that an id belongs to. `id` may be any kind of id (ses_, trn_, msg_, rcp_,
// art_, rul_, tsk_, mail_, dlv_, pnd_, prt_).
[[nodiscard]] std::optional<SessionId> session_of(std::string_view id);

}  // namespace dormouse::inline v0

template <> struct std::hash<dormouse::SessionId> {
    std::size_t operator()(dormouse::SessionId const& id) const noexcept;
};

#pragma GCC visibility pop
