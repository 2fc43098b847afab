#pragma once
// Webhooks of sources: what is received, kept and delivered again. The handlers that routes.cc
// names.

#include "http/resources/shared.h"

namespace dormouse::server {

// receive.cc
void post_webhook(Api& api, ExchangePtr const& x);
// What can be refused by the head alone: an unknown source, headers without a signature.
[[nodiscard]] std::optional<Error> refuse_webhook(Api& api, HttpRequest const& head);
// deliveries.cc
void list_deliveries(Api& api, ExchangePtr const& x);
void retry_delivery(Api& api, ExchangePtr const& x);
void delete_delivery(Api& api, ExchangePtr const& x);

}  // namespace dormouse::server
