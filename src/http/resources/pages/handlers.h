#pragma once
// Pages for people: the list of what waits, and the page on which a call is answered. The handlers
// that routes.cc names.

#include "http/resources/shared.h"

namespace dormouse::server {

// home.cc
void get_home(Api& api, ExchangePtr const& x);
// answer_page.cc
void get_page(Api& api, ExchangePtr const& x);
void post_page(Api& api, ExchangePtr const& x);

}  // namespace dormouse::server
