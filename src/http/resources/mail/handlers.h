#pragma once
// Mail between sessions and from outside. The handlers that routes.cc names.

#include "http/resources/shared.h"

namespace dormouse::server {

// mail.cc
void post_mail(Api& api, ExchangePtr const& x);
void list_inbox(Api& api, ExchangePtr const& x);
void release_mail(Api& api, ExchangePtr const& x);
// mail_list.cc
void list_mail(Api& api, ExchangePtr const& x);
void get_mail(Api& api, ExchangePtr const& x);

}  // namespace dormouse::server
