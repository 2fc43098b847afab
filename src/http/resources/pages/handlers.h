#pragma once
// Handlers for HTML pages: the list of waiting calls, and the page that answers a call. Used by
// routes.cc.

#include "http/resources/shared.h"

namespace dormouse::http {

// home.cc
void get_home(Api& api, ExchangePtr const& x);
// answer_page.cc
void get_page(Api& api, ExchangePtr const& x);
void post_page(Api& api, ExchangePtr const& x);

}  // namespace dormouse::http
