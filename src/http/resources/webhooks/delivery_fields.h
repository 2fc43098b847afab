#pragma once
// The members of a delivery (http/objects/fields.h).

#include "http/objects/fields.h"
#include "port/store_rows.h"

namespace dormouse::http {

[[nodiscard]] std::string delivery_id(port::PostRow const& row);
[[nodiscard]] std::string delivery_type(port::PostRow const& row);

template <>
inline constexpr auto rows<port::PostRow> = object(
    "Delivery", "A webhook or a notification, and what became of it.", field("id", delivery_id),
    of(&port::PostRow::key, field("sessionID", &port::PostKey::from),
       field("seq", &port::PostKey::seq)),
    field("url", &port::PostRow::target),
    field("type", delivery_type, {.words = "call event notify program unknown"}),
    field("state", &port::PostRow::state), field("attempts", &port::PostRow::attempts),
    field("nextAt",
          [](port::PostRow const& row) {
              bool const open = row.state == port::PostState::pending;
              return open ? std::optional(row.next_at) : std::nullopt;
          }),
    field("lastStatus", or_null(&port::PostRow::last_status)),
    field("lastError", or_null(&port::PostRow::last_error)),
    nested("time", "", field("created", &port::PostRow::created),
           field("delivered", &port::PostRow::delivered)));

}  // namespace dormouse::http
