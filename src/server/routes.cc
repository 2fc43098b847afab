#include "server/handlers.h"

namespace dormouse::server {

namespace {
constexpr std::size_t usual = std::size_t{1} << 20;
constexpr std::size_t large = std::size_t{8} << 20;  // results and prompts
constexpr std::string_view pending_query =
    "sessionID project status tool reason externalRef changedSince wait limit cursor";
}  // namespace

std::vector<Route> all_routes() {
    return {
        {"POST", {"async-tool", "result"}, large, post_result},
        {"POST", {"async-tool", "results"}, large, post_results},
        {"POST", {"async-tool", "error"}, large, post_error},
        {"POST", {"async-tool", "decision"}, large, post_decision},
        {"POST", {"async-tool", "progress"}, usual, post_progress},
        {"POST", {"async-tool", "webhook"}, usual, post_webhook},
        {"POST", {"async-tool", "webhook", "{}"}, usual, post_webhook},
        {"POST", {"c", "{}"}, large, post_capability},
        {"GET", {"c", "{}"}, usual, get_capability},
        {"GET", {"async-tool", "pending"}, usual, list_pending, pending_query},
        {"GET", {"async-tool", "pending", "{}"}, usual, get_pending, "wait"},
        {"DELETE", {"async-tool", "pending", "{}"}, usual, delete_pending},
        {"POST", {"async-tool", "pending", "{}", "claim"}, usual, post_claim},
        {"POST", {"api", "projects", "{}", "sessions"}, large, create_session, "wait"},
        {"GET", {"api", "projects", "{}", "sessions"}, usual, list_sessions, "limit cursor"},
        {"GET", {"api", "sessions", "{}"}, usual, get_session, "wait"},
        {"PATCH", {"api", "sessions", "{}"}, usual, patch_session},
        {"DELETE", {"api", "sessions", "{}"}, usual, delete_session},
        {"POST", {"api", "sessions", "{}", "prompt"}, large, post_prompt, "wait"},
        {"POST", {"api", "sessions", "{}", "cancel"}, usual, cancel_session},
        {"POST", {"api", "sessions", "{}", "resume"}, usual, resume_session},
        {"POST", {"api", "sessions", "{}", "end"}, usual, end_session},
        {"POST", {"api", "sessions", "{}", "retry"}, usual, retry_session},
        {"POST", {"api", "sessions", "{}", "fork"}, usual, fork_session},
        {"GET", {"api", "sessions", "{}", "tasks"}, usual, list_tasks},
        {"POST", {"api", "sessions", "{}", "tasks"}, large, start_task},
        {"POST", {"api", "tasks", "{}", "resume"}, large, resume_task},
        {"POST", {"api", "tasks", "{}", "cancel"}, usual, cancel_task},
        {"GET", {"api", "tasks", "{}", "output"}, usual, get_task_output, "wait"},
        {"DELETE", {"api", "tasks", "{}"}, usual, delete_task},
        {"GET", {"api", "sessions", "{}", "messages"}, usual, list_messages, "limit cursor"},
        {"GET", {"api", "sessions", "{}", "turns"}, usual, list_turns, "limit cursor"},
        {"GET", {"api", "sessions", "{}", "events"}, usual, list_events, "after view limit cursor"},
        {"POST", {"api", "projects", "{}", "acp", "session"}, large, acp_create, "wait"},
        {"GET", {"api", "projects", "{}", "acp", "session"}, usual, acp_list, "limit cursor"},
        {"GET", {"api", "projects", "{}", "acp", "session", "{}"}, usual, acp_get, "wait"},
        {"DELETE", {"api", "projects", "{}", "acp", "session", "{}"}, usual, acp_delete},
        {"POST",
         {"api", "projects", "{}", "acp", "session", "{}", "prompt"},
         large,
         acp_prompt,
         "wait"},
        {"POST", {"api", "projects", "{}", "acp", "session", "{}", "resume"}, usual, acp_resume},
        {"POST", {"api", "projects", "{}", "acp", "session", "{}", "cancel"}, usual, acp_cancel},
        {"GET", {"api", "artifacts", "{}"}, usual, get_artifact},
        {"GET", {"api", "events"}, usual, list_feed, "project after limit cursor"},
        {"GET", {"api", "agents"}, usual, get_agents},
        {"GET", {"api", "tools"}, usual, get_tools},
        {"GET", {"api", "explain", "{}"}, usual, get_explain},
        {"GET", {"api", "doctor"}, usual, get_doctor},
        {"POST", {"api", "doctor", "repair"}, usual, post_repair},
        {"GET", {"openapi.json"}, usual, get_openapi},
        {"GET", {"metrics"}, usual, get_metrics},
        {"GET", {"healthz"}, usual, get_health},
        {"GET", {"readyz"}, usual, get_ready},
    };
}

}  // namespace dormouse::server
