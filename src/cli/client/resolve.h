#pragma once
// Ids may be cut to a unique prefix; here they become whole again.

#include "cli/client/client.h"

#include <span>
#include <string>
#include <string_view>

namespace dormouse::cli {

// The one of `ids` that `given` means: itself, or the only one that begins with it (with or without
// `prefix`, "ses_" or "pnd_"). Failures: not found; ambiguous (exit `conflict`), naming the
// candidates. Pure.
[[nodiscard]] Outcome<std::string> match(std::string_view given, std::string_view prefix,
                                         std::span<std::string const> ids);

// `given` as the whole id of a session (its alias will do) or of a pending call. A whole id is
// returned unasked; a prefix is looked for in the newest `resolve_max` sessions of the project. For
// calls, those that are settled count too: else a command that is repeated would mean the next call
// of its session.
inline constexpr std::size_t resolve_max = 10'000;
[[nodiscard]] Outcome<std::string> resolve_session(Client& client, std::string const& project,
                                                   std::string const& given);
[[nodiscard]] Outcome<std::string> resolve_pending(Client& client, std::string const& project,
                                                   std::string const& given);
// What names itself by its prefix (ses_, pnd_), for commands that take both: with neither, a
// session.
[[nodiscard]] Outcome<std::string> resolve_either(Client& client, std::string const& project,
                                                  std::string const& given);
// The same with ids of turns, messages, parts and receipts: cut ones become their session's.
[[nodiscard]] Outcome<std::string> resolve_any(Client& client, std::string const& project,
                                               std::string const& given);

// Why a session is in error or paused, from its newest 200 events up to `seq`; empty: not known.
[[nodiscard]] std::string why_stopped(Client& client, std::string const& session, std::int64_t seq);

}  // namespace dormouse::cli
