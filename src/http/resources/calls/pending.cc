#include "http/resources/calls/call_fields.h"
#include "http/resources/calls/handlers.h"
#include "http/resources/calls/inbox.h"
#include "http/resources/read_part.h"
#include "http/streams/changes.h"

#include "base/enum_words.h"
#include "json/json.h"
#include "session/limits.h"

#include <algorithm>
#include <set>
#include <span>
#include <tuple>
#include <utility>

// Reads pending calls: one, those of a session, those of a project.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

bool wants_inbox(ExchangePtr const& x) {
    return x->request.query_value("view").has_value() && x->principal;
}

// As ?view asks to see it.
std::string shown(ExchangePtr const& x, Snapshot const& snapshot, wire::PauseView const& pause,
                  Time now) {
    State const& state = snapshot.lane->state();
    if (!wants_inbox(x)) return pending_object(state, snapshot.history, pause, now);
    return inbox_object(state, snapshot.history, pause, *x->principal, now);
}

void check_view(Query& query) {
    auto const view = query.request.query_value("view");
    if (view && *view != "inbox") query.error = bad_value("?view", "must be inbox");
}

void answer_pending(Api& api, ExchangePtr const& x, PendingId const& pending) {
    read_pending(api, pending, [&api, x, pending](Result<Snapshot> snapshot) {
        if (!snapshot) return x->fail(snapshot.error());
        wire::PauseView const* const pause = snapshot->history.pause(pending);
        if (!pause) return x->fail(missing(snapshot->lane->state(), pending));
        Time const now = api.services().runner.now();
        x->json(200, shown(x, *snapshot, *pause, now));
    });
}

struct Filter {
    std::vector<std::string> statuses;
    port::Projects projects;
    std::string tool, reason, external_ref;
    std::size_t limit = 50;
    std::optional<PendingId> cursor;
    std::optional<AsOf> changed_since;
    Time begun{};  // by the clock of Changes
    Duration wait{};
    Time until{};  // end of `wait`

    [[nodiscard]] bool takes_open_only() const {
        return std::ranges::all_of(statuses, [](std::string const& status) {
            return status == "waiting" || status == "processing";
        });
    }
    [[nodiscard]] bool takes(wire::PauseView const& pause, std::string const& tool_name,
                             Time now) const {
        if (!tool.empty() && tool_name != tool) return false;
        if (!external_ref.empty() && pause.terms.external_ref != external_ref) return false;
        if (!reason.empty() && text(pause.terms.reason) != reason) return false;
        return std::ranges::find(statuses, word_of(pending_status(pause, now))) != statuses.end();
    }
};

constexpr auto& status_names = words_of<CallState>;

// Default: open calls; with changedSince also settled ones.
std::vector<std::string> read_statuses(Query& query) {
    std::string const status(query.request.query_value("status").value_or(""));
    if (status.empty()) {
        bool const changed = query.request.query_value("changedSince").has_value();
        return {status_names.begin(), changed ? status_names.end() : status_names.begin() + 2};
    }
    if (std::ranges::find(status_names, status) == status_names.end()) {
        query.error = bad_value("?status", "must be " + one_of(status_names));
    }
    return {status};
}

std::optional<Filter> read_filter(Api& api, ExchangePtr const& x) {
    Query query{x->request};
    Filter filter;
    filter.statuses = read_statuses(query);
    check_view(query);
    filter.limit = query.number("limit", 50, 1, 200);
    filter.wait = query.wait();
    filter.until = api.services().runner.now() + filter.wait;
    filter.begun = api.changes().as_of(api.services().runner.now());
    filter.projects = projects_of(*x);
    filter.tool = x->request.query_value("tool").value_or("");
    filter.external_ref = x->request.query_value("externalRef").value_or("");
    filter.reason = x->request.query_value("reason").value_or("");
    if (x->request.query_value("changedSince")) {
        filter.changed_since = AsOf(query.number("changedSince", 0, 0, AsOf::most));
    }
    if (!filter.reason.empty() && !parse<PauseReason>(filter.reason)) {
        query.error = bad_value("?reason", "must be " + one_of(words_of<PauseReason>));
    }
    if (auto const cursor = x->request.query_value("cursor")) {
        filter.cursor = PendingId::parse(*cursor);
        if (!filter.cursor)
            query.error = Error{Code::bad_cursor, "The cursor is invalid; begin without one."};
    }
    bool const both = x->request.query_value("project") && x->request.query_value("sessionID");
    if (both) query.error = bad_value("?project", "must not be given with sessionID");
    if (query.error) {
        x->fail(*query.error);
        return std::nullopt;
    }
    return filter;
}

