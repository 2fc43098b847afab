#pragma once
// Handlers for sessions: their life, prompts, messages, events, artifacts, forks and imports. Used
// by routes.cc.

#include "http/resources/shared.h"

namespace dormouse::http {

// session.cc
// Answers with the session and its ETag; 201: also with its Location.
void answer_session(ExchangePtr const& x, int status, session::State const& state);
// The same with what the session is now, after a command was accepted.
void answer_with_session(Api& api, ExchangePtr const& x, SessionId session, int status);
// Returns true for an external agent, which works in a folder.
[[nodiscard]] bool works_in_folders(Api& api, std::string const& agent);
// Checks create.cwd and create.agent. Stores the folder in the session of an external agent, so
// that a later change of the configuration does not move it.
[[nodiscard]] std::optional<Error> settle_agent(Api& api, session::Create& create);
void create_session(Api& api, ExchangePtr const& x);
void get_session(Api& api, ExchangePtr const& x);
void patch_session(Api& api, ExchangePtr const& x);
void delete_session(Api& api, ExchangePtr const& x);
void cancel_session(Api& api, ExchangePtr const& x);
void resume_session(Api& api, ExchangePtr const& x);
void end_session(Api& api, ExchangePtr const& x);
void retry_session(Api& api, ExchangePtr const& x);
// projects.cc
void list_projects(Api& api, ExchangePtr const& x);
// session_list.cc
void list_sessions(Api& api, ExchangePtr const& x);
// prompt.cc
void post_prompt(Api& api, ExchangePtr const& x);
// fork.cc
void fork_session(Api& api, ExchangePtr const& x);
// redaction.cc
void post_redaction(Api& api, ExchangePtr const& x);
// messages.cc
void list_messages(Api& api, ExchangePtr const& x);
void list_turns(Api& api, ExchangePtr const& x);
// events.cc
void list_events(Api& api, ExchangePtr const& x);
// artifacts.cc
void get_artifact(Api& api, ExchangePtr const& x);
// import.cc
void import_session(Api& api, ExchangePtr const& x);
void import_more(Api& api, ExchangePtr const& x);
// attach.cc
void post_attach(Api& api, ExchangePtr const& x);
// agent_calls.cc
void post_call(Api& api, ExchangePtr const& x);
// acp.cc
void acp_create(Api& api, ExchangePtr const& x);
void acp_list(Api& api, ExchangePtr const& x);
void acp_get(Api& api, ExchangePtr const& x);
void acp_delete(Api& api, ExchangePtr const& x);
void acp_prompt(Api& api, ExchangePtr const& x);
void acp_resume(Api& api, ExchangePtr const& x);
void acp_cancel(Api& api, ExchangePtr const& x);

}  // namespace dormouse::http
