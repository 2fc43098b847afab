#include "http/resources/calls/handlers.h"
#include "http/resources/devices/handlers.h"
#include "http/resources/feed/handlers.h"
#include "http/resources/mail/handlers.h"
#include "http/resources/mcp/handlers.h"
#include "http/resources/operations/handlers.h"
#include "http/resources/pages/handlers.h"
#include "http/resources/rules/handlers.h"
#include "http/resources/sessions/handlers.h"
#include "http/resources/tasks/handlers.h"
#include "http/resources/tokens/handlers.h"
#include "http/resources/webhooks/handlers.h"

namespace dormouse::http {

namespace {
constexpr std::size_t plain = std::size_t{1} << 20;
constexpr std::size_t large = std::size_t{8} << 20;  // results and prompts
constexpr std::size_t whole_sessions = std::size_t{128} << 20;
constexpr std::size_t small = std::size_t{4} << 10;       // a word or two, without a token
constexpr std::size_t question = std::size_t{256} << 10;  // its parts are bounded one by one
constexpr std::string_view pending_query =
    "sessionID project status tool reason externalRef changedSince view wait limit cursor";
constexpr Right admin_server{Role::admin, Names::server};
constexpr Right answer_body{Role::answer, Names::body};
constexpr Right answer_items{Role::answer, Names::items};
constexpr Right answer_id{Role::answer, Names::id};
// The handler knows the rule's project, also that of a deleted session.
constexpr Right answer_rule{Role::answer, Names::nothing};
// The handler serves the caller's own devices only.
constexpr Right answer_nothing{Role::answer, Names::nothing};
constexpr Right anyone{Role::anyone, Names::nothing};
constexpr Right operate_id{Role::operate, Names::id};
constexpr Right operate_list{Role::operate, Names::list};
constexpr Right operate_server{Role::operate, Names::server};
constexpr Right operate_project{Role::operate, Names::project};
constexpr Right operate_project_session{Role::operate, Names::project_session};
constexpr Right agent_id{Role::operate, Names::id, true};
constexpr Right agent_work{Role::operate, Names::id, true, true};
constexpr Right agent_list{Role::operate, Names::list, true};
constexpr Right agent_read{Role::read, Names::id, true};
constexpr Right agent_read_list{Role::read, Names::list, true};
constexpr Right agent_read_nothing{Role::read, Names::nothing, true};
constexpr Right work_id{Role::operate, Names::id, false, true};
constexpr Right work_project_session{Role::operate, Names::project_session, false, true};
constexpr Right read_id{Role::read, Names::id};
constexpr Right read_list{Role::read, Names::list};
constexpr Right read_lists{Role::read, Names::lists};
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
        {"POST", {"async-tool", "progress"}, plain, post_progress, "", answer_body},
        {"POST", {"async-tool", "webhook"}, plain, post_webhook, "", anyone},
        {"POST", {"async-tool", "webhook", "{}"}, plain, post_webhook, "", anyone},
        {"POST", {"async-tool", "slack"}, plain, post_slack, "", anyone},
        {"POST", {"c", "{}"}, large, post_capability, "", anyone},
        {"GET", {"c", "{}"}, plain, get_capability, "", anyone},
        {"GET", {}, plain, get_home, "for open", anyone},
        {"GET", {"a", "{}"}, plain, get_page, "confirm", anyone},
        {"POST", {"a", "{}"}, plain, post_page, "", answer_id},
        {"GET", {"async-tool", "pending"}, plain, list_pending, pending_query, read_lists},
        {"GET", {"async-tool", "pending", "{}"}, plain, get_pending, "view wait", read_id},
        {"DELETE", {"async-tool", "pending", "{}"}, plain, delete_pending, "reason", operate_id},
        {"POST", {"api", "pending"}, question, post_pending, "project", operate_list},
        {"GET", {"api", "pending"}, plain, list_pending, pending_query, read_list},
        {"GET", {"api", "pending", "{}"}, plain, get_pending, "view wait", read_id},
        {"DELETE", {"api", "pending", "{}"}, plain, delete_pending, "reason", operate_id},
        {"POST", {"async-tool", "pending", "{}", "claim"}, plain, post_claim, "", answer_id},
        {"POST", {"async-tool", "pending", "{}", "reassign"}, plain, post_reassign, "", answer_id},
        {"POST",
         {"async-tool", "pending", "{}", "callback"},
         plain,
         post_callback_url,
         "",
         operate_id},
    };
}