struct Page {
    std::vector<std::string> items;
    std::optional<std::string> next;
    std::size_t bytes = 0;  // of the items

    void add(std::string item) {
        bytes += item.size();
        items.push_back(std::move(item));
    }
    // Whatever the limit of items: arguments can be a mebibyte each.
    [[nodiscard]] bool full() const { return bytes > list_bytes_max; }
};

// `as_of`: with it, changedSince finds every later change.
void answer_list(ExchangePtr const& x, Page const& page, AsOf as_of) {
    x->json(200, list_text(page.items, page.next),
            {{"Dormouse-As-Of", std::to_string(as_of.number())}});
}

// Passes the present to `then`, before anything of the answer is read.
void with_as_of(Api& api, ExchangePtr const& x, port::Fn<void(AsOf)> then) {
    if (!api.services().shared) return then(AsOf(api.changes().as_of(api.services().runner.now())));
    port::ask(
        api.services().journal, [](port::FeedStore& store) { return store.feed_head(); },
        [&api, x, then = std::move(then)](Result<std::uint64_t> const& head) mutable {
            if (!head) return x->fail(head.error());
            then(AsOf::place(api.changes().place(*head)));
        });
}

// Returns true if there is nothing yet and the request may still wait.
bool waits_on(Api& api, ExchangePtr const& x, Filter const& filter, Page const& page) {
    bool const nothing = page.items.empty() && !page.next;
    runner::Runner const& runner = api.services().runner;
    return nothing && runner.now() < filter.until && !runner.draining() && !x->responder->gone();
}

// The calls that are known to have changed since the requested time, whatever the times in the
// journal say.
struct Known {
    using Place = std::tuple<std::uint64_t, CallNo, Generation>;
    std::optional<Time> since = Time{};  // calls that changed since then count, too; else no others
    std::vector<PendingId> calls = {};
    std::set<Place> places = {};  // of `calls`
    // The place in a shared feed up to which they were read. It can be before what could be read a
    // moment ago, because a writer that is in a call hides what others have appended.
    std::optional<std::uint64_t> read_to = {};

    void add(std::vector<PendingId> const& pendings) {
        calls.insert(calls.end(), pendings.begin(), pendings.end());
        for (PendingId const& p : pendings)
            places.emplace(p.session.number(), p.call, p.generation);
    }
    [[nodiscard]] bool takes(wire::PauseView const& pause) const {
        PendingId const& p = pause.pending;
        if (places.contains({p.session.number(), p.call, p.generation})) return true;
        return since && pause.changed >= *since;
    }
};

using KnownFn = port::Fn<void(Known)>;

// While another process is in a call, the feed ends before what this one has noted since.
void changes_after_place(Api& api, ExchangePtr const& x, port::Projects const& projects,
                         Filter const& filter, KnownFn done) {
    Known known{.since = std::nullopt};
    known.add(api.changes().since(projects, filter.begun + Duration(1)));
    auto question = [projects, place = filter.changed_since->feed()](port::FeedStore& store) {
        return changed_after(store, projects, place);
    };
    port::ask(api.services().journal, std::move(question),
              [x, known = std::move(known),
               done = std::move(done)](Result<ChangedAfter> const& found) mutable {
                  if (!found) return x->fail(found.error());
                  known.since = found->since;
                  known.read_to = found->next;
                  known.add(found->calls);
                  done(std::move(known));
              });
}

