#pragma once
// Sessions: their life, prompts, messages, events, artifacts, forks and imports. The handlers that
// routes.cc names.

#include "http/resources/shared.h"

namespace dormouse::server {

// session.cc
// Whether the agent is a program.
[[nodiscard]] bool works_in_folders(Api& api, std::string const& agent);
// Why create.cwd or create.agent cannot be. A session of a program gets the folder that it works in
// from now on, also when the configuration names another one later.
[[nodiscard]] std::optional<Error> settle_agent(Api& api, session::Create& create);
void create_session(Api& api, ExchangePtr const& x);
void list_sessions(Api& api, ExchangePtr const& x);
void get_session(Api& api, ExchangePtr const& x);
void patch_session(Api& api, ExchangePtr const& x);
void delete_session(Api& api, ExchangePtr const& x);
void cancel_session(Api& api, ExchangePtr const& x);
void resume_session(Api& api, ExchangePtr const& x);
void end_session(Api& api, ExchangePtr const& x);
void retry_session(Api& api, ExchangePtr const& x);
// prompt.cc
void post_prompt(Api& api, ExchangePtr const& x);
// fork.cc
void fork_session(Api& api, ExchangePtr const& x);
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

}  // namespace dormouse::server
