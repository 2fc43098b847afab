#pragma once
// Handlers for the devices of the caller. Used by routes.cc.

#include "http/resources/shared.h"

namespace dormouse::http {

void list_devices(Api& api, ExchangePtr const& x);
void create_device(Api& api, ExchangePtr const& x);
void delete_device(Api& api, ExchangePtr const& x);
void test_device(Api& api, ExchangePtr const& x);

}  // namespace dormouse::http
