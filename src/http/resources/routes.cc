#include "http/resources/calls/handlers.h"
#include "http/resources/feed/handlers.h"
#include "http/resources/mail/handlers.h"
#include "http/resources/operations/handlers.h"
#include "http/resources/pages/handlers.h"
#include "http/resources/sessions/handlers.h"
#include "http/resources/tasks/handlers.h"
#include "http/resources/tokens/handlers.h"
#include "http/resources/webhooks/handlers.h"

namespace dormouse::server {

namespace {
constexpr std::size_t usual = std::size_t{1} << 20;
constexpr std::size_t large = std::size_t{8} << 20;  // results and prompts
constexpr std::size_t small = std::size_t{4} << 10;  // a word or two, from anybody
constexpr std::string_view pending_query =
    "sessionID project status tool reason externalRef changedSince wait limit cursor";
constexpr Right admin_server{Role::admin, Names::server};
constexpr Right answer_body{Role::answer, Names::body};
constexpr Right answer_items{Role::answer, Names::items};
constexpr Right answer_id{Role::answer, Names::id};
constexpr Right anyone{Role::anyone, Names::nothing};
constexpr Right operate_id{Role::operate, Names::id};
constexpr Right operate_list{Role::operate, Names::list};
constexpr Right operate_project{Role::operate, Names::project};
constexpr Right operate_project_session{Role::operate, Names::project_session};
constexpr Right program_id{Role::operate, Names::id, true};
constexpr Right program_work{Role::operate, Names::id, true, true};
constexpr Right program_list{Role::operate, Names::list, true};
constexpr Right program_read{Role::read, Names::id, true};
constexpr Right program_read_list{Role::read, Names::list, true};
constexpr Right program_read_nothing{Role::read, Names::nothing, true};
constexpr Right work_id{Role::operate, Names::id, false, true};
constexpr Right work_project_session{Role::operate, Names::project_session, false, true};
constexpr Right read_id{Role::read, Names::id};
constexpr Right read_list{Role::read, Names::list};
constexpr Right read_nothing{Role::read, Names::nothing};
constexpr Right read_server{Role::read, Names::server};
constexpr Right read_project{Role::read, Names::project};
constexpr Right read_project_session{Role::read, Names::project_session};

// Pending calls: results from anywhere.
std::vector<Route> call_routes() {
    return {
        {"POST", {"async-tool", "result"}, large, post_result, "", answer_body},
        {"POST", {"async-tool", "results"}, large, post_results, "", answer_items},
        {"POST", {"async-tool", "error"}, large, post_error, "", answer_body},
        {"POST", {"async-tool", "decision"}, large, post_decision, "", answer_body},
        {"POST", {"async-tool", "progress"}, usual, post_progress, "", answer_body},
        {"POST", {"async-tool", "webhook"}, usual, post_webhook, "", anyone},
        {"POST", {"async-tool", "webhook", "{}"}, usual, post_webhook, "", anyone},
        {"POST", {"c", "{}"}, large, post_capability, "", anyone},
        {"GET", {"c", "{}"}, usual, get_capability, "", anyone},
        {"GET", {}, usual, get_home, "", anyone},
        {"GET", {"a", "{}"}, usual, get_page, "", anyone},
        {"POST", {"a", "{}"}, usual, post_page, "", answer_id},
        {"GET", {"async-tool", "pending"}, usual, list_pending, pending_query, read_list},
        {"GET", {"async-tool", "pending", "{}"}, usual, get_pending, "wait", read_id},
        {"DELETE", {"async-tool", "pending", "{}"}, usual, delete_pending, "reason", operate_id},
        {"POST", {"async-tool", "pending", "{}", "claim"}, usual, post_claim, "", answer_id},
    };
}

std::vector<Route> session_routes() {
    return {
        {"POST",
         {"api", "projects", "{}", "sessions"},
         large,
         create_session,
         "wait",
         operate_project},
        {"GET",
         {"api", "projects", "{}", "sessions"},
         usual,
         list_sessions,
         "alias limit cursor",
         read_project},
        {"POST", {"api", "projects", "{}", "import"}, large, import_session, "", operate_project},
        {"GET", {"api", "sessions", "{}"}, usual, get_session, "wait", program_read},
        {"PATCH", {"api", "sessions", "{}"}, usual, patch_session, "", operate_id},
        {"DELETE", {"api", "sessions", "{}"}, usual, delete_session, "", operate_id},
        {"POST", {"api", "sessions", "{}", "prompt"}, large, post_prompt, "wait", work_id},
        {"POST", {"api", "sessions", "{}", "cancel"}, usual, cancel_session, "", operate_id},
        {"POST", {"api", "sessions", "{}", "resume"}, usual, resume_session, "", work_id},
        {"POST", {"api", "sessions", "{}", "end"}, usual, end_session, "", operate_id},
        {"POST", {"api", "sessions", "{}", "retry"}, usual, retry_session, "", work_id},
        {"POST", {"api", "sessions", "{}", "fork"}, usual, fork_session, "", operate_id},
        {"POST", {"api", "mail"}, usual, post_mail, "project", program_list},
        {"GET",
         {"api", "mail"},
         usual,
         list_mail,
         "sessionID project limit cursor",
         program_read_list},
        {"GET", {"api", "mail", "{}"}, usual, get_mail, "after limit", program_read},
        {"POST", {"api", "mail", "{}", "release"}, usual, release_mail, "", operate_id},
        {"GET",
         {"api", "sessions", "{}", "inbox"},
         usual,
         list_inbox,
         "after status limit",
         program_read},
        {"GET", {"api", "sessions", "{}", "tasks"}, usual, list_tasks, "tree", program_read},
        {"POST", {"api", "sessions", "{}", "report"}, usual, post_report, "", program_id},
        {"POST", {"api", "sessions", "{}", "tasks"}, large, start_task, "", program_id},
        {"POST", {"api", "sessions", "{}", "import"}, large, import_more, "", work_id},
        {"POST", {"api", "sessions", "{}", "attach"}, usual, post_attach, "", work_id},
        {"POST", {"api", "sessions", "{}", "calls"}, large, post_call, "", program_work},
        {"POST", {"api", "tasks", "{}", "resume"}, large, resume_task, "", program_id},
        {"POST", {"api", "tasks", "{}", "cancel"}, usual, cancel_task, "", program_id},
        {"GET", {"api", "tasks", "{}", "output"}, usual, get_task_output, "wait", program_read},
        {"DELETE", {"api", "tasks", "{}"}, usual, delete_task, "", program_id},
        {"GET",
         {"api", "sessions", "{}", "messages"},
         usual,
         list_messages,
         "limit cursor",
         program_read},
        {"GET", {"api", "sessions", "{}", "turns"}, usual, list_turns, "limit cursor", read_id},
        {"GET",
         {"api", "sessions", "{}", "events"},
         usual,
         list_events,
         "after view limit cursor children",
         read_id},
        {"GET", {"api", "artifacts", "{}"}, usual, get_artifact, "", read_id},
        {"GET", {"api", "events"}, usual, list_feed, "project after view limit cursor", read_list},
    };
}

// Sessions in the spelling of ACP session managers (docs/reference/http.md).
std::vector<Route> manager_routes() {
    return {
        {"POST",
         {"api", "projects", "{}", "acp", "session"},
         large,
         acp_create,
         "wait",
         operate_project},
        {"GET",
         {"api", "projects", "{}", "acp", "session"},
         usual,
         acp_list,
         "limit cursor",
         read_project},
        {"GET",
         {"api", "projects", "{}", "acp", "session", "{}"},
         usual,
         acp_get,
         "wait",
         read_project_session},
        {"DELETE",
         {"api", "projects", "{}", "acp", "session", "{}"},
         usual,
         acp_delete,
         "",
         operate_project_session},
        {"POST",
         {"api", "projects", "{}", "acp", "session", "{}", "prompt"},
         large,
         acp_prompt,
         "wait",
         work_project_session},
        {"POST",
         {"api", "projects", "{}", "acp", "session", "{}", "resume"},
         usual,
         acp_resume,
         "",
         work_project_session},
        {"POST",
         {"api", "projects", "{}", "acp", "session", "{}", "cancel"},
         usual,
         acp_cancel,
         "",
         operate_project_session},
    };
}

std::vector<Route> server_routes() {
    return {
        {"GET",
         {"api", "deliveries"},
         usual,
         list_deliveries,
         "project state limit cursor",
         operate_list},
        {"POST", {"api", "deliveries", "{}", "retry"}, usual, retry_delivery, "", operate_id},
        {"DELETE", {"api", "deliveries", "{}"}, usual, delete_delivery, "", operate_id},
        {"GET", {"api", "agents"}, usual, get_agents, "", program_read_nothing},
        {"GET", {"api", "tools"}, usual, get_tools, "", program_read_nothing},
        {"GET", {"api", "explain", "{}"}, usual, get_explain, "", read_id},
        {"GET", {"api", "doctor"}, usual, get_doctor, "calls cursor", admin_server},
        {"POST", {"api", "doctor", "repair"}, usual, post_repair, "", admin_server},
        {"POST", {"api", "retention"}, usual, post_retention, "", admin_server},
        {"POST",
         {"api", "retention", "messages"},
         usual,
         post_retention_messages,
         "",
         admin_server},
        {"GET", {"api", "tokens"}, usual, list_tokens, "", admin_server},
        {"POST", {"api", "tokens"}, usual, create_token, "", admin_server},
        {"DELETE", {"api", "tokens", "{}"}, usual, delete_token, "", admin_server},
        {"POST", {"api", "links"}, usual, create_link, "", admin_server},
        {"GET", {"sign-in"}, usual, show_sign_in, "next", anyone},
        {"POST", {"sign-in"}, small, sign_in, "", anyone},
        {"DELETE", {"sign-in"}, usual, sign_out, "", read_nothing},
        {"POST", {"sign-out"}, usual, post_sign_out, "", read_nothing},
        {"GET", {"openapi.json"}, usual, get_openapi, "", read_nothing},
        {"GET", {"metrics"}, usual, get_metrics, "", read_server},
        {"GET", {"healthz"}, usual, get_health, "", anyone},
        {"GET", {"readyz"}, usual, get_ready, "", anyone},
    };
}

}  // namespace

std::vector<Route> all_routes() {
    std::vector<Route> out = call_routes();
    for (auto const& more : {session_routes(), manager_routes(), server_routes()})
        out.insert(out.end(), more.begin(), more.end());
    return out;
}

}  // namespace dormouse::server
