#pragma once
// The outgoing messages that events cause: a call's outcome to its webhookURL, session events to
// subscribers, and notifications to people. They are created and stored in the append of their
// events, so every durable event is sent and nothing else is. Pure.

#include "port/store.h"
#include "session/key.h"
#include "session/tracing.h"
#include "webhook/notice.h"
#include "wire/journal/record.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace dormouse::webhook {

// The kind of all these outbox rows.
inline constexpr std::string_view webhook_kind = "webhook";

// A subscription of one receiver to session events.
struct Hook {
    std::string url;
    std::string secret;
    std::vector<std::string> events;
    std::string project = {};  // empty: all projects
};

// A device of a person who may answer calls of these projects (empty: all) under these roles.
struct PushReceiver {
    std::string device;  // its id
    std::string person;
    std::vector<std::string> projects = {};
    std::vector<std::string> roles = {};  // "role:answer"
};
// The target of a device's rows: this and its id.
inline constexpr std::string_view push_target = "notify:web-push:";

struct Outgoing {
    std::vector<Hook> hooks = {};
    std::vector<Notice> notices = {};
    // Returns the devices that get notices of kind web_push. Empty: there are none.
    std::function<std::vector<PushReceiver>()> devices = {};
    // True if external agents are notified when one of their sessions was deleted.
    bool programs = false;
    // Returns the page of a pending call; empty: there is no public address.
    std::function<std::string(PendingId const&)> page = {};
    session::TraceRules tracing = {};
};

// The body of a row: its kind in one line, then the content.
struct Letter {
    // `program`: {"names": the external agent's ids of the session, "cwd"}; the row's target is
    // "agent:" and the agent's name.
    enum class Kind : std::uint8_t { call, event, notice, external_agent };
    Kind kind = Kind::event;
    std::optional<PendingId> pending = {};  // only for `call`: its secret signs the body
    std::string tool = {};  // only for `call`: its secret is used if the call has none
    std::string body = {};
    session::TraceHeaders trace = {};  // of the turn to which the delivery belongs
    // Marks the event, as 8 hex digits: a store that fell back to an earlier state may give the
    // number of the event to another one. Empty: an earlier release wrote the letter.
    std::string mark = {};
};
[[nodiscard]] std::string write_letter(Letter const& letter);
// Returns nullopt if a newer release wrote the text.
[[nodiscard]] std::optional<Letter> read_letter(std::string_view text);

// Returns the rows for the records of one command. `state` is the state after them.
[[nodiscard]] std::vector<port::OutboxRow> outbox_of(
    Outgoing const& outgoing, session::State const& state, std::span<wire::RecordPtr const> records,
    std::vector<session::PendingChange> const& changes);

// dlv_<session>_<event>_<n>_<mark>, without the last part if there is no mark. It is also the
// webhook-id: it is the same in every attempt, and no other message has it.
struct DeliveryId {
    port::OutboxKey key;
    std::string mark = {};  // see Letter
    friend bool operator==(DeliveryId const&, DeliveryId const&) = default;
};
[[nodiscard]] std::string delivery_text(DeliveryId const& id);
[[nodiscard]] std::string delivery_text(port::OutboxRow const& row);
[[nodiscard]] std::optional<DeliveryId> parse_delivery(std::string_view text);

}  // namespace dormouse::webhook
