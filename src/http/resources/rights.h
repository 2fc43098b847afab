#pragma once
// The rights that a request needs: a role, and that every resource it names belongs to a project of
// the token. Checked in one place before the handler; for submissions by the lane that decides
// them. A resource of another project is reported as not found (P8).

#include <dormouse/error.h>

#include "http/access/tokens.h"
#include "runner/lane/lane.h"

#include <optional>
#include <string>

namespace dormouse::http {

class Api;
struct Exchange;

// The part of a request that names its project.
enum class Names : std::uint8_t {
    server,           // the whole server: only for tokens of all projects
    nothing,          // the request concerns no project
    project,          // the path's first {} is a project
    project_session,  // the path's first {} is a project, its second an id
    id,               // the path's first {} is an id
    // The body's pendingID, or those of its items. The lane of each session checks these
    // submissions when it decides them (runner::Rights).
    body,
    items,
    list,   // ?sessionID or ?project
    lists,  // the same; ?project=* names all projects of the token
};

// The default is for admins of all projects.
struct Right {
    Role role = Role::admin;
    Names names = Names::server;
    bool external = false;  // the external agent of a session may, for that session
    // The request gives the session's agent work; the token must be allowed to start that agent.
    bool works = false;
};

// The projects of ?project, "default" without one. `*`: all projects of the caller.
// REQUIRES: the route names `list` or `lists`, and its rights were checked.
[[nodiscard]] port::Projects projects_of(Exchange const& x);
// Checks what can be checked without reading what the request names. Null: a capability, or no
// token. nullopt: continue.
[[nodiscard]] std::optional<Error> refuse_role(Principal const* principal, Right right);
// Returns what a lane checks for commands of this token. Null: a capability, or no token.
[[nodiscard]] runner::Rights rights_of(Principal const* principal);
// Finds the project of a session whose journal cannot be read; nullopt: no such session.
void find_project(Api& api, SessionId const& session,
                  port::Fn<void(Result<std::optional<std::string>>)> then);
// Answers a submission whose body is invalid: with the error if the session that its pendingID
// names belongs to a project of the token, else with not found (P8).
void refuse_body(Api& api, std::shared_ptr<Exchange> const& x, Error error);
// Calls `go`, or answers with the error.
void with_rights(Api& api, std::shared_ptr<Exchange> const& x, Right right, port::Fn<void()> go);
// A token may be limited to some agents and gives work only to their sessions. nullopt: `agent` is
// one of these.
[[nodiscard]] std::optional<Error> refuse_agent(Api& api, Exchange const& x,
                                                std::string const& agent);

}  // namespace dormouse::http
