#pragma once
// What is sent out because of events: a call's outcome to its webhookURL, session events to those
// who want them, and word to people. Made with the append that causes it and stored as one of its
// rows, so that nothing is sent that is not durable, and nothing durable is not sent. Pure.

#include "port/store.h"
#include "session/key.h"
#include "wire/record.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dormouse::webhook {

// The kind of all these rows.
inline constexpr std::string_view post_kind = "webhook";

// Session events for one receiver.
struct Hook {
    std::string url;
    std::string secret;
    std::vector<std::string> events;
    std::string project = {};  // empty: of all
};

// Word to people. `target` names it in rows, never its address, which is a secret.
struct Notice {
    enum class Kind : std::uint8_t { slack, webhook, command };
    Kind kind = Kind::slack;
    std::string target;                     // "notify:SLACK_URL"
    std::string url = {};                   // slack, webhook
    std::vector<std::string> command = {};  // the program and its arguments
    std::vector<std::string> on = {};
    std::vector<session::PauseReason> reasons = {};
};

struct Outgoing {
    std::vector<Hook> hooks = {};
    std::vector<Notice> notices = {};
    // Whether programs that are agents are told that a session of theirs was deleted.
    bool programs = false;
    // The page of a pending call; empty: there is no address that people know.
    std::function<std::string(PendingId const&)> page = {};
};

// A row's body: how it is meant, in one line, and what is sent.
struct Letter {
    // `program`: {"names": what the agent's program calls the session, "cwd"}; its target is
    // "agent:" and the agent.
    enum class Kind : std::uint8_t { call, event, notice, program };
    Kind kind = Kind::event;
    std::optional<PendingId> pending = {};  // of kind call: whose secret signs it
    std::string tool = {};                  // of kind call: whose secret does if that has none
    std::string body = {};
};
[[nodiscard]] std::string write_letter(Letter const& letter);
// nullopt: of a newer release.
[[nodiscard]] std::optional<Letter> read_letter(std::string_view text);

// The rows for the records of one command. `state` is the one after them.
[[nodiscard]] std::vector<port::PostRow> posts_of(
    Outgoing const& outgoing, session::State const& state, std::span<wire::RecordPtr const> records,
    std::vector<session::PendingChange> const& changes);

// dlv_<session>_<event>_<n>: also the webhook-id, the same at every attempt.
[[nodiscard]] std::string delivery_text(port::PostKey const& key);
[[nodiscard]] std::optional<port::PostKey> parse_delivery(std::string_view text);

// "2026-11-22T08:00:00.000Z"
[[nodiscard]] std::string iso_time(Time at);

}  // namespace dormouse::webhook
