#pragma once
// Sign-in links by e-mail: to a person who asks for one, and to a person whom a call asks.

#include "http/resources/api.h"
#include "webhook/notification.h"

namespace dormouse::http {

// Sends a notification with a link that signs the person in and leads to the call's page. `id`
// names the delivery; `wanted`: see port::Mail. Errors: not_found: no such [[user]], or no [email];
// those of the mail client.
void mail_notification(Api& api, std::string const& person, webhook::Notification const& it,
                       std::string const& id, std::function<bool()> wanted,
                       port::Fn<void(Result<void>)> done);

// The form for it on the sign-in page; empty: no e-mail is configured.
[[nodiscard]] std::string mail_form(Api& api, std::string const& next);

}  // namespace dormouse::http
