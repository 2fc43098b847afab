#include "server/feed_streams.h"
#include "server/handlers.h"

#include "json/json.h"

// What all sessions of a project append: as a stream, or as pages.
namespace dormouse::server {

namespace {

constexpr std::size_t page_bytes = std::size_t{1} << 20;

// Pages hold whole appends: the limit is where a page stops taking more of them. `next` is always
// there, also at the end, where it is the place from which to ask again.
void answer_feed(ExchangePtr const& x, std::string const& project, port::FeedPage const& page,
                 std::size_t limit) {
    json::Writer out;
    out.begin_object().key("items").begin_array();
    std::size_t count = 0;
    std::uint64_t next = page.next;
    for (port::FeedRow const& row : page.rows) {
        if (count >= limit) break;
        auto const events = feed_events(row, project);
        if (!events) return x->fail(events.error());
        for (std::string const& event : *events) out.raw(event);
        count += events->size();
        next = count >= limit ? row.n : page.next;
    }
    out.end_array().member("next", feed_cursor(next));
    x->json(200, out.end_object().take());
}

void page_of_feed(Api& api, ExchangePtr const& x, std::string const& project, std::uint64_t after) {
    Query query{x->request};
    std::size_t const limit = query.number("limit", 50, 1, 200);
    if (query.error) return x->fail(*query.error);
    auto question = [project, after](port::Store& store) {
        return store.feed(project, after, page_bytes);
    };
    port::ask(api.services().journal, std::move(question),
              [x, project, limit](Result<port::FeedPage> page) {
                  if (!page) return x->fail(page.error());
                  if (page->gone)
                      return x->fail({Code::history_gone,
                                      "What came after this cursor is not kept any more; list what "
                                      "you follow again and begin without a cursor."});
                  answer_feed(x, project, *page, limit);
              });
}

}  // namespace

// Last-Event-ID, ?after= or ?cursor= say where to go on; without one it is the oldest that is kept.
void list_feed(Api& api, ExchangePtr const& x) {
    std::string_view place = x->request.header("last-event-id");
    if (place.empty()) place = x->request.query_value("after").value_or("");
    if (place.empty()) place = x->request.query_value("cursor").value_or("0");
    auto const after = parse_feed_cursor(place);
    if (!after)
        return x->fail({Code::bad_cursor, "This cursor is not one of ours; begin without one."});
    std::string project(x->request.query_value("project").value_or("default"));
    auto head = [](port::Store& store) { return store.feed_head(); };
    port::ask(api.services().journal, head,
              [&api, x, project, after = *after](Result<std::uint64_t> newest) {
                  if (!newest) return x->fail(newest.error());
                  if (after > *newest)
                      return x->fail({Code::bad_cursor,
                                      "This cursor is from another store, or from before a backup "
                                      "was restored; begin without one."});
                  bool const streams = x->request.header("accept").find("text/event-stream") !=
                                       std::string_view::npos;
                  if (!streams) return page_of_feed(api, x, project, after);
                  auto const out = x->responder->stream({});
                  out->send(std::make_shared<std::string const>("retry: 1000\n\n"));
                  api.feed_streams().open(project, after, out);
              });
}

}  // namespace dormouse::server
