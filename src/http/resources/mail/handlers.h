#pragma once
// Handlers for mail between sessions and from outside. Used by routes.cc.

#include "http/resources/shared.h"

namespace dormouse::http {

// mail.cc
void post_mail(Api& api, ExchangePtr const& x);
void list_inbox(Api& api, ExchangePtr const& x);
void release_mail(Api& api, ExchangePtr const& x);
// mail_list.cc
void list_mail(Api& api, ExchangePtr const& x);
void get_mail(Api& api, ExchangePtr const& x);

}  // namespace dormouse::http
