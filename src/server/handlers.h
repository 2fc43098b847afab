#pragma once
// The handlers that routes.cc names, and what they share.

#include "runner/read_history.h"
#include "server/api.h"
#include "server/body.h"

namespace dormouse::server {

// handlers_async.cc
void post_result(Api& api, ExchangePtr const& x);
void post_error(Api& api, ExchangePtr const& x);
void post_decision(Api& api, ExchangePtr const& x);
void post_progress(Api& api, ExchangePtr const& x);
void post_claim(Api& api, ExchangePtr const& x);
void delete_pending(Api& api, ExchangePtr const& x);
// handlers_webhook.cc
void post_webhook(Api& api, ExchangePtr const& x);
// What can be refused by the head alone: an unknown source, headers without a signature.
[[nodiscard]] std::optional<Error> refuse_webhook(Api& api, HttpRequest const& head);
// handlers_deliveries.cc
void list_deliveries(Api& api, ExchangePtr const& x);
void retry_delivery(Api& api, ExchangePtr const& x);
void delete_delivery(Api& api, ExchangePtr const& x);
// handlers_home.cc
void get_home(Api& api, ExchangePtr const& x);
// handlers_page.cc
void get_page(Api& api, ExchangePtr const& x);
void post_page(Api& api, ExchangePtr const& x);
// handlers_pending.cc
void list_pending(Api& api, ExchangePtr const& x);
void get_pending(Api& api, ExchangePtr const& x);
// handlers_session.cc
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
// handlers_prompt.cc
void post_prompt(Api& api, ExchangePtr const& x);
// handlers_mail.cc
void post_mail(Api& api, ExchangePtr const& x);
void list_inbox(Api& api, ExchangePtr const& x);
void release_mail(Api& api, ExchangePtr const& x);
// handlers_mail_list.cc
void list_mail(Api& api, ExchangePtr const& x);
void get_mail(Api& api, ExchangePtr const& x);
// handlers_fork.cc
void fork_session(Api& api, ExchangePtr const& x);
// handlers_pages.cc
void list_messages(Api& api, ExchangePtr const& x);
void list_turns(Api& api, ExchangePtr const& x);
// handlers_history.cc
void list_events(Api& api, ExchangePtr const& x);
// handlers_artifact.cc
void get_artifact(Api& api, ExchangePtr const& x);
// handlers_task.cc
void list_tasks(Api& api, ExchangePtr const& x);
void start_task(Api& api, ExchangePtr const& x);
// handlers_task_tree.cc
void list_task_tree(Api& api, ExchangePtr const& x, SessionId session);
void post_report(Api& api, ExchangePtr const& x);
void resume_task(Api& api, ExchangePtr const& x);
void cancel_task(Api& api, ExchangePtr const& x);
void delete_task(Api& api, ExchangePtr const& x);
void get_task_output(Api& api, ExchangePtr const& x);
// handlers_import.cc
void import_session(Api& api, ExchangePtr const& x);
void import_more(Api& api, ExchangePtr const& x);
// handlers_attach.cc
void post_attach(Api& api, ExchangePtr const& x);
// handlers_call.cc
void post_call(Api& api, ExchangePtr const& x);
// handlers_feed.cc
void list_feed(Api& api, ExchangePtr const& x);
// Of a session and the tasks below it.
void list_family_events(Api& api, ExchangePtr const& x, SessionId session);
// handlers_server.cc
void get_health(Api& api, ExchangePtr const& x);
void get_ready(Api& api, ExchangePtr const& x);
void get_agents(Api& api, ExchangePtr const& x);
void get_tools(Api& api, ExchangePtr const& x);
void get_openapi(Api& api, ExchangePtr const& x);
void get_metrics(Api& api, ExchangePtr const& x);
void get_explain(Api& api, ExchangePtr const& x);
// handlers_doctor.cc
void get_doctor(Api& api, ExchangePtr const& x);
// handlers_retention.cc
void post_retention(Api& api, ExchangePtr const& x);
// handlers_cut.cc
void post_retention_messages(Api& api, ExchangePtr const& x);
// handlers_repair.cc
void post_repair(Api& api, ExchangePtr const& x);

// handlers_tokens.cc
void list_tokens(Api& api, ExchangePtr const& x);
void create_token(Api& api, ExchangePtr const& x);
void delete_token(Api& api, ExchangePtr const& x);
// handlers_sign_in.cc
void create_link(Api& api, ExchangePtr const& x);
void show_sign_in(Api& api, ExchangePtr const& x);
void sign_in(Api& api, ExchangePtr const& x);
void sign_out(Api& api, ExchangePtr const& x);
void post_sign_out(Api& api, ExchangePtr const& x);

// handlers_acp.cc
void acp_create(Api& api, ExchangePtr const& x);
void acp_list(Api& api, ExchangePtr const& x);
void acp_get(Api& api, ExchangePtr const& x);
void acp_delete(Api& api, ExchangePtr const& x);
void acp_prompt(Api& api, ExchangePtr const& x);
void acp_resume(Api& api, ExchangePtr const& x);
void acp_cancel(Api& api, ExchangePtr const& x);
// handlers_batch.cc
void post_results(Api& api, ExchangePtr const& x);
// handlers_async.cc
void post_capability(Api& api, ExchangePtr const& x);
// handlers_pending.cc
void get_capability(Api& api, ExchangePtr const& x);

// ---- shared

// handlers_server.cc: what is counted, in Prometheus' text format.
void answer_metrics(Services& services, std::shared_ptr<Responder> responder);

// What capabilities are told of a receipt: {status, digest, at}.
[[nodiscard]] std::string brief_receipt(session::Receipt const& receipt);
// handlers_async.cc: checks an outcome against its call's schema and offers it; `done` gets the
// answer, which may be a problem.
void submit_to(Api& api, ExchangePtr const& x, session::Submit command,
               port::Fn<void(HttpReply)> done);
// Reads `result` or `error` of an object that stands at `pointer`, and gives its pendingID.
[[nodiscard]] std::string read_outcome(Body& body, std::string const& pointer, bool is_error,
                                       session::Submission& what);

inline constexpr std::string_view bring_gate_back =
    "put the gate back into the configuration and restart the server; or cancel the call";

[[nodiscard]] inline Error not_found() {
    return {Code::not_found, "There is nothing with this id."};
}

[[nodiscard]] inline Error history_gone() {
    return {Code::history_gone, "This part of the session's history was removed by retention."};
}
// Why a session that was just made, or found by the key that made it, is not shown: it was deleted
// in between.
[[nodiscard]] inline Error gone_since(Error error) {
    if (error.code != Code::not_found) return error;
    return {Code::session_gone, "This session was deleted."};
}
// What is not in its session's history: because retention took it, or it never was.
[[nodiscard]] inline Error missing(session::State const& state, PendingId const& pending) {
    return pending.call <= state.base.call ? history_gone() : not_found();
}
[[nodiscard]] inline Error missing(session::State const& state, Seq seq) {
    return seq <= state.base.through ? history_gone() : not_found();
}

// State and history of a session at one moment, both durable.
using runner::Snapshot;
void read_history(Api& api, SessionId session, port::Fn<void(Result<Snapshot>)> done);
// The same with the part of the history that one pending call needs: what made it, what was said of
// it, and who used its outcome.
void read_pending(Api& api, PendingId const& pending, port::Fn<void(Result<Snapshot>)> done);
// With what happened from an event on.
void read_history_from(Api& api, SessionId session, Seq from,
                       port::Fn<void(Result<Snapshot>)> done);

// `limit` (1-200, else `usual`) and other numbers of a query; the first bad one is the error.
struct Query {
    HttpRequest const& request;
    std::optional<Error> error = {};

