#pragma once
// The members of a delivery (http/objects/fields.h).

#include "http/objects/fields.h"
#include "port/store_rows.h"

namespace dormouse::http {

[[nodiscard]] std::string delivery_id(port::OutboxRow const& row);
[[nodiscard]] std::string delivery_type(port::OutboxRow const& row);

template <>
inline constexpr auto rows<port::OutboxRow> = object(
    "Delivery", "A webhook or a notification, and what became of it.", field("id", delivery_id),
    of(&port::OutboxRow::key, field("sessionID", &port::OutboxKey::from),
       field("seq", &port::OutboxKey::seq)),
    field("url", &port::OutboxRow::target),
    field("type", delivery_type, {.words = "call event notify program unknown"}),
    field("state", &port::OutboxRow::state), field("attempts", &port::OutboxRow::attempts),
    field("nextAt",
          [](port::OutboxRow const& row) {
              bool const open = row.state == port::OutboxState::pending;
              return open ? std::optional(row.next_at) : std::nullopt;
          }),
    field("lastStatus", or_null(&port::OutboxRow::last_status)),
    field("lastError", or_null(&port::OutboxRow::last_error)),
    nested("time", "", field("created", &port::OutboxRow::created),
           field("delivered", &port::OutboxRow::delivered)));

}  // namespace dormouse::http