// Passes what has changed in the projects since the cursor to `done`. Reads the feed if other
// processes use the store, or if this process does not remember all changes since then.
void find_changes(Api& api, ExchangePtr const& x, port::Projects const& projects,
                  Filter const& filter, KnownFn done) {
    bool const shared = api.services().shared;
    AsOf const as_of = *filter.changed_since;
    if (as_of.number() == 0) return done({});  // everything
    if (as_of.is_place() && !shared) return done({});
    if (as_of.is_place()) return changes_after_place(api, x, projects, filter, std::move(done));
    Time const since = as_of.time();
    if (!shared && api.changes().remembers(since)) {
        Known known{.since = std::nullopt};
        known.add(api.changes().since(projects, since));
        return done(std::move(known));
    }
    auto const numbers = shared ? FeedNumbers::with_writer : FeedNumbers::dense;
    auto question = [projects, since, numbers](port::FeedStore& store) {
        return changed_in_feed(store, projects, since, numbers);
    };
    port::ask(
        api.services().journal, std::move(question),
        [x, since, shared, done = std::move(done)](Result<ChangedAfter> const& found) mutable {
            if (!found) return x->fail(found.error());
            Known known{.since = since - append_takes_at_most};
            if (shared) known.read_to = found->next;
            known.add(found->calls);
            done(std::move(known));
        });
}

// Returns until when a request waits before it reads again. The wait is short if this process has
// just noted a change: the feed may still hide it, and nothing then wakes the request for it.
Time wait_end(Api& api, Filter const& filter) {
    constexpr Duration look_again{200};
    Time const now = api.services().runner.now();
    bool const by_place = filter.changed_since && filter.changed_since->is_place();
    bool const hidden = by_place && api.changes().noted(now - append_takes_at_most);
    return hidden ? std::min(filter.until, now + look_again) : filter.until;
}

// Returns the page, newest first.
Page page_of_session(ExchangePtr const& x, Snapshot const& snapshot, Filter const& filter,
                     Known const& known, Time now) {
    Page page;
    auto const& calls = snapshot.history.calls();
    for (auto call = calls.rbegin(); call != calls.rend() && !page.next; ++call) {
        auto const& pauses = call->second.pauses;
        for (auto pause = pauses.rbegin(); pause != pauses.rend(); ++pause) {
            auto const place = std::pair(pause->pending.call, pause->pending.generation);
            if (filter.cursor && place >= std::pair(filter.cursor->call, filter.cursor->generation))
                continue;
            if (filter.changed_since && !known.takes(*pause)) continue;
            if (!filter.takes(*pause, call->second.spec.tool, now)) continue;
            if (page.next) break;
            page.add(shown(x, snapshot, *pause, now));
            if (page.items.size() == filter.limit || page.full()) page.next = pause->pending.text();
        }
    }
    return page;
}

void answer_session(Api& api, ExchangePtr const& x, SessionId session, Filter const& filter);

void answer_page(Api& api, ExchangePtr const& x, Snapshot const& snapshot, Filter const& filter,
                 Known const& known, AsOf as_of) {
    SessionId const session = snapshot.lane->id();
    Page const page = page_of_session(x, snapshot, filter, known, api.services().runner.now());
    bool const waits = filter.changed_since && waits_on(api, x, filter, page);
    if (!waits) return answer_list(x, page, as_of);
    wait_for_change(api, {}, session, wait_end(api, filter), x,
                    [&api, x, session, filter] { answer_session(api, x, session, filter); });
}

void changes_of_session(Api& api, ExchangePtr const& x, SessionId session, Filter const& filter);
void rows_of_session(Api& api, ExchangePtr const& x, SessionId session, Filter const& filter);

