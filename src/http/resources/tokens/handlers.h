#pragma once
// Handlers for tokens and for browsers that sign in. Used by routes.cc.

#include "http/resources/shared.h"

namespace dormouse::http {

// tokens.cc
void list_tokens(Api& api, ExchangePtr const& x);
void create_token(Api& api, ExchangePtr const& x);
void delete_token(Api& api, ExchangePtr const& x);
void get_me(Api& api, ExchangePtr const& x);
// sign_in.cc
void create_link(Api& api, ExchangePtr const& x);
void describe_link(Api& api, ExchangePtr const& x);
void show_sign_in(Api& api, ExchangePtr const& x);
void sign_in(Api& api, ExchangePtr const& x);
void sign_out(Api& api, ExchangePtr const& x);
void post_sign_out(Api& api, ExchangePtr const& x);
// oidc_sign_in.cc
void begin_oidc(Api& api, ExchangePtr const& x);
void end_oidc(Api& api, ExchangePtr const& x);
// mail_links.cc
void post_sign_in_mail(Api& api, ExchangePtr const& x);

}  // namespace dormouse::http
