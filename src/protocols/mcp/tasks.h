#pragma once
// Tasks of the protocol (2025-11-25; since 2026-07-28 the extension io.modelcontextprotocol/tasks):
// a client that cannot wait for an answer gets the id of a task, and asks for it later. A task is
// the pending call of a question, with the same id, so it has no state that the server does not
// have. Only the token that made it finds it, until its time to live is over; that is also the
// deadline of the question. Pure.

#include "json/json.h"
#include "mcp/api.h"
#include "mcp/elicitation.h"
#include "mcp/versions.h"
#include "rpc/message.h"

#include <expected>
#include <memory>
#include <string>
#include <string_view>

namespace dormouse::mcp {

inline constexpr std::int64_t task_ttl_min_ms = 1'000;
inline constexpr std::int64_t task_ttl_max_ms = 31'622'400'000;     // 366 days
inline constexpr std::int64_t task_ttl_default_ms = 2'592'000'000;  // 30 days

class Tasks : public std::enable_shared_from_this<Tasks> {
public:
    using Answer = std::expected<Json, rpc::Fault>;
    using Done = std::move_only_function<void(Answer)>;

    // `project`: empty is all projects of the token.
    Tasks(ApiPtr api, std::string project) : api_(std::move(api)), project_(std::move(project)) {}

    // Answers tools/call with a task. REQUIRES: asks_question(tool), and the arguments fit its
    // schema. `task`: the member of the request; its `ttl` is bounded.
    void create(std::string_view tool, json::View arguments, json::View task, Era era, Done done);
    // REQUIRES: is_method(message.method, era).
    // A client that elicits is asked for the answer: its task is then `input_required`.
    void answer(rpc::Message const& message, Era era, Elicits const& elicits,
                TicketPtr const& ticket, Done done);
    [[nodiscard]] static bool is_method(std::string_view method, Era era);

private:
    using Found = std::move_only_function<void(std::expected<Json, rpc::Fault>)>;

    // `ticket`: waits while the server is away; null: does not.
    void find(std::string const& id, TicketPtr const& ticket, Found found);
    void get(std::string const& id, Era era, Elicits const& elicits, Done done);
    void list(json::View params, Elicits const& elicits, Done done);
    void result(std::string const& id, Elicits const& elicits, TicketPtr const& ticket, Done done);
    void update(std::string const& id, json::View params, Done done);
    void cancel(std::string const& id, Era era, Done done);
    void with_owner(TicketPtr const& ticket,
                    std::move_only_function<void(std::expected<std::string, rpc::Fault>)> then);

    ApiPtr api_;
    std::string project_;
};

// Adds what a server with tasks says of itself to the object of its capabilities.
void write_task_capabilities(json::Writer& out, Era era);

}  // namespace dormouse::mcp
