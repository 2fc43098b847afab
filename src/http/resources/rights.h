#pragma once
// What a request needs: a role, and that what it names is of a project of the token's. Checked in
// one place, before the handler; of submissions by the lane that decides them. A resource of
// another project is reported as not found (P8).

#include <dormouse/error.h>

#include "http/access/tokens.h"
#include "runner/lane.h"

#include <optional>
#include <string>

namespace dormouse::server {

class Api;
struct Exchange;

// Where a request says which project it is about.
enum class Names : std::uint8_t {
    server,           // all of it: only for tokens of all projects
    nothing,          // it is about no project
    project,          // the path's first {} is a project
    project_session,  // the path's first {} is a project, its second an id
    id,               // the path's first {} is an id
    // The body's pendingID, or those of its items: submissions, which the lane of each session
    // checks when it decides them (runner::Rights).
    body,
    items,
    list,  // ?sessionID or ?project
};

// A route that says nothing is for admins of all projects.
struct Right {
    Role role = Role::admin;
    Names names = Names::server;
    bool program = false;  // the program of a session may, for that session
    // It gives the session's agent something to do, and is for who may start that agent.
    bool works = false;
};

// What can be judged without knowing what the request names. Null: nobody, or a capability, asks.
// nullopt: go on.
[[nodiscard]] std::optional<Error> refuse_role(Principal const* principal, Right right);
// What a lane checks of the commands that it sends. Null: nobody, or a capability, asks.
[[nodiscard]] runner::Rights rights_of(Principal const* principal);
// The project of a session that cannot be read; nullopt: there is no such session.
void find_project(Api& api, SessionId const& session,
                  port::Fn<void(Result<std::optional<std::string>>)> then);
// Answers a submission whose body is refused: with the error if the session that its pendingID
// names is of the token's projects, else as if there were none (P8).
void refuse_body(Api& api, std::shared_ptr<Exchange> const& x, Error error);
// Calls `go`, or answers with why not.
void with_rights(Api& api, std::shared_ptr<Exchange> const& x, Right right, port::Fn<void()> go);
// A token starts some agents, and gives work only to sessions of these. nullopt: this is one.
[[nodiscard]] std::optional<Error> refuse_agent(Api& api, Exchange const& x,
                                                std::string const& agent);

}  // namespace dormouse::server
