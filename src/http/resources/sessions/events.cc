#include "http/objects/objects.h"
#include "http/resources/feed/handlers.h"
#include "http/resources/sessions/handlers.h"
#include "http/streams/streams.h"

#include "base/text/text.h"
#include "json/json.h"

// A session's events, as pages or as a stream.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

enum class View : std::uint8_t { events, objects };

void answer_events(ExchangePtr const& x, runner::Runner::Read const& read, std::size_t limit,
                   std::function<std::string(Event const&)> const& subject) {
    State const& state = read.lane->state();
    json::Writer out;
    out.begin_object().key("items").begin_array();
    std::size_t const count = std::min(limit, read.records.size());
    Seq last = state.head;
    for (std::size_t i = 0; i < count; ++i) {
        wire::Record const& record = *read.records[i];
        out.raw(wire::event_object(state.id, state.project, record,
                                   subject ? subject(record.event) : ""));
        last = record.event.seq;
    }
    bool const more = count > 0 && last < state.head;
    out.end_array().member("next", more ? std::optional(std::to_string(last)) : std::nullopt);
    x->json(200, out.end_object().take());
}

void page_of_events(Api& api, ExchangePtr const& x, SessionId id, Seq after, View view) {
    Query query{x->request};
    std::size_t const limit = query.number("limit", 50, 1, 200);
    if (query.error) return x->fail(*query.error);
    auto answer = [&api, x, limit, view, id, after](Result<runner::Runner::Read> read) {
        if (!read) return x->fail(read.error());
        // 0 is the beginning, wherever retention has moved it.
        if (after != 0 && after < read->lane->state().base.through) return x->fail(history_gone());
        if (view == View::events) return answer_events(x, *read, limit, {});
        read_history(api, id, [&api, x, limit, read = std::move(*read)](Result<Snapshot> now) {
            if (!now) return x->fail(now.error());
            answer_events(x, read, limit, [&](Event const& event) {
                return event_subject(now->lane->state(), now->history, event,
                                     api.services().runner.now());
            });
        });
    };
    api.services().runner.read_events(id, after + 1, std::move(answer));
}

void stream_of_events(Api& api, ExchangePtr const& x, SessionId id, Seq after, View view) {
    api.services().runner.read_lane(
        id, [&api, x, after, view](Result<std::shared_ptr<runner::Lane>> lane) {
            if (!lane) return x->fail(lane.error());
            Seq const head = (*lane)->state().head;
            if (after > head)
                return x->fail({Code::bad_cursor,
                                "The session has only " + std::to_string(head) + " events."});
            auto const out = x->responder->stream({});
            out->send(std::make_shared<std::string const>("retry: 1000\n\n"));
            api.streams().open(*lane, after, out, view == View::objects);
        });
}

}  // namespace

// Last-Event-ID, ?after= or ?cursor= is the position to continue from; the default is the
// beginning.
void list_events(Api& api, ExchangePtr const& x) {
    auto const id = SessionId::parse(x->params[0]);
    if (!id) return x->fail(not_found());
    auto const children = x->request.query_value("children").value_or("false");
    if (children != "true" && children != "false")
        return x->fail(bad_value("?children", "must be true or false"));
    if (children == "true") return list_family_events(api, x, *id);
    std::string_view place = x->request.header("last-event-id");
    if (place.empty()) place = x->request.query_value("after").value_or("");
    if (place.empty()) place = x->request.query_value("cursor").value_or("0");
    auto const after = parse_number(place);
    if (!after)
        return x->fail({Code::bad_cursor, "Last-Event-ID, after and cursor are sequence numbers."});
    std::string_view const view = x->request.query_value("view").value_or("events");
    if (view != "events" && view != "objects")
        return x->fail(bad_value("?view", "must be events or objects"));
    View const shown = view == "objects" ? View::objects : View::events;
    bool const streams =
        x->request.header("accept").find("text/event-stream") != std::string_view::npos;
    if (streams) return stream_of_events(api, x, *id, *after, shown);
    page_of_events(api, x, *id, *after, shown);
}

}  // namespace dormouse::http
