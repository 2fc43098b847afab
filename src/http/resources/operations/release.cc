#include "http/resources/operations/handlers.h"

// POST /api/release: ends the hold of a restored copy.
namespace dormouse::http {

void post_release(Api& api, ExchangePtr const& x) {
    Body const body(json::View(x->body), empty_request);
    if (body.error()) return x->fail(*body.error());
    Services& services = api.services();
    if (!services.runner.held() || !services.release) return x->json(200, R"({"released":false})");
    services.release([x](Result<void> done) {
        done ? x->json(200, R"({"released":true})") : x->fail(done.error());
    });
}

}  // namespace dormouse::http
