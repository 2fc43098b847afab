#include "http/objects/objects.h"
#include "http/resources/sessions/handlers.h"

#include "base/text/text.h"
#include "json/json.h"
#include "runner/lane/rows.h"

#include <algorithm>
#include <array>
#include <optional>

// The sessions of a project, newest first. A list reads the state of each session that it shows, so
// that it shows the current activity. One request reads a bounded number of sessions: a page of a
// search may have fewer than the limit, or none, and still have a `next`.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr std::uint32_t rows_at_once = 500;
constexpr std::size_t rows_max = 10'000;  // read by one request
constexpr std::size_t states_max = 500;   // sessions whose state one request reads
// Counts end here, so that their cost does not depend on the number of sessions.
constexpr std::uint32_t counted_max = 1'000;

constexpr std::array states{"running", "waiting", "idle", "paused", "failed", "completed"};

bool is_in(State const& state, std::string const& wanted) {
    bool const active = state.lifecycle == Lifecycle::active;
    Activity const now = activity(state);
    port::TurnState const turn = runner::turn_state(state);
    bool const failed = state.lifecycle == Lifecycle::error || turn == port::TurnState::failed;
    if (wanted == "running") return turn == port::TurnState::running;
    if (wanted == "waiting") return active && now == Activity::waiting_async;
    if (wanted == "failed") return failed;
    if (wanted == "idle") return active && now == Activity::idle && !failed;
    return text(state.lifecycle) == wanted;
}

bool contains_words(port::SessionRow const& row, std::string const& words) {
    for (std::string const& field : {row.title, row.agent, row.alias, row.id.text()}) {
        if (lower_case(field).find(words) != std::string::npos) return true;
    }
    return false;
}

struct Wanted {
    std::string project;
    std::size_t limit = 50;
    std::uint64_t before = 0;          // sessions with a smaller number; 0: all
    std::optional<std::string> alias;  // `*`: all sessions with an alias, by alias, on one page
    std::string words;                 // in lower case; empty: all
    std::string state;                 // empty: all
    std::string agent;                 // empty: all; "*": sessions that have an agent
    bool counts = false;
};

// Sessions that may be on the page.
struct Candidates {
    std::vector<SessionId> sessions;
    std::uint64_t next = 0;  // where to continue; 0: at the end
};

bool is_of(std::string const& agent, Wanted const& wanted) {
    if (wanted.agent.empty()) return true;
    return wanted.agent == "*" ? agent != no_agent : agent == wanted.agent;
}

Result<Candidates> find_waiting(port::Store& store, Wanted const& wanted) {
    port::PendingFilter filter;
    filter.project = wanted.project;
    filter.statuses = {port::PendingStatus::waiting};
    filter.limit = 2 * rows_at_once;
    constexpr std::uint64_t numbers_end = std::uint64_t{1} << 40;
    if (wanted.before != 0 && wanted.before < numbers_end)
        filter.before = PendingId{SessionId::make(wanted.before, {}), 0, 0, {}};
    auto const rows = store.list_pending(filter);
    if (!rows) return std::unexpected(rows.error());
    Candidates out;
    for (port::PendingListed const& row : *rows) {
        if (!out.sessions.empty() && out.sessions.back() == row.session) continue;
        if (out.sessions.size() == states_max) {
            out.next = out.sessions.back().number();
            return out;
        }
        out.sessions.push_back(row.session);
    }
    // Further calls of the last session are cut off by the limit, and add no session.
    if (rows->size() == filter.limit) out.next = out.sessions.back().number();
    return out;
}

Result<Candidates> find_sessions(port::Store& store, Wanted const& wanted) {
    Candidates out{{}, wanted.before};
    bool const all = wanted.words.empty() && wanted.agent.empty();
    std::size_t const most = wanted.state.empty() ? wanted.limit : states_max;
    for (std::size_t read = 0; read < rows_max;) {
        auto const ask = all ? static_cast<std::uint32_t>(most) : rows_at_once;
        auto const rows = store.sessions(wanted.project, out.next, ask);
        if (!rows) return std::unexpected(rows.error());
        for (port::SessionRow const& row : *rows) {
            out.next = row.id.number();
            bool const fits = is_of(row.agent, wanted) && contains_words(row, wanted.words);
            if (all || fits) out.sessions.push_back(row.id);
            if (out.sessions.size() == most) return out;
        }
        if (rows->size() < ask) {
            out.next = 0;
            return out;
        }
        read += rows->size();
    }
    return out;
}