void answer_session(Api& api, ExchangePtr const& x, SessionId session, Filter const& filter) {
    if (filter.changed_since) return changes_of_session(api, x, session, filter);
    if (!filter.takes_open_only()) return rows_of_session(api, x, session, filter);
    with_as_of(api, x, [&api, x, session, filter](AsOf as_of) {
        read_open_calls(api, session, [&api, x, filter, as_of](Result<Snapshot> snapshot) {
            if (!snapshot) return x->fail(snapshot.error());
            answer_page(api, x, *snapshot, filter, {}, as_of);
        });
    });
}

void list_of_session(Api& api, ExchangePtr const& x, SessionId session, Filter const& filter) {
    if (filter.changed_since) return answer_session(api, x, session, filter);
    api.services().runner.read_lane(
        session, [&api, x, session, filter](Result<std::shared_ptr<runner::Lane>> lane) {
            if (!lane) return x->fail(lane.error());
            auto const some_wait = [](State const& state) { return state.waiting > 0; };
            wait_until(api, *lane, filter.wait, x, some_wait,
                       [&api, x, session, filter] { answer_session(api, x, session, filter); });
        });
}

// A list of projects, gathered from its sessions one after the other; `places` says which.
struct Gather {
    Api& api;
    ExchangePtr x;
    Filter filter;
    AsOf as_of;
    std::optional<SessionId> session = {};  // set if all places are in this session
    std::vector<PendingId> places = {};     // nonces are ignored
    Known known = {};
    std::size_t at = 0;
    Page page = {};
};

// Returns the cursor of the answer: the place up to which the feed was read, or `now` if it was not
// read. The next query gets everything after it.
AsOf as_of_read(Known const& known, AsOf now) {
    return known.read_to ? AsOf::place(*known.read_to) : now;
}

void list_of_project(Api& api, ExchangePtr const& x, Filter const& filter);

void gather_from(Gather& g, Snapshot const& snapshot, PendingId const& place) {
    Time const now = g.api.services().runner.now();
    auto const call = snapshot.history.calls().find(place.call);
    if (call == snapshot.history.calls().end()) return;
    for (wire::PauseView const& pause : call->second.pauses) {
        bool const mine = pause.pending.generation == place.generation;
        bool const new_enough = !g.filter.changed_since || g.known.takes(pause);
        if (!mine || !new_enough || !g.filter.takes(pause, call->second.spec.tool, now)) continue;
        g.page.add(shown(g.x, snapshot, pause, now));
    }
}

constexpr std::size_t alone_max = 4;
constexpr Seq events_of_a_call = 64;  // the cost of reading it alone, about

void gather(std::shared_ptr<Gather> const& g);

// Reads what the calls at these places need, all in one session. Open calls need the events of the
// open turn. A few settled calls are read one by one; for many it is cheaper to read the whole of a
// short session.
void read_places(std::shared_ptr<Gather> const& g, std::span<PendingId const> places,
                 runner::Lane const* lane) {
    auto take = [g](std::size_t taken) {
        return [g, taken](Result<Snapshot> snapshot) {
            std::size_t const end = g->at + taken;
            while (g->at < end && !g->page.full()) {
                if (snapshot) gather_from(*g, *snapshot, g->places[g->at]);
                ++g->at;
            }
            if (g->page.full() && g->at < g->places.size()) {
                g->page.next = g->places[g->at - 1].text();
                g->places.resize(g->at);
            }
            gather(g);
        };
    };
    PendingId const& first = places.front();
    if (!lane) return read_pending(g->api, first, take(1));
    State const& state = lane->state();
    auto const is_open = [&](PendingId const& place) { return state.calls.contains(place.call); };
    bool const open = is_open(first);
    auto const other = std::ranges::find_if(
        places, [&](PendingId const& place) { return is_open(place) != open; });
    auto const count = static_cast<std::size_t>(other - places.begin());
    if (open) return read_open_calls(g->api, first.session, take(count));
    bool const alone = count <= alone_max || state.head > events_of_a_call * count;
    if (alone) return read_pending(g->api, first, take(1));
    read_history(g->api, first.session, take(count));
}

