#pragma once
// Devices that get notifications: changes in the store, and the queries of the webhook pump.

#include "http/resources/api.h"
#include "webhook/outgoing.h"

#include <optional>
#include <string>
#include <vector>

namespace dormouse::http {

// Adds a device. It gets notifications when the store has it. Errors: conflict (its token has
// ended), those of the store.
void add_device(Api& api, session::Actor const& by, port::DeviceRow row,
                port::Fn<void(Result<void>)> done);
// Removes a device; it gets nothing from here on. `type`: in the audit log.
void remove_device(Api& api, std::string_view type, session::Actor const& by, std::string const& id,
                   port::Fn<void(Result<void>)> done);

// The devices of tokens that are valid and may answer. Starts to delete expired tokens, whose
// devices go with them.
[[nodiscard]] std::vector<webhook::PushReceiver> push_receivers(Api& api);
// The device to send to; nullopt: it was removed, or its token has ended.
[[nodiscard]] std::optional<webhook::PushDevice> push_device_of(Api& api, std::string const& id);
// Calls `then` with true if the call still waits. A call that cannot be read counts as waiting.
void ask_waits(Api& api, PendingId const& pending, port::Fn<void(bool)> then);

}  // namespace dormouse::http
