#include "http/resources/calls/call_fields.h"
#include "http/resources/calls/handlers.h"

#include "base/enum_words.h"

// Returns the callback URL of a call that waits for a job. The URL is a secret: its holder may
// answer the call without a token. So only this route gives it, and no list contains it.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

// A person who answers is named in the receipt; with a callback URL nobody would be.
Error for_people(PauseReason reason) {
    return {Code::wrong_kind,
            "Only a call that waits for a job has a callback URL (this one waits: " +
                std::string(text(reason)) + ")."};
}

}  // namespace

void post_callback_url(Api& api, ExchangePtr const& x) {
    auto const pending = PendingId::parse(x->params[0]);
    if (!pending) return x->fail(not_found());
    Body body(json::View(x->body), empty_request);
    if (body.error()) return x->fail(*body.error());
    read_pending(api, *pending, [&api, x, pending = *pending](Result<Snapshot> snapshot) {
        if (!snapshot) return x->fail(snapshot.error());
        wire::PauseView const* const pause = snapshot->history.pause(pending);
        if (!pause) return x->fail(missing(snapshot->lane->state(), pending));
        if (pause->receipt)
            return x->fail({Code::wrong_state, "This call is settled; nothing can be sent to it."});
        if (pause->terms.reason != PauseReason::tool_result)
            return x->fail(for_people(pause->terms.reason));
        Gate const& gate = api.services().gate;
        CallbackUrl const answer{
            pending, gate.base_url() + "/c/" + gate.capabilities().token(pending), pause->deadline};
        x->json(200, object_text(answer), {{"Cache-Control", "no-store"}});
    });
}

}  // namespace dormouse::http
