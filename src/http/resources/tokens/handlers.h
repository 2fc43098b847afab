#pragma once
// Tokens, and how browsers sign in. The handlers that routes.cc names.

#include "http/resources/shared.h"

namespace dormouse::server {

// tokens.cc
void list_tokens(Api& api, ExchangePtr const& x);
void create_token(Api& api, ExchangePtr const& x);
void delete_token(Api& api, ExchangePtr const& x);
// sign_in.cc
void create_link(Api& api, ExchangePtr const& x);
void show_sign_in(Api& api, ExchangePtr const& x);
void sign_in(Api& api, ExchangePtr const& x);
void sign_out(Api& api, ExchangePtr const& x);
void post_sign_out(Api& api, ExchangePtr const& x);

}  // namespace dormouse::server
