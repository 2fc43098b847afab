#include "http/resources/sessions/handlers.h"

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
    out.member("leaseMs", std::int64_t{door.lease.count()});
    x->json(200, out.end_object().take(), {{"Cache-Control", "no-store"}});
}

// What the program does while somebody sits at its screen goes to the session.
port::DoorAsk ask_of(Api& api, State const& state) {
    port::DoorAsk ask;
    ask.session = state.id;
    ask.agent = state.agent;
    ask.acp_session = state.acp_session;
    ask.cwd = state.cwd;
    ask.project = state.project;
    ask.has_past = state.messages != 0;
    ask.told = [&runner = api.services().runner, id = state.id](Command::Body what) {
        runner.observe(id, std::move(what));
    };
    return ask;
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
        if (state.lifecycle == Lifecycle::completed)
            return x->fail({Code::wrong_state,
                            "This session has ended; a prompt that reopens it "
                            "comes first.",
                            {},
                            0});
        api.services().catalogue.open_door(ask_of(api, state),
                                           [x](Result<port::DoorEntry> const& door) {
                                               door ? answer_door(x, *door) : x->fail(door.error());
                                           });
    });
}

}  // namespace dormouse::server
