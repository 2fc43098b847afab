#include "server/handlers.h"
#include "server/objects.h"

#include "json/json.h"

// The page behind the link that people are sent. It shows and never settles: links are fetched
// ahead by those who only look. Without a token it tells nothing of the call; the id is no right.
namespace dormouse::server {

using namespace dormouse::session;

namespace {

std::string escaped(std::string_view text) {
    std::string out;
    for (char const c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default: out += c;
        }
    }
    return out;
}

std::string how_to_answer(std::string const& id, PauseReason reason) {
    if (reason == PauseReason::approval) return "dormouse approve " + id + "\ndormouse deny " + id;
    return "dormouse result " + id + " TEXT";
}

std::string without_token(std::string const& id) {
    return "<p>Something waits for an answer. Look at it, and answer it, with a token of this "
           "server:</p>\n<pre>dormouse show " +
           id + "</pre>\n";
}

std::string of_call(Snapshot const& snapshot, wire::PauseView const& pause, Time now) {
    std::string const id = pause.pending.text();
    auto const& spec = snapshot.history.calls().at(pause.pending.call).spec;
    std::string const status(pending_status(pause, now));
    std::string out;
    if (!pause.terms.message.empty()) out += "<p>" + escaped(pause.terms.message) + "</p>\n";
    out += "<dl><dt>tool</dt><dd>" + escaped(spec.tool) + "</dd>\n<dt>arguments</dt><dd><pre>" +
           escaped(spec.input.text()) + "</pre></dd>\n<dt>status</dt><dd>" + status +
           "</dd></dl>\n";
    bool const open = status == "waiting" || status == "processing";
    if (open) out += "<pre>" + how_to_answer(id, pause.terms.reason) + "</pre>\n";
    return out;
}

void answer(ExchangePtr const& x, int status, std::string const& content) {
    std::string const page =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\">"
        "<title>Dormouse</title></head><body><h1>Dormouse</h1>\n" +
        content + "</body></html>\n";
    x->responder->reply({status,
                         "text/html; charset=utf-8",
                         {{"Content-Security-Policy",
                           "default-src 'none'; base-uri 'none'; form-action 'none'; "
                           "frame-ancestors 'none'"},
                          {"X-Content-Type-Options", "nosniff"},
                          {"Referrer-Policy", "no-referrer"},
                          {"Cache-Control", "no-store"}},
                         page});
}

}  // namespace

void get_page(Api& api, ExchangePtr const& x) {
    auto const pending = PendingId::parse(x->params[0]);
    if (!pending) return x->fail(not_found());
    std::string const blank = without_token(pending->text());
    if (!x->principal) return answer(x, 200, blank);
    read_history(
        api, pending->session, [&api, x, pending = *pending, blank](Result<Snapshot> snapshot) {
            wire::PauseView const* const pause =
                snapshot ? snapshot->history.pause(pending) : nullptr;
            bool const mine = pause && x->principal->is_for(snapshot->lane->state().project);
            if (!mine) return answer(x, 200, blank);
            answer(x, 200, of_call(*snapshot, *pause, api.services().runner.now()));
        });
}

}  // namespace dormouse::server
