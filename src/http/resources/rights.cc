#include "http/resources/rights.h"

#include "http/resources/shared.h"
#include "runner/repair/unreadable.h"

#include <algorithm>

namespace dormouse::http {

namespace {

Error needs(Role role, std::string why) {
    return {Code::forbidden, std::move(why),
            Json::trusted("{\"role\":\"" + std::string(text(role)) + "\"}"), 0};
}

Error needs_role(Role role) {
    return needs(role, "This needs a token of role " + std::string(text(role)) + " or above.");
}

// The sessions and the project that a request names.
struct Named {
    std::vector<SessionId> sessions = {};
    std::optional<std::string> project = {};
};

void add_session(Named& named, std::string_view id) {
    if (auto const session = session_of(id)) named.sessions.push_back(*session);
}

Named named_by(Exchange const& x, Names names) {
    Named out;
    switch (names) {
        case Names::server:
        case Names::nothing:
        case Names::items: break;
        case Names::body: add_session(out, json::View(x.body)["pendingID"].string_or("")); break;
        case Names::project: out.project = x.params[0]; break;
        case Names::project_session:
            out.project = x.params[0];
            add_session(out, x.params[1]);
            break;
        case Names::id: add_session(out, x.params[0]); break;
        case Names::list:
        case Names::lists:
            if (auto const session = x.request.query_value("sessionID")) {
                add_session(out, *session);
            } else if (auto const project = x.request.query_value("project")) {
                out.project = *project;
            }
            break;
    }
    return out;
}

constexpr std::string_view every_project = "*";

// A list without a project is of the token's only project.
std::optional<Error> add_project(Exchange& x, Named& named) {
    if (named.project || x.request.query_value("sessionID")) return std::nullopt;
    auto const& projects = x.principal->row.projects;
    if (projects.size() > 1)
        return Error{Code::project_required, "This token is for several projects; give ?project=."};
    named.project = projects.front();
    x.request.query.emplace_back("project", projects.front());
    return std::nullopt;
}

// Returns true if the request must name a session; without one there is nothing to check, and it is
// refused.
bool wants_session(Names names) {
    return names == Names::body || names == Names::id || names == Names::project_session;
}

struct Sessions {
    Api& api;
    ExchangePtr x;
    bool works;  // Right::works
    std::vector<SessionId> left;
    port::Fn<void()> go;
};

void check_sessions(std::shared_ptr<Sessions> const& s);

// Reads the row of a session that cannot be loaded; nullopt: there is none.
void find_row(Api& api, SessionId const& session,
              port::Fn<void(Result<std::optional<port::SessionRow>>)> then) {
    auto question = [session](port::MaintenanceStore& store) {
        return store.all_sessions(session.number() - 1, 1);
    };
    port::ask(
        api.services().journal, std::move(question),
        [session, then = std::move(then)](Result<std::vector<port::SessionRow>> rows) mutable {
            if (!rows) return then(std::unexpected(std::move(rows.error())));
            bool const known = !rows->empty() && rows->front().id == session;
            then(known ? std::optional(std::move(rows->front())) : std::nullopt);
        });
}

void check_unreadable(std::shared_ptr<Sessions> const& s, SessionId const& session) {
    find_row(s->api, session, [s](Result<std::optional<port::SessionRow>> row) {
        if (!row) return s->x->fail(row.error());
        bool const own = *row && s->x->principal->is_for((*row)->project);
        if (!own) return s->x->fail(not_found());
        if (auto const error = s->works ? refuse_agent(s->api, *s->x, (*row)->agent) : std::nullopt)
            return s->x->fail(*error);
        check_sessions(s);
    });
}

// Checks one session after the other. Reports a missing one here, before the handler can find
// another error in the request: otherwise a foreign id would differ from an unknown one.
void check_sessions(std::shared_ptr<Sessions> const& s) {
    if (s->left.empty()) return std::exchange(s->go, {})();
    SessionId const session = s->left.back();
    s->left.pop_back();
    s->api.services().runner.read_lane(
        session, [s, session](Result<std::shared_ptr<runner::Lane>> lane) {
            if (!lane && runner::is_unreadable(lane.error())) return check_unreadable(s, session);
            if (!lane) return s->x->fail(lane.error());
            if (!s->x->principal->is_for((*lane)->state().project)) return s->x->fail(not_found());
            if (auto const error =
                    s->works ? refuse_agent(s->api, *s->x, (*lane)->state().agent) : std::nullopt)
                return s->x->fail(*error);
            check_sessions(s);
        });
}

void with_rights_of_agent(ExchangePtr const& x, Right right, port::Fn<void()> go) {
    if (right.names == Names::id) {
        Named const named = named_by(*x, right.names);
        bool const own = named.sessions == std::vector{*x->principal->session};
        if (!own) return x->fail(not_found());
    }
    go();
}

// Checks that everything the request names belongs to projects of the token, and that the token may
// give work to the agents of its sessions.
void check_named(Api& api, ExchangePtr const& x, Right right, port::Fn<void()> go) {
    bool const works = right.works && !x->principal->may_start_all();
    Named named = named_by(*x, right.names);
    bool const all = right.names == Names::lists && named.project == every_project;
    if (all) named.project.reset();
    bool const lists = right.names == Names::list || (right.names == Names::lists && !all);
    if (lists && !x->principal->for_all_projects()) {
        if (auto const error = add_project(*x, named)) return x->fail(*error);
    }
    if (named.project && !x->principal->is_for(*named.project)) return x->fail(not_found());
    if (named.sessions.empty() && wants_session(right.names)) return x->fail(not_found());
    check_sessions(std::make_shared<Sessions>(
        Sessions{api, x, works, std::move(named.sessions), std::move(go)}));
}

}  // namespace

port::Projects projects_of(Exchange const& x) {
    std::string project(x.request.query_value("project").value_or("default"));
    if (project != every_project) return project;
    bool const all = !x.principal || x.principal->for_all_projects();
    return all ? port::Projects::all() : port::Projects::of(x.principal->row.projects);
}

std::optional<Error> refuse_role(Principal const* principal, Right right) {
    if (right.role == Role::anyone) return std::nullopt;
    if (!principal) return Error{Code::unauthenticated, "Send a token."};
    if (principal->session) {
        if (right.external) return std::nullopt;
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
    if (x->principal->session) return with_rights_of_agent(x, right, std::move(go));
    bool const works = right.works && !x->principal->may_start_all();
    bool const unbound = x->principal->for_all_projects() && !works;
    bool const about_none = right.names == Names::nothing || right.names == Names::server;
    bool const submission = right.names == Names::body || right.names == Names::items;
    if (unbound || about_none || submission) return go();
    check_named(api, x, right, std::move(go));
}

void refuse_body(Api& api, ExchangePtr const& x, Error error) {
    bool const unbound = !x->principal || x->principal->for_all_projects() || x->capability;
    bool const named = json::View(x->body)["pendingID"].string().has_value();
    if (unbound || !named) return x->fail(error);
    check_named(api, x, {Role::answer, Names::body},
                [x, error = std::move(error)] { x->fail(error); });
}

void find_project(Api& api, SessionId const& session,
                  port::Fn<void(Result<std::optional<std::string>>)> then) {
    find_row(api, session,
             [then = std::move(then)](Result<std::optional<port::SessionRow>> row) mutable {
                 if (!row) return then(std::unexpected(std::move(row.error())));
                 then(*row ? std::optional(std::move((*row)->project)) : std::nullopt);
             });
}

runner::Rights rights_of(Principal const* principal) {
    runner::Rights out;
    if (!principal) return out;
    out.projects = principal->row.projects;
    if (principal->role == Role::admin) return out;
    out.roles.emplace();
    for (Role const role : {Role::read, Role::answer, Role::operate}) {
        if (principal->role >= role) out.roles->push_back("role:" + std::string(text(role)));
    }
    return out;
}

std::optional<Error> refuse_agent(Api& api, Exchange const& x, std::string const& agent) {
    if (!x.principal || x.principal->may_start(agent, api.services().gate.runs_programs(agent)))
        return std::nullopt;
    return Error{Code::forbidden, "This token may not start the agent '" + agent + "'.",
                 Json::trusted(R"({"role":"operate"})"), 0};
}

}  // namespace dormouse::http
