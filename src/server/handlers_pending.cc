#include "server/handlers.h"
#include "server/objects.h"

#include "json/json.h"

#include <algorithm>

// Reading pending calls: one, those of a session, those of a project.
namespace dormouse::server {

using namespace dormouse::session;

namespace {

void answer_pending(Api& api, ExchangePtr const& x, PendingId const& pending) {
    read_history(api, pending.session, [&api, x, pending](Result<Snapshot> snapshot) {
        if (!snapshot) return x->fail(snapshot.error());
        wire::PauseView const* const pause = snapshot->history.pause(pending);
        if (!pause) return x->fail(not_found());
        Time const now = api.services().runner.now();
        x->json(200, pending_object(snapshot->lane->state(), snapshot->history, *pause, now));
    });
}

struct Filter {
    std::vector<std::string> statuses;
    std::string tool, reason;
    std::size_t limit = 50;
    std::optional<PendingId> cursor;
    Duration wait{};

    [[nodiscard]] bool takes(wire::PauseView const& pause, std::string const& tool_name,
                             Time now) const {
        if (!tool.empty() && tool_name != tool) return false;
        if (!reason.empty() && text(pause.terms.reason) != reason) return false;
        return std::ranges::find(statuses, pending_status(pause, now)) != statuses.end();
    }
};

std::optional<Filter> read_filter(ExchangePtr const& x) {
    Query query{x->request};
    Filter filter;
    filter.limit = query.number("limit", 50, 1, 200);
    filter.wait = query.wait();
    filter.tool = x->request.query_value("tool").value_or("");
    filter.reason = x->request.query_value("reason").value_or("");
    std::string const status(x->request.query_value("status").value_or(""));
    filter.statuses =
        status.empty() ? std::vector<std::string>{"waiting", "processing"} : std::vector{status};
    constexpr std::array known{"waiting", "processing", "completed",
                               "failed",  "expired",    "cancelled"};
    if (!status.empty() && std::ranges::find(known, status) == known.end()) {
        query.error = bad_value(
            "?status", "must be waiting, processing, completed, failed, expired or cancelled");
    }
    if (!filter.reason.empty() && !parse<PauseReason>(filter.reason)) {
        query.error = bad_value(
            "?reason", "must be tool_result, user_input, approval, elicitation or handoff");
    }
    if (auto const cursor = x->request.query_value("cursor")) {
        filter.cursor = PendingId::parse(*cursor);
        if (!filter.cursor)
            query.error = Error{Code::bad_cursor, "This cursor is not one of ours; begin without."};
    }
    if (query.error) {
        x->fail(*query.error);
        return std::nullopt;
    }
    return filter;
}

std::string page(std::vector<std::string> const& items, std::optional<std::string> const& next) {
    json::Writer out;
    out.begin_object().key("items").begin_array();
    for (std::string const& item : items) out.raw(item);
    return out.end_array().member("next", next).end_object().take();
}

// Newest first.
void answer_session_list(Api& api, ExchangePtr const& x, Snapshot const& snapshot,
                         Filter const& filter) {
    Time const now = api.services().runner.now();
    std::vector<std::string> items;
    std::optional<std::string> next;
    auto const& calls = snapshot.history.calls();
    for (auto call = calls.rbegin(); call != calls.rend() && !next; ++call) {
        auto const& pauses = call->second.pauses;
        for (auto pause = pauses.rbegin(); pause != pauses.rend(); ++pause) {
            auto const place = std::pair(pause->pending.call, pause->pending.generation);
            if (filter.cursor && place >= std::pair(filter.cursor->call, filter.cursor->generation))
                continue;
            if (!filter.takes(*pause, call->second.spec.tool, now)) continue;
            if (items.size() == filter.limit) break;
            items.push_back(pending_object(snapshot.lane->state(), snapshot.history, *pause, now));
            if (items.size() == filter.limit) next = pause->pending.text();
        }
    }
    x->json(200, page(items, next));
}

void list_of_session(Api& api, ExchangePtr x, SessionId session, Filter filter) {
    api.services().runner.look(
        session, [&api, x, session, filter](Result<std::shared_ptr<runner::Lane>> lane) {
            if (!lane) return x->fail(lane.error());
            auto const some_wait = [](State const& state) { return state.waiting > 0; };
            wait_until(api, *lane, filter.wait, x, some_wait, [&api, x, session, filter] {
                read_history(api, session, [&api, x, filter](Result<Snapshot> snapshot) {
                    if (!snapshot) return x->fail(snapshot.error());
                    answer_session_list(api, x, *snapshot, filter);
                });
            });
        });
}

// A project's list is gathered from its sessions one after the other; rows tell which to ask.
struct Gather {
    Api& api;
    ExchangePtr x;
    Filter filter;
    std::vector<port::PendingListed> rows;
    std::size_t at = 0;
    std::vector<std::string> items;
    std::optional<std::string> next;
};

void gather(std::shared_ptr<Gather> g) {
    if (g->at == g->rows.size()) return g->x->json(200, page(g->items, g->next));
    SessionId const session = g->rows[g->at].session;
    read_history(g->api, session, [g, session](Result<Snapshot> snapshot) {
        Time const now = g->api.services().runner.now();
        for (; g->at < g->rows.size() && g->rows[g->at].session == session; ++g->at) {
            if (!snapshot) continue;
            port::PendingRow const& row = g->rows[g->at].row;
            auto const call = snapshot->history.calls().find(row.call);
            if (call == snapshot->history.calls().end()) continue;
            for (wire::PauseView const& pause : call->second.pauses) {
                bool const mine = pause.pending.generation == row.generation;
                if (!mine || !g->filter.takes(pause, call->second.spec.tool, now)) continue;
                g->items.push_back(
                    pending_object(snapshot->lane->state(), snapshot->history, pause, now));
            }
        }
        gather(g);
    });
}

port::PendingStatus row_status(std::string const& status) {
    if (status == "completed") return port::PendingStatus::completed;
    if (status == "failed") return port::PendingStatus::failed;
    if (status == "expired") return port::PendingStatus::expired;
    if (status == "cancelled") return port::PendingStatus::cancelled;
    return port::PendingStatus::waiting;
}

void list_of_project(Api& api, ExchangePtr x, Filter filter) {
    port::PendingFilter rows;
    rows.project = std::string(x->request.query_value("project").value_or("default"));
    rows.statuses = {row_status(filter.statuses.front())};
    rows.tool = filter.tool;
    rows.before = filter.cursor;
    rows.limit = static_cast<std::uint32_t>(filter.limit);
    auto question = [rows](port::Store& store) { return store.list_pending(rows); };
    port::ask(
        api.services().journal, std::move(question),
        [&api, x, filter](Result<std::vector<port::PendingListed>> listed) {
            if (!listed) return x->fail(listed.error());
            auto const g =
                std::make_shared<Gather>(Gather{api, x, filter, std::move(*listed), 0, {}, {}});
            if (g->rows.size() == filter.limit) {
                port::PendingListed const& last = g->rows.back();
                g->next = PendingId{last.session, last.row.call, last.row.generation, {}}.text();
            }
            gather(g);
        });
}

}  // namespace

void list_pending(Api& api, ExchangePtr x) {
    auto filter = read_filter(x);
    if (!filter) return;
    auto const session = x->request.query_value("sessionID");
    if (!session) return list_of_project(api, std::move(x), std::move(*filter));
    auto const id = SessionId::parse(*session);
    if (!id) return x->fail(not_found());
    list_of_session(api, std::move(x), *id, std::move(*filter));
}

void get_pending(Api& api, ExchangePtr x) {
    auto const pending = PendingId::parse(x->params[0]);
    if (!pending) return x->fail(not_found());
    Query query{x->request};
    Duration const wait = query.wait();
    if (query.error) return x->fail(*query.error);
    api.services().runner.look(pending->session, [&api, x, pending = *pending, wait](auto lane) {
        if (!lane) return x->fail(lane.error());
        auto const settled = [pending](State const& state) {
            return open_pause(state, pending) == nullptr;
        };
        wait_until(api, *lane, wait, x, settled,
                   [&api, x, pending] { answer_pending(api, x, pending); });
    });
}

}  // namespace dormouse::server
