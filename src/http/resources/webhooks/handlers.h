#pragma once
// Handlers for webhooks: received, kept, and delivered again. Used by routes.cc.

#include "http/resources/shared.h"

namespace dormouse::http {

// receive.cc
void post_webhook(Api& api, ExchangePtr const& x);
// Refuses by the head alone: an unknown source, headers without a signature.
[[nodiscard]] std::optional<Error> refuse_webhook(Api& api, HttpRequest const& head);
// slack.cc
void post_slack(Api& api, ExchangePtr const& x);
[[nodiscard]] std::optional<Error> refuse_press(Api& api, HttpRequest const& head);
// deliveries.cc
void list_deliveries(Api& api, ExchangePtr const& x);
void retry_delivery(Api& api, ExchangePtr const& x);
void delete_delivery(Api& api, ExchangePtr const& x);

}  // namespace dormouse::http
