#include "http/resources/operations/doctor/doctor_fields.h"
#include "http/resources/operations/handlers.h"
#include "json/json.h"

// POST /api/copy: the continuous copy is made at once. Does not wait for it.
namespace dormouse::http {

void post_copy(Api& api, ExchangePtr const& x) {
    Body const body(json::View(x->body), empty_request);
    if (body.error()) return x->fail(*body.error());
    if (!api.services().copy_now)
        return x->fail(
            {Code::not_found, "This server makes no continuous copy: configure [backup]."});
    auto const number = api.services().copy_now();
    if (!number) return x->fail(number.error());
    x->json(202, object_text(CopyAsked{*number}));
}

}  // namespace dormouse::http