void gather(std::shared_ptr<Gather> const& g) {
    if (g->at == g->places.size()) {
        // Without changedSince the list of a session has already waited.
        bool const has_waited = g->session && !g->filter.changed_since;
        if (has_waited || !waits_on(g->api, g->x, g->filter, g->page))
            return answer_list(g->x, g->page, g->as_of);
        auto const until = wait_end(g->api, g->filter);
        return wait_for_change(g->api, g->filter.projects, g->session, until, g->x, [g] {
            if (g->session) return changes_of_session(g->api, g->x, *g->session, g->filter);
            list_of_project(g->api, g->x, g->filter);
        });
    }
    auto const rest = std::span(std::as_const(g->places)).subspan(g->at);
    auto const end = std::ranges::find_if(
        rest, [&](PendingId const& one) { return one.session != rest.front().session; });
    auto const places = rest.first(static_cast<std::size_t>(end - rest.begin()));
    g->api.services().runner.read_lane(
        places.front().session, [g, places](Result<std::shared_ptr<runner::Lane>> const& lane) {
            read_places(g, places, lane ? lane->get() : nullptr);
        });
}

// The order of lists: newest session, then newest call, then newest pause.
bool comes_first(PendingId const& a, PendingId const& b) {
    return std::tuple(b.session.number(), b.call, b.generation) <
           std::tuple(a.session.number(), a.call, a.generation);
}

// Sorts the places in the order of lists and keeps those behind the cursor, up to the limit.
void trim_places(Gather& g) {
    Filter const& filter = g.filter;
    std::ranges::sort(g.places, comes_first);
    auto const same = [](PendingId const& a, PendingId const& b) {
        return !comes_first(a, b) && !comes_first(b, a);
    };
    g.places.erase(std::ranges::unique(g.places, same).begin(), g.places.end());
    if (filter.cursor)
        std::erase_if(g.places,
                      [&](PendingId const& p) { return !comes_first(*filter.cursor, p); });
    if (g.places.size() > filter.limit) g.places.resize(filter.limit);
}

void start_gather(std::shared_ptr<Gather> const& g) {
    trim_places(*g);
    if (g->places.size() == g->filter.limit) g->page.next = g->places.back().text();
    gather(g);
}

void gather_rows(std::shared_ptr<Gather> const& g) {
    Filter const& filter = g->filter;
    port::PendingFilter rows;
    rows.project = filter.projects;
    if (filter.external_ref.empty()) rows.session = g->session;
    bool const all = filter.statuses.size() == status_names.size();
    for (std::string const& status : filter.statuses)
        if (!all)
            rows.statuses.push_back(
                from_word<port::PendingStatus>(status).value_or(port::PendingStatus::waiting));
    rows.tool = filter.tool;
    rows.external_ref = filter.external_ref;
    rows.before = filter.cursor;
    rows.limit = static_cast<std::uint32_t>(filter.limit);
    auto question = [rows](port::PendingStore& store) { return store.list_pending(rows); };
    port::ask(g->api.services().journal, std::move(question),
              [g](Result<std::vector<port::PendingListed>> listed) {
                  if (!listed) return g->x->fail(listed.error());
                  for (port::PendingListed const& one : *listed) {
                      bool const asked = !g->session || one.session == *g->session;
                      if (asked)
                          g->places.push_back({one.session, one.row.call, one.row.generation, {}});
                  }
                  start_gather(g);
              });
}

void list_of_project(Api& api, ExchangePtr const& x, Filter const& filter) {
    with_as_of(api, x, [&api, x, filter](AsOf as_of) {
        auto const g = std::make_shared<Gather>(Gather{api, x, filter, as_of});
        if (!filter.changed_since) return gather_rows(g);
        find_changes(api, x, filter.projects, filter, [g](Known known) {
            g->as_of = as_of_read(known, g->as_of);
            g->known = std::move(known);
            if (g->known.since) return gather_rows(g);
            g->places = g->known.calls;
            start_gather(g);
        });
    });
}

