#include "server/handlers.h"

#include "json/json.h"

// The way to the own screen of a session's agent program. It holds that program's password, so it
// is for whoever may operate the session, on this machine alone.
namespace dormouse::server {

using namespace dormouse::session;

namespace {

void answer_door(ExchangePtr const& x, port::DoorEntry const& door) {
    json::Writer out;
    out.begin_object().member("url", door.url).member("acpSessionID", door.session);
    out.member("cwd", door.folder).key("command").begin_array();
    for (std::string const& word : door.command) out.value(word);
    out.end_array().key("environment").begin_object();
    out.member(door.variable, door.password).end_object();
    x->json(200, out.end_object().take(), {{"Cache-Control", "no-store"}});
}

}  // namespace

void post_attach(Api& api, ExchangePtr const& x) {
    auto const id = SessionId::parse(x->params[0]);
    if (!id) return x->fail(not_found());
    Body const body(json::View(x->body), "", {});
    if (body.error()) return x->fail(*body.error());
    if (!x->request.peer_is_loopback)
        return x->fail({Code::forbidden,
                        "A program's screen is opened on the machine that it runs on.",
                        {},
                        0});
    api.services().runner.look(*id, [&api, x](Result<std::shared_ptr<runner::Lane>> lane) {
        if (!lane) return x->fail(lane.error());
        State const& state = (*lane)->state();
        auto const door = api.services().catalogue.door(state.agent, state.id);
        door ? answer_door(x, *door) : x->fail(door.error());
    });
}

}  // namespace dormouse::server