    [[nodiscard]] std::uint64_t number(std::string_view name, std::uint64_t usual,
                                       std::uint64_t least, std::uint64_t most);
    // `wait`: seconds, 0 to 50.
    [[nodiscard]] Duration wait();
};

// Reads what the body of `x` says, beside the loop when it is large, and goes on with that. What
// cannot be taken has been answered. `read` uses of `x` what does not change.
template <class T>
void read_aside(Api& api, ExchangePtr const& x, port::Fn<Result<T>()> read,
                port::Fn<void(T)> then) {
    auto const said = std::make_shared<std::optional<Result<T>>>();
    api.aside(
        x, [said, read = std::move(read)]() mutable { said->emplace(read()); },
        [x, said, then = std::move(then)]() mutable {
            if (!**said) return x->fail((*said)->error());
            then(std::move(***said));
        });
}

// Calls `done` as soon as `ready` says so after an append of the session, or when `time` is up, or
// when the client has gone; at once if it is so already. `ready` sees durable state.
void wait_until(Api& api, std::shared_ptr<runner::Lane> lane, Duration time, ExchangePtr x,
                std::function<bool(session::State const&)> ready, port::Fn<void()> done);

// Calls `done` with the next change of a pending call of the session, or of the project without
// one; or when it is `until`; or when the client has gone.
void wait_for_change(Api& api, std::string const& project, std::optional<SessionId> session,
                     Time until, ExchangePtr x, port::Fn<void()> done);

// input.cc: the parts of a message from `text` or `parts` of a body.
struct Input {
    Json parts;
    std::string text;
    std::vector<session::InputFile> files = {};
    bool only_text = true;
};
[[nodiscard]] std::optional<Input> read_input(Body& body);
// Why something is cancelled; empty: nobody says.
[[nodiscard]] std::string cancel_reason(Body& body);
// An image or a file with its bytes: the members mime, name, alt and data. nullopt: `fields` says
// why not.
[[nodiscard]] std::optional<session::Artifact> read_file(Body& fields, std::string const& type);

}  // namespace dormouse::server
