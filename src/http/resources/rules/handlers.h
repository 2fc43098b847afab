#pragma once
// Handlers for standing rules. Used by routes.cc.

#include "http/resources/shared.h"

namespace dormouse::http {

void list_rules(Api& api, ExchangePtr const& x);
void delete_rule(Api& api, ExchangePtr const& x);

}  // namespace dormouse::http
