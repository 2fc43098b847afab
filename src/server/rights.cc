#include "server/rights.h"

#include "runner/unreadable.h"
#include "server/handlers.h"

#include <algorithm>

namespace dormouse::server {

namespace {

Error needs(Role role, std::string why) {
    return {Code::forbidden, std::move(why),
            Json::trusted("{\"role\":\"" + std::string(text(role)) + "\"}"), 0};
}

Error needs_role(Role role) {
    return needs(role, "This needs a token of role " + std::string(text(role)) + " or above.");
}

// What a request names: sessions by their ids, and a project.
struct Named {
    std::vector<SessionId> sessions = {};
    std::optional<std::string> project = {};
};

void add_session(Named& named, std::string_view id) {
    if (auto const session = session_of(id)) named.sessions.push_back(*session);
}

Named named_by(Exchange const& x, Names names) {
    Named out;
    json::View const body(x.body);
    switch (names) {
        case Names::server:
        case Names::nothing: break;
        case Names::project: out.project = x.params[0]; break;
        case Names::project_session:
            out.project = x.params[0];
            add_session(out, x.params[1]);
            break;
        case Names::id: add_session(out, x.params[0]); break;
        case Names::body: add_session(out, body["pendingID"].string_or("")); break;
        case Names::items:
            body["items"].elements(
                [&](json::View item) { add_session(out, item["pendingID"].string_or("")); });
            std::ranges::sort(out.sessions);
            out.sessions.erase(std::ranges::unique(out.sessions).begin(), out.sessions.end());
            break;
        case Names::list:
            if (auto const session = x.request.query_value("sessionID")) {
                add_session(out, *session);
            } else if (auto const project = x.request.query_value("project")) {
                out.project = *project;
            }
            break;
    }
    return out;
}

// A list that names nothing is one of the token's only project.
std::optional<Error> add_project(Exchange& x, Named& named) {
    if (named.project || x.request.query_value("sessionID")) return std::nullopt;
    auto const& projects = x.principal->row.projects;
    if (projects.size() > 1)
        return Error{Code::project_required, "This token is for several projects; say ?project=."};
    named.project = projects.front();
    x.request.query.emplace_back("project", projects.front());
    return std::nullopt;
}

// An id that tells no session is nobody's: what can not be judged is not let through.
bool wants_session(Exchange const& x, Names names) {
    if (names == Names::body) return json::View(x.body)["pendingID"].string().has_value();
    return names == Names::id || names == Names::project_session;
}

struct Sessions {
    Api& api;
    ExchangePtr x;
    bool each;   // a foreign one is noted, and does not end the request
    bool works;  // Right::works
    std::vector<SessionId> left;
    port::Fn<void()> go;
};

void check_sessions(std::shared_ptr<Sessions> const& s);

// The project of one that cannot be read stands in its row.
void check_unreadable(std::shared_ptr<Sessions> const& s, SessionId const& session) {
    auto question = [session](port::Store& store) {
        return store.all_sessions(session.number() - 1, 1);
    };
    port::ask(s->api.services().journal, std::move(question),
              [s, session](Result<std::vector<port::SessionRow>> rows) {
                  if (!rows) return s->x->fail(rows.error());
                  bool const known = !rows->empty() && rows->front().id == session;
                  bool const own = known && s->x->principal->is_for(rows->front().project);
                  if (!own && !s->each) return s->x->fail(not_found());
                  if (!own) s->x->foreign.insert(session);
                  if (auto const error = own && s->works
                                             ? refuse_agent(s->api, *s->x, rows->front().agent)
                                             : std::nullopt)
                      return s->x->fail(*error);
                  check_sessions(s);
              });
}

// One after the other. What is not there is told here too, before the handler may find something
// else wrong with the request: else a foreign id could be told from an unknown one.
void check_sessions(std::shared_ptr<Sessions> const& s) {
    if (s->left.empty()) return std::exchange(s->go, {})();
    SessionId const session = s->left.back();
    s->left.pop_back();
    s->api.services().runner.look(
        session, [s, session](Result<std::shared_ptr<runner::Lane>> lane) {
            if (!lane && runner::is_unreadable(lane.error())) return check_unreadable(s, session);
            if (!lane && !s->each) return s->x->fail(lane.error());
            bool const foreign = lane && !s->x->principal->is_for((*lane)->state().project);
            if (foreign && !s->each) return s->x->fail(not_found());
            if (foreign) s->x->foreign.insert(session);
            bool const checked = lane && !foreign && s->works;
            if (auto const error =
                    checked ? refuse_agent(s->api, *s->x, (*lane)->state().agent) : std::nullopt)
                return s->x->fail(*error);
            check_sessions(s);
        });
}

void with_rights_of_program(ExchangePtr const& x, Right right, port::Fn<void()> go) {
    if (right.names == Names::id) {
        Named const named = named_by(*x, right.names);
        bool const own = named.sessions == std::vector{*x->principal->session};
        if (!own) return x->fail(not_found());
    }
    go();
}

}  // namespace

std::optional<Error> refuse_role(Principal const* principal, Right right) {
    if (right.role == Role::anyone) return std::nullopt;
    if (!principal) return Error{Code::unauthenticated, "Send a token."};
    if (principal->session) {
        if (right.program) return std::nullopt;
        return needs(right.role,
                     "A session's program makes calls, starts tasks and sends mail for its "
                     "session, and nothing else.");
    }
    if (principal->role < right.role) return needs_role(right.role);
    if (right.names == Names::server && !principal->for_all_projects())
        return needs(right.role, "This needs a token that is for all projects.");
    return std::nullopt;
}

void with_rights(Api& api, ExchangePtr const& x, Right right, port::Fn<void()> go) {
    if (right.role == Role::anyone || x->capability) return go();
    if (auto const error = refuse_role(x->principal.get(), right)) return x->fail(*error);
    if (x->principal->session) return with_rights_of_program(x, right, std::move(go));
    bool const works = right.works && !x->principal->may_start_all();
    bool const unbound = x->principal->for_all_projects() && !works;
    bool const about_none = right.names == Names::nothing || right.names == Names::server;
    if (unbound || about_none) return go();
    Named named = named_by(*x, right.names);
    if (right.names == Names::list && !x->principal->for_all_projects()) {
        if (auto const error = add_project(*x, named)) return x->fail(*error);
    }
    if (named.project && !x->principal->is_for(*named.project)) return x->fail(not_found());
    if (named.sessions.empty() && wants_session(*x, right.names)) return x->fail(not_found());
    check_sessions(std::make_shared<Sessions>(Sessions{api, x, right.names == Names::items, works,
                                                       std::move(named.sessions), std::move(go)}));
}

std::optional<Error> refuse_agent(Api& api, Exchange const& x, std::string const& agent) {
    if (!x.principal || x.principal->may_start(agent, api.services().gate.runs_programs(agent)))
        return std::nullopt;
    return Error{Code::forbidden, "This token may not start the agent '" + agent + "'.",
                 Json::trusted(R"({"role":"operate"})"), 0};
}

}  // namespace dormouse::server