Result<Candidates> find(port::Store& store, Wanted const& wanted) {
    if (!wanted.alias) {
        bool const by_calls = wanted.state == "waiting" && wanted.words.empty();
        return by_calls ? find_waiting(store, wanted) : find_sessions(store, wanted);
    }
    Candidates out;
    if (wanted.alias->empty()) return out;
    auto const rows = store.aliases(wanted.project, *wanted.alias == "*" ? "" : *wanted.alias,
                                    static_cast<std::uint32_t>(wanted.limit));
    if (!rows) return std::unexpected(rows.error());
    for (port::SessionRow const& row : *rows) out.sessions.push_back(row.id);
    return out;
}

struct Listing {
    Api& api;
    ExchangePtr x;
    Wanted wanted;
    Candidates found = {};
    std::optional<port::SessionCounts> counts = {};
    std::size_t at = 0;
    std::vector<std::string> items = {};
};

void write_counts(json::Writer& out, port::SessionCounts const& counts) {
    // Every session that is counted elsewhere is one of all.
    bool const complete = counts.all < counted_max;
    out.begin_object().member("all", counts.all).member("waiting", counts.waiting);
    out.member("running", counts.running);
    out.member("failed", std::min(counts.failed + counts.error, counted_max));
    out.member("paused", counts.paused).member("error", counts.error);
    out.member("completed", counts.completed).member("complete", complete).end_object();
}

void answer(Listing const& l, std::uint64_t next) {
    json::Writer out;
    out.begin_object().key("items").begin_array();
    for (std::string const& item : l.items) out.raw(item);
    out.end_array().member("next", next == 0 ? std::nullopt : std::optional(std::to_string(next)));
    if (l.counts) write_counts(out.key("counts"), *l.counts);
    l.x->json(200, out.end_object().take());
}

void list_next(std::shared_ptr<Listing> const& l) {
    if (l->at == l->found.sessions.size()) return answer(*l, l->found.next);
    SessionId const id = l->found.sessions[l->at];
    if (l->items.size() == l->wanted.limit)
        return answer(*l, l->found.sessions[l->at - 1].number());
    ++l->at;
    l->api.services().runner.read_lane(id, [l](Result<std::shared_ptr<runner::Lane>> lane) {
        std::string const& wanted = l->wanted.state;
        bool const fits = lane && is_of((*lane)->state().agent, l->wanted) &&
                          (wanted.empty() || is_in((*lane)->state(), wanted));
        if (fits) l->items.push_back(session_object((*lane)->state()));
        list_next(l);
    });
}

std::optional<Wanted> read_wanted(ExchangePtr const& x) {
    constexpr std::size_t words_max = 256;
    Query query{x->request};
    Wanted out;
    out.project = x->params[0];
    out.limit = query.number("limit", 50, 1, 200);
    if (auto const cursor = x->request.query_value("cursor")) {
        auto const number = parse_number(*cursor);
        if (!number)
            query.error = Error{Code::bad_cursor, "The cursor is invalid; begin without one."};
        out.before = number.value_or(0);
    }
    if (auto const given = x->request.query_value("alias")) out.alias = std::string(*given);
    out.words = lower_case(x->request.query_value("q").value_or(""));
    if (out.words.size() > words_max) query.error = bad_value("?q", "must be at most 256 bytes");
    out.state = x->request.query_value("state").value_or("");
    if (!out.state.empty() && std::ranges::find(states, out.state) == states.end())
        query.error =
            bad_value("?state", "must be running, waiting, idle, paused, failed or completed");
    out.agent = x->request.query_value("agentID").value_or("");
    auto const counts = x->request.query_value("counts");
    if (counts && *counts != "true" && *counts != "false")
        query.error = bad_value("?counts", "must be true or false");
    out.counts = counts == "true";
    if (!query.error) return out;
    x->fail(*query.error);
    return std::nullopt;
}

}  // namespace

void list_sessions(Api& api, ExchangePtr const& x) {
    auto wanted = read_wanted(x);
    if (!wanted) return;
    using Answer = std::pair<Candidates, std::optional<port::SessionCounts>>;
    auto question = [wanted = *wanted](port::Store& store) -> Result<Answer> {
        auto found = find(store, wanted);
        if (!found) return std::unexpected(std::move(found.error()));
        if (!wanted.counts) return Answer(*std::move(found), std::nullopt);
        auto const counts = store.session_counts(wanted.project, counted_max);
        if (!counts) return std::unexpected(counts.error());
        return Answer(*std::move(found), *counts);
    };
    port::ask(api.services().journal, std::move(question),
              [&api, x, wanted = *std::move(wanted)](Result<Answer> read) {
                  if (!read) return x->fail(read.error());
                  list_next(std::make_shared<Listing>(
                      Listing{api, x, wanted, std::move(read->first), read->second}));
              });
}

}  // namespace dormouse::http
