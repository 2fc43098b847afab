#include "http/resources/placed.h"
#include "http/resources/sessions/handlers.h"
#include "http/resources/sessions/session_fields.h"

// Access to the own screen of a session's external agent. It includes the agent's password, so only
// an operator of the session on this machine receives it.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

void answer_attach(ExchangePtr const& x, port::AttachInfo const& info) {
    x->json(200, object_text(info), {{"Cache-Control", "no-store"}});
}

// Work of the agent while its screen is open is recorded in the session.
port::TerminalRequest ask_of(Api& api, State const& state) {
    port::TerminalRequest ask;
    ask.session = state.id;
    ask.agent = state.agent;
    ask.acp_session = state.acp_session;
    ask.cwd = state.cwd;
    ask.project = state.project;
    ask.has_past = state.messages != 0;
    ask.on_event = [&runner = api.services().runner, id = state.id](Command::Body what) {
        runner.observe(id, std::move(what));
    };
    return ask;
}

}  // namespace

void post_attach(Api& api, ExchangePtr const& x) {
    auto const id = SessionId::parse(x->params[0]);
    if (!id) return x->fail(not_found());
    Body const body(json::View(x->body), empty_request);
    if (body.error()) return x->fail(*body.error());
    if (!x->request.peer_is_loopback)
        return x->fail({Code::forbidden,
                        "A program's screen is opened on the machine that it runs on.",
                        {},
                        0});
    if (api.services().runner.held())
        return x->fail({Code::wrong_state,
                        "This restored copy holds, so it starts no agent; dormouse release comes "
                        "first.",
                        {},
                        0});
    api.services().runner.read_lane(*id, [&api, x](Result<std::shared_ptr<runner::Lane>> lane) {
        if (!lane) return x->fail(lane.error());
        State const& state = (*lane)->state();
        if (state.lifecycle == Lifecycle::completed)
            return x->fail({Code::wrong_state,
                            "This session has ended; a prompt that reopens it "
                            "comes first.",
                            {},
                            0});
        if (auto const error = refuse_elsewhere(api, state.node)) return x->fail(*error);
        api.services().catalogue.open_terminal(
            ask_of(api, state), [x](Result<port::AttachInfo> const& info) {
                info ? answer_attach(x, *info) : x->fail(info.error());
            });
    });
}

}  // namespace dormouse::http
