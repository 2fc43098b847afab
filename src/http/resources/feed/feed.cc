#include "http/resources/feed/handlers.h"
#include "http/streams/feed_objects.h"
#include "http/streams/feed_streams.h"

#include "json/json.h"

#include <algorithm>

// The appends of all sessions of projects, as a stream or as pages.
namespace dormouse::http {

namespace {

constexpr std::size_t page_bytes = std::size_t{1} << 20;

// Pages hold whole appends: at the limit a page adds no further append. `next` is always set; at
// the end of the feed it is the position from which to ask again.
void answer_feed(ExchangePtr const& x, RowsOfEvents const& rows, std::uint64_t next) {
    json::Writer out;
    out.begin_object().key("items").begin_array();
    for (auto const& events : rows) {
        for (std::string const& event : events) out.raw(event);
    }
    out.end_array().member("next", feed_cursor(next));
    x->json(200, out.end_object().take());
}

Result<RowsOfEvents> events_of(std::vector<port::FeedRow> const& rows) {
    RowsOfEvents out;
    for (port::FeedRow const& row : rows) {
        auto events = feed_events(row);
        if (!events) return std::unexpected(std::move(events.error()));
        out.push_back(*std::move(events));
    }
    return out;
}

// Returns the page with the rows up to the limit; its end is that of the last row.
port::FeedPage cut(port::FeedPage page, std::size_t limit) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < page.rows.size(); ++i) {
        count += std::max(page.rows[i].frame.count, 1U);  // a damaged append is one event
        if (count < limit) continue;
        page.next = page.rows[i].n;
        page.rows.resize(i + 1);
    }
    return page;
}

struct Wanted {
    port::Projects projects;
    std::uint64_t after = 0;
    bool objects = false;
    std::shared_ptr<Family> family = {};
};

void page_of_feed(Api& api, ExchangePtr const& x, Wanted const& wanted) {
    Query query{x->request};
    std::size_t const limit = query.number("limit", 50, 1, 200);
    if (query.error) return x->fail(*query.error);
    auto question = [wanted](port::Store& store) {
        return read_feed(store, wanted.projects, wanted.after, page_bytes, wanted.family.get());
    };
    port::ask(api.services().journal, std::move(question),
              [&api, x, wanted, limit](Result<port::FeedPage> read) {
                  if (!read) return x->fail(read.error());
                  if (read->gone)
                      return x->fail({Code::history_gone,
                                      "What came after this cursor is no longer kept; list what "
                                      "you follow again and begin without a cursor."});
                  auto page = cut(*std::move(read), limit);
                  auto const answer = [x, next = page.next](Result<RowsOfEvents> rows) {
                      if (!rows) return x->fail(rows.error());
                      answer_feed(x, *rows, next);
                  };
                  if (!wanted.objects) return answer(events_of(page.rows));
                  feed_objects(api.services().loop, api.services().runner, std::move(page.rows),
                               answer);
              });
}

void answer_wanted(Api& api, ExchangePtr const& x, Wanted wanted) {
    std::string_view place = x->request.header("last-event-id");
    if (place.empty()) place = x->request.query_value("after").value_or("");
    if (place.empty()) place = x->request.query_value("cursor").value_or("0");
    // From the newest append on: what was before is read from the objects themselves.
    bool const now = place == "now";
    auto const after = now ? std::optional<std::uint64_t>(0) : parse_feed_cursor(place);
    if (!after) return x->fail({Code::bad_cursor, "The cursor is invalid; begin without one."});
    std::string_view const view = x->request.query_value("view").value_or("events");
    if (view != "events" && view != "objects")
        return x->fail(bad_value("?view", "must be events or objects"));
    wanted.after = *after;
    wanted.objects = view == "objects";
    auto bound = [now](port::FeedStore& store) {
        return now ? store.feed_head() : store.feed_limit();
    };
    port::ask(api.services().journal, bound,
              [&api, x, wanted = std::move(wanted), now](Result<std::uint64_t> newest) mutable {
                  if (!newest) return x->fail(newest.error());
                  if (now) wanted.after = *newest;
                  if (wanted.after > *newest)
                      return x->fail({Code::bad_cursor,
                                      "This cursor is from another store, or from before a backup "
                                      "was restored; begin without one."});
                  bool const streams = x->request.header("accept").find("text/event-stream") !=
                                       std::string_view::npos;
                  if (!streams) return page_of_feed(api, x, wanted);
                  auto const out = x->responder->stream({});
                  // A client that starts without a cursor gets one before the first event.
                  std::string const begin = now ? "id: " + feed_cursor(wanted.after) + "\n\n" : "";
                  out->send(std::make_shared<std::string const>("retry: 1000\n\n" + begin));
                  api.feed_streams().open(wanted.projects, wanted.after, out, wanted.objects,
                                          wanted.family);
              });
}

}  // namespace

// Last-Event-ID, ?after= or ?cursor= is the position to continue from; the default is the oldest
// that is kept.
void list_feed(Api& api, ExchangePtr const& x) { answer_wanted(api, x, {projects_of(*x)}); }

void list_family_events(Api& api, ExchangePtr const& x, SessionId session) {
    api.services().runner.read_lane(session,
                                    [&api, x, session](Result<std::shared_ptr<runner::Lane>> lane) {
                                        if (!lane) return x->fail(lane.error());
                                        Wanted wanted{(*lane)->state().project};
                                        wanted.family = std::make_shared<Family>(session);
                                        answer_wanted(api, x, std::move(wanted));
                                    });
}

}  // namespace dormouse::http