std::vector<Route> session_routes() {
    return {
        {"GET", {"api", "projects"}, plain, list_projects, "limit cursor", read_nothing},
        {"POST",
         {"api", "projects", "{}", "sessions"},
         large,
         create_session,
         "wait",
         operate_project},
        {"GET",
         {"api", "projects", "{}", "sessions"},
         plain,
         list_sessions,
         "alias q state agentID counts limit cursor",
         read_project},
        {"POST", {"api", "projects", "{}", "import"}, large, import_session, "", operate_project},
        {"GET", {"api", "sessions", "{}"}, plain, get_session, "wait", agent_read},
        {"PATCH", {"api", "sessions", "{}"}, plain, patch_session, "", operate_id},
        {"DELETE", {"api", "sessions", "{}"}, plain, delete_session, "", operate_id},
        {"POST", {"api", "sessions", "{}", "prompt"}, large, post_prompt, "wait", work_id},
        {"POST", {"api", "sessions", "{}", "cancel"}, plain, cancel_session, "", operate_id},
        {"POST", {"api", "sessions", "{}", "resume"}, plain, resume_session, "", work_id},
        {"POST", {"api", "sessions", "{}", "end"}, plain, end_session, "", operate_id},
        {"POST", {"api", "sessions", "{}", "retry"}, plain, retry_session, "", work_id},
        {"POST", {"api", "sessions", "{}", "fork"}, plain, fork_session, "", operate_id},
        {"POST", {"api", "sessions", "{}", "redactions"}, plain, post_redaction, "", operate_id},
        {"GET",
         {"api", "sessions", "{}", "messages"},
         plain,
         list_messages,
         "limit cursor",
         agent_read},
        {"GET", {"api", "sessions", "{}", "turns"}, plain, list_turns, "limit cursor", read_id},
        {"GET",
         {"api", "sessions", "{}", "events"},
         plain,
         list_events,
         "after view limit cursor children",
         read_id},
        {"GET", {"api", "artifacts", "{}"}, plain, get_artifact, "", read_id},
        {"GET", {"api", "events"}, plain, list_feed, "project after view limit cursor", read_lists},
    };
}

std::vector<Route> mail_routes() {
    return {
        {"POST", {"api", "mail"}, plain, post_mail, "project", agent_list},
        {"GET",
         {"api", "mail"},
         plain,
         list_mail,
         "sessionID project limit cursor",
         agent_read_list},
        {"GET", {"api", "mail", "{}"}, plain, get_mail, "after limit", agent_read},
        {"POST", {"api", "mail", "{}", "release"}, plain, release_mail, "", operate_id},
        {"GET",
         {"api", "sessions", "{}", "inbox"},
         plain,
         list_inbox,
         "after status limit",
         agent_read},
    };
}

// Routes for a session's tasks and its external agent.
std::vector<Route> task_routes() {
    return {
        {"GET", {"api", "sessions", "{}", "tasks"}, plain, list_tasks, "tree", agent_read},
        {"POST", {"api", "sessions", "{}", "report"}, plain, post_report, "", agent_id},
        {"POST", {"api", "sessions", "{}", "tasks"}, large, start_task, "", agent_id},
        {"POST", {"api", "sessions", "{}", "import"}, large, import_more, "", work_id},
        {"POST", {"api", "sessions", "{}", "attach"}, plain, post_attach, "", work_id},
        {"POST", {"api", "sessions", "{}", "calls"}, large, post_call, "", agent_work},
        {"POST", {"api", "tasks", "{}", "resume"}, large, resume_task, "", agent_id},
        {"POST", {"api", "tasks", "{}", "cancel"}, plain, cancel_task, "", agent_id},
        {"GET", {"api", "tasks", "{}", "output"}, plain, get_task_output, "wait", agent_read},
        {"DELETE", {"api", "tasks", "{}"}, plain, delete_task, "", agent_id},
    };
}

// Routes in the spelling of ACP session managers (docs/reference/http.md).
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
         plain,
         acp_list,
         "limit cursor",
         read_project},
        {"GET",
         {"api", "projects", "{}", "acp", "session", "{}"},
         plain,
         acp_get,
         "wait",
         read_project_session},
        {"DELETE",
         {"api", "projects", "{}", "acp", "session", "{}"},
         plain,
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
         plain,
         acp_resume,
         "",
         work_project_session},
        {"POST",
         {"api", "projects", "{}", "acp", "session", "{}", "cancel"},
         plain,
         acp_cancel,
         "",
         operate_project_session},
    };
}