// Includes settled calls: their rows say where they are.
void rows_of_session(Api& api, ExchangePtr const& x, SessionId session, Filter const& filter) {
    with_as_of(api, x, [&api, x, session, filter](AsOf as_of) {
        auto const g = std::make_shared<Gather>(Gather{api, x, filter, as_of, session});
        api.services().runner.read_lane(session, [g](Result<std::shared_ptr<runner::Lane>> lane) {
            if (!lane) return g->x->fail(lane.error());
            g->filter.projects = (*lane)->state().project;
            gather_rows(g);
        });
    });
}

// Reads the changed calls one by one; the whole history if others may have changed.
void read_changes(std::shared_ptr<Gather> const& g, Known known) {
    SessionId const session = *g->session;
    g->as_of = as_of_read(known, g->as_of);
    if (known.since) {
        return read_history(g->api, session, [g, known = std::move(known)](auto snapshot) {
            if (!snapshot) return g->x->fail(snapshot.error());
            answer_page(g->api, g->x, *snapshot, g->filter, known, g->as_of);
        });
    }
    g->places = known.calls;
    std::erase_if(g->places, [&](PendingId const& p) { return p.session != session; });
    g->known = std::move(known);
    start_gather(g);
}

void changes_of_session(Api& api, ExchangePtr const& x, SessionId session, Filter const& filter) {
    with_as_of(api, x, [&api, x, session, filter](AsOf as_of) {
        auto const g = std::make_shared<Gather>(Gather{api, x, filter, as_of, session});
        api.services().runner.read_lane(session, [g](Result<std::shared_ptr<runner::Lane>> lane) {
            if (!lane) return g->x->fail(lane.error());
            find_changes(g->api, g->x, (*lane)->state().project, g->filter,
                         [g](Known known) { read_changes(g, std::move(known)); });
        });
    });
}

}  // namespace

void list_pending(Api& api, ExchangePtr const& x) {
    auto filter = read_filter(api, x);
    if (!filter) return;
    auto const session = x->request.query_value("sessionID");
    if (!session) return list_of_project(api, x, *filter);
    auto const id = SessionId::parse(*session);
    if (!id) return x->fail(not_found());
    list_of_session(api, x, *id, *filter);
}

void get_pending(Api& api, ExchangePtr const& x) {
    auto const pending = PendingId::parse(x->params[0]);
    if (!pending) return x->fail(not_found());
    Query query{x->request};
    Duration const wait = query.wait();
    check_view(query);
    if (query.error) return x->fail(*query.error);
    api.services().runner.read_lane(
        pending->session, [&api, x, pending = *pending, wait](auto lane) {
            if (!lane) return x->fail(lane.error());
            auto const settled = [pending](State const& state) {
                return open_pause(state, pending) == nullptr;
            };
            wait_until(api, *lane, wait, x, settled,
                       [&api, x, pending] { answer_pending(api, x, pending); });
        });
}

// Shows and never settles: mail and chat programs fetch links ahead.
void get_capability(Api& api, ExchangePtr const& x) {
    PendingId const pending = *x->capability;
    read_pending(api, pending, [&api, x, pending](Result<Snapshot> snapshot) {
        if (!snapshot) return x->fail(snapshot.error());
        Time const now = api.services().runner.now();
        wire::PauseView const* const pause = snapshot->history.pause(pending);
        bool const open = open_pause(snapshot->lane->state(), pending) != nullptr;
        bool const over =
            pause && pause->receipt && now > pause->receipt->at + limits::capability_grace_period;
        if ((!pause && !open) || over) return x->fail(not_found());
        x->json(200, object_text(CallbackSource{pending, pause, now}),
                {{"Cache-Control", "no-store"}, {"Referrer-Policy", "no-referrer"}});
    });
}

}  // namespace dormouse::http
