#pragma once
// A whole session apart from any store, and its lines in an export (docs/format.md#export).

#include "port/store.h"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::runner {

inline constexpr int transfer_format = 2;
inline constexpr std::size_t transfer_line_bytes_max = std::size_t{64} << 20;
inline constexpr std::size_t transfer_session_bytes_max = std::size_t{1} << 30;

// Everything that a store holds of a session and its events do not. Frames are in order; if
// retention removed the beginning, the first one is the base.
struct Portable {
    SessionId id;
    std::vector<port::Frame> frames;
    std::map<Seq, std::shared_ptr<std::string const>> artifacts;
    std::vector<port::PendingRow> pending;
    std::vector<port::KeyRow> keys;
    std::vector<port::OutboxRow> outbox;
    std::vector<port::SecretRow> secrets;  // of webhooks of open pauses
    std::vector<port::RuleRow> rules;      // those that answer only in this session
};

// The first line of an export.
struct TransferHead {
    std::string release;
    Time at{};
    std::vector<SessionId> sessions;
    // Ids that messages of these sessions give to sessions which do not exist yet.
    std::vector<SessionId> reserved;
};

[[nodiscard]] std::string head_line(TransferHead const& head);
// Errors: bad_value (no export, or one of events only), newer_format.
[[nodiscard]] Result<TransferHead> read_head(std::string_view line);

// The digest of a session's lines, one after the other.
class LineDigest {
public:
    void add(std::string_view line);
    [[nodiscard]] std::string text() const;  // sha256:…

private:
    Sha256 sum_{};
};

// Lines of one session: the first, then rows in any order.
[[nodiscard]] std::string session_line(port::SessionRow const& row);
[[nodiscard]] std::string row_line(port::Frame const& frame);
[[nodiscard]] std::string row_line(port::PendingRow const& row);
[[nodiscard]] std::string row_line(port::KeyRow const& row);
[[nodiscard]] std::string row_line(port::OutboxRow const& row);
[[nodiscard]] std::string row_line(port::SecretRow const& row);
[[nodiscard]] std::string row_line(port::RuleRow const& row);
[[nodiscard]] std::string artifact_line(Seq seq, std::string_view bytes);

// New ids by old ones.
using NewIds = std::map<SessionId, SessionId>;
// Puts the new id in the place of the old one wherever the text has any id of a session.
[[nodiscard]] std::string renamed(std::string text, NewIds const& ids);
// The same for the key of an outbox message.
[[nodiscard]] std::string renamed_key(std::string key, NewIds const& ids);

// Reads one line of a session and adds it to `session`. Errors: bad_value.
[[nodiscard]] Result<void> read_row(std::string_view line, NewIds const& ids, Portable& session);

}  // namespace dormouse::runner
