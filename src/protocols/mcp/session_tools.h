#pragma once
// The tools of one session, for its external agent. Slow tools are started and answered at once;
// their outcome is a later prompt of the session. Has no state that the server does not have. Pure.

#include "json/json.h"
#include "mcp/api.h"

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace dormouse::mcp {

class SessionTools : public std::enable_shared_from_this<SessionTools> {
public:
    SessionTools(std::string session, ApiPtr api)
        : session_(std::move(session)), api_(std::move(api)) {}

    // Passes the elements of the list of tools: objects with name, description and inputSchema.
    void list(ApiDone done);
    // Answers unknown() if there is no such tool.
    void call(std::string name, Json arguments, TicketPtr ticket, ToolDone done);
    [[nodiscard]] static Refusal unknown(std::string const& tool);
    [[nodiscard]] static bool is_unknown(Refusal const& why);

private:
    struct Tool {
        std::string name;    // the server's name of it
        bool keyed = false;  // `key` is our argument, not the tool's
    };

    void offer(json::Writer& out, std::string const& tool, std::string_view about,
               json::View schema);
    void write_tools(json::Writer& out, std::string const& agent, json::View list);
    void call_found(std::string const& name, Json const& arguments, TicketPtr ticket,
                    ToolDone done);
    void call_durable(Tool const& tool, json::View arguments, ToolDone done);
    void call_own(std::string const& name, json::View arguments, ToolDone done);
    void wait(json::View arguments, TicketPtr const& ticket, ToolDone done);
    void start_task(json::View arguments, ToolDone done);
    void resume_task(json::View arguments, ToolDone done);
    void cancel_tasks(json::View arguments, ToolDone done);
    void clear_tasks(ToolDone done);
    void list_tasks(json::View arguments, ToolDone done);
    void broadcast(json::View arguments, ToolDone done);
    void inbox(json::View arguments, ToolDone done);
    [[nodiscard]] std::string path(std::string_view what) const;

    std::string session_;
    ApiPtr api_;
    std::map<std::string, Tool> tools_;  // durable tools, by the name they are offered under
    bool read_ = false;                  // tools_ is filled in
};

}  // namespace dormouse::mcp
