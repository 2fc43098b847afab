#pragma once
// Elicitation: the client asks its user a question that waits in Dormouse. The inbox has the
// question too, and the first answer counts. The client's answer is noted in the pending call, so
// that it is asked once, also after a restart. Pure.

#include "json/json.h"
#include "mcp/api.h"
#include "mcp/versions.h"
#include "rpc/message.h"

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::mcp {

// The way in which a client asks its user.
struct Elicits {
    Abilities client = {};
    std::string base_url = {};  // of this server, for pages on which people answer
    [[nodiscard]] bool any() const { return client.form || (client.url && !base_url.empty()); }
};

// Returns true if the client has no answer to this question yet.
[[nodiscard]] bool may_elicit(json::View call);

// The parameters of elicitation/create for this pending call: a form, or a page if the client has
// no forms. `task`: the id of the task that it belongs to; empty: none. REQUIRES: elicits.any().
[[nodiscard]] Json elicitation(json::View call, Elicits const& elicits, std::string const& task,
                               Era era);

// The id of a request for this call, up to 2025-11-25; and the call of an id, empty: it is not
// ours.
[[nodiscard]] std::string elicitation_id(std::string_view call);
[[nodiscard]] std::string elicited_call(Json const& id);

// Sends the client the request, if it can ask and has not answered yet.
void elicit(json::View call, Elicits const& elicits, std::string const& task,
            TicketPtr const& ticket);
// Notifies a client that got the request that the call is settled.
void end_elicitation(json::View call, Elicits const& elicits, TicketPtr const& ticket);

// Settles the call as the client's user answered: `accept` with what the form says; `decline`
// denies an approval, and cancels a question; `cancel` (also of a client that cannot ask) leaves it
// to the inbox, as an opened page does. An answer that comes too late changes nothing. `done` gets
// the error of the response; nullopt: it was accepted.
using Taken = std::move_only_function<void(std::optional<rpc::Fault>)>;
void take_elicited(ApiPtr const& api, json::View call, json::View response, Taken done);
// The same for a message from the client whose id is elicitation_id(); finds the call, which must
// be one that this token asked for.
void take_elicited(ApiPtr const& api, rpc::Message const& message, Taken done);

}  // namespace dormouse::mcp
