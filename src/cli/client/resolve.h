#pragma once
// Expands ids that were shortened to a unique prefix, and numbers of the list shown last (#3).

#include "cli/client/client.h"

#include <span>
#include <string>
#include <string_view>

namespace dormouse::cli {

// Returns the one of `ids` that `given` names: the id itself, or the only one that begins with it
// (with or without `prefix`, "ses_" or "pnd_"). Fails with not found or ambiguous (exit `conflict`,
// naming the candidates). Pure.
[[nodiscard]] Outcome<std::string> match(std::string_view given, std::string_view prefix,
                                         std::span<std::string const> ids);

// Returns the whole id of a session (`given` may be its alias) or of a pending call. Whole ids are
// returned without a request; a prefix is searched in the newest `resolve_max` sessions of the
// project. Settled calls count too: otherwise a repeated command would settle the next call of its
// session.
inline constexpr std::size_t resolve_max = 10'000;
[[nodiscard]] Outcome<std::string> resolve_session(Client& client, std::string const& project,
                                                   std::string const& given);
[[nodiscard]] Outcome<std::string> resolve_pending(Client& client, std::string const& project,
                                                   std::string const& given);
// Resolves an id whose own prefix (ses_, pnd_) says what it names, for commands that take both.
// Without a prefix it is a session.
[[nodiscard]] Outcome<std::string> resolve_either(Client& client, std::string const& project,
                                                  std::string const& given);
// The same with ids of turns, messages, parts and receipts: a shortened one resolves to its
// session.
[[nodiscard]] Outcome<std::string> resolve_any(Client& client, std::string const& project,
                                               std::string const& given);

// Returns why a session is in error or paused, from its newest 200 events up to `seq`; empty:
// unknown.
[[nodiscard]] std::string why_stopped(Client& client, std::string const& session, std::int64_t seq);

}  // namespace dormouse::cli
