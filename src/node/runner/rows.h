#pragma once
// The rows that an append carries beside its events; all of them can be rebuilt from the journal.

#include "port/store.h"
#include "session/key.h"
#include "session/post.h"
#include "session/state.h"
#include "wire/record.h"

#include <map>
#include <string>
#include <vector>

namespace dormouse::runner {

[[nodiscard]] port::PendingRow pending_row(session::PendingChange const& change);
// What a command brings that stands beside the journal, and is in none of its events.
struct Beside {
    std::map<CallNo, std::string> secrets = {};      // of the pauses that calls of it make
    std::vector<std::string> of_reply = {};          // of a reply's calls, in their order
    std::vector<port::DeliveredRow> delivered = {};  // once it has settled something
    std::optional<port::BaseRow> base = {};          // once the history is cut
};
// Takes it out of the command.
[[nodiscard]] Beside take_beside(session::Command& command);
// The rows for what came of the command.
void add_beside(Beside const& beside, std::vector<session::Event> const& events,
                port::Append& append);
// Mail that only a person lets go on, in a row of kind "held" each, so that it can be listed.
// REQUIRES: `before` is the inbox before the events, `state` comes after them.
inline constexpr std::string_view held_kind = "held";
inline constexpr std::uint32_t held_n = UINT32_MAX;
[[nodiscard]] std::vector<session::InboxItem> held_in(session::State const& state);
void add_held(std::vector<session::InboxItem> const& before, session::State const& state,
              std::vector<session::Event> const& events, port::Append& append);
[[nodiscard]] port::SessionRow session_row(session::State const& state);
// A post that waits to be delivered, from now on.
[[nodiscard]] port::PostRow post_row(session::State const& state, session::Post const& post,
                                     Time at);
// The session's row, when one of the events changes what it shows.
// Whether they give the session an alias.
[[nodiscard]] bool claims_alias(std::vector<wire::RecordPtr> const& records);
[[nodiscard]] std::optional<port::SessionRow> changed_row(
    session::State const& state, std::vector<wire::RecordPtr> const& records);

}  // namespace dormouse::runner