std::vector<Route> mcp_routes() {
    return {
        {"POST", {"mcp"}, large, post_mcp, "session project", agent_read_nothing},
        {"GET", {"mcp"}, plain, get_mcp, "session project", agent_read_nothing},
        {"DELETE", {"mcp"}, plain, delete_mcp, "session project", agent_read_nothing},
        {"GET", {".well-known", "oauth-protected-resource"}, plain, get_mcp_metadata, "", anyone},
        {"GET",
         {".well-known", "oauth-protected-resource", "mcp"},
         plain,
         get_mcp_metadata,
         "",
         anyone},
        {"GET", {"mcp-sign-in", "{}"}, plain, begin_mcp_sign_in, "", operate_server},
        // Authorization servers add parameters of their own, which are ignored (RFC 6749, 4.1.2).
        {"GET",
         {"mcp-sign-in", "{}", "callback"},
         plain,
         end_mcp_sign_in,
         "code state iss error *",
         operate_server},
    };
}

std::vector<Route> server_routes() {
    return {
        {"GET",
         {"api", "deliveries"},
         plain,
         list_deliveries,
         "project state limit cursor",
         operate_list},
        {"POST", {"api", "deliveries", "{}", "retry"}, plain, retry_delivery, "", operate_id},
        {"DELETE", {"api", "deliveries", "{}"}, plain, delete_delivery, "", operate_id},
        {"GET", {"api", "agents"}, plain, get_agents, "", agent_read_nothing},
        {"GET", {"api", "tools"}, plain, get_tools, "", agent_read_nothing},
        {"GET", {"api", "explain", "{}"}, plain, get_explain, "", read_id},
        {"GET", {"api", "doctor"}, plain, get_doctor, "calls cursor", admin_server},
        {"POST", {"api", "doctor", "repair"}, plain, post_repair, "", admin_server},
        {"POST", {"api", "release"}, plain, post_release, "", admin_server},
        {"POST", {"api", "import"}, whole_sessions, post_import, "", admin_server},
        {"POST", {"api", "copy"}, plain, post_copy, "", admin_server},
        {"POST", {"api", "reload"}, plain, post_reload, "", admin_server},
        {"GET", {"api", "audit"}, plain, get_audit, "session by type limit cursor", admin_server},
        {"GET", {"api", "nodes"}, plain, get_nodes, "", operate_server},
        {"GET", {"api", "starts"}, plain, get_starts, "", read_nothing},
        {"GET", {"api", "config"}, plain, get_config, "", admin_server},
        {"POST", {"api", "retention"}, plain, post_retention, "", admin_server},
        {"POST",
         {"api", "retention", "messages"},
         plain,
         post_retention_messages,
         "",
         admin_server},
        {"GET", {"api", "rules"}, plain, list_rules, "project", read_list},
        {"DELETE", {"api", "rules", "{}"}, plain, delete_rule, "", answer_rule},
        {"GET", {"api", "me"}, plain, get_me, "", read_nothing},
        {"GET", {"api", "devices"}, plain, list_devices, "", answer_nothing},
        {"POST", {"api", "devices"}, small, create_device, "", answer_nothing},
        {"DELETE", {"api", "devices", "{}"}, plain, delete_device, "", answer_nothing},
        {"POST", {"api", "devices", "{}", "test"}, plain, test_device, "", answer_nothing},
        {"GET", {"api", "tokens"}, plain, list_tokens, "", admin_server},
        {"POST", {"api", "tokens"}, plain, create_token, "", admin_server},
        {"DELETE", {"api", "tokens", "{}"}, plain, delete_token, "", admin_server},
        {"POST", {"api", "links"}, plain, create_link, "", admin_server},
        {"GET", {"sign-in"}, plain, show_sign_in, "next", anyone},
        {"POST", {"sign-in"}, small, sign_in, "", anyone},
        {"POST", {"sign-in", "email"}, small, post_sign_in_mail, "", anyone},
        {"POST", {"sign-in", "link"}, small, describe_link, "", anyone},
        {"GET", {"sign-in", "oidc"}, plain, begin_oidc, "next", anyone},
        // Providers add parameters of their own, which are ignored (RFC 6749, 4.1.2).
        {"GET", {"sign-in", "oidc", "callback"}, plain, end_oidc, "code state iss error *", anyone},
        {"DELETE", {"sign-in"}, plain, sign_out, "", read_nothing},
        {"POST", {"sign-out"}, plain, post_sign_out, "", read_nothing},
        {"GET", {"openapi.json"}, plain, get_openapi, "", read_nothing},
        {"GET", {"metrics"}, plain, get_metrics, "", read_server},
        {"GET", {"healthz"}, plain, get_health, "", anyone},
        {"GET", {"readyz"}, plain, get_ready, "", anyone},
    };
}

}  // namespace

std::vector<Route> all_routes() {
    std::vector<Route> out = call_routes();
    for (auto const& more : {session_routes(), mail_routes(), task_routes(), manager_routes(),
                             mcp_routes(), server_routes()})
        out.insert(out.end(), more.begin(), more.end());
    return out;
}

}  // namespace dormouse::http
