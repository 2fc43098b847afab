#include "server/handlers.h"

#include "base/text.h"
#include "json/json.h"
#include "session/limits.h"

#include <utility>

// POST /api/retention/messages: which sessions have more messages than are kept, or lets the oldest
// go. The same cuts as those that the server makes by itself (runner/cut.h).
namespace dormouse::server {

using namespace dormouse::session;

namespace {

constexpr std::uint32_t page_size = 1'000;  // sessions that one request looks at
constexpr std::size_t sessions_shown_max = 100;

struct Cutting {
    Api& api;
    ExchangePtr x;
    bool dry_run = false;
    std::uint64_t messages_max = 0;
    std::vector<port::SessionHead> sessions = {};
    std::optional<std::uint64_t> next = {};
    std::size_t at = 0;
    std::uint64_t cut = 0;
    runner::CutReport all = {};
    struct Found {
        SessionId session;
        runner::CutReport report;
    };
    std::vector<Found> found = {};
};
using CuttingPtr = std::shared_ptr<Cutting>;

void answer_cutting(Cutting const& c) {
    json::Writer out;
    out.begin_object().member("messagesPerSession", c.messages_max).member("dryRun", c.dry_run);
    out.member("sessions", c.cut).member("messages", c.all.messages).member("bytes", c.all.bytes);
    out.member("next", c.next ? std::optional(std::to_string(*c.next)) : std::nullopt);
    out.key("found").begin_array();
    for (Cutting::Found const& one : c.found) {
        out.begin_object().member("sessionID", one.session.text());
        out.member("messages", one.report.messages).member("bytes", one.report.bytes).end_object();
    }
    c.x->json(200, out.end_array().end_object().take());
}

void cut_next(CuttingPtr const& c) {
    // Each message is an event, so that most are passed over unread.
    while (c->at < c->sessions.size() && c->sessions[c->at].head < c->messages_max) ++c->at;
    if (c->at == c->sessions.size() || c->x->responder->gone()) return answer_cutting(*c);
    SessionId const session = c->sessions[c->at++].session;
    c->api.cutter().cut(session, c->messages_max, c->dry_run, c->x->asker(),
                        [c, session](Result<runner::CutReport> const& report) {
                            if (!report) return c->x->fail(report.error());
                            if (report->messages > 0) {
                                ++c->cut;
                                c->all.messages += report->messages;
                                c->all.bytes += report->bytes;
                                if (c->found.size() < sessions_shown_max)
                                    c->found.push_back({session, *report});
                            }
                            cut_next(c);
                        });
}

void cut_page(CuttingPtr const& c, std::uint64_t after) {
    auto question = [after](port::Store& store) { return store.heads(after, page_size); };
    port::ask(c->api.services().journal, std::move(question),
              [c](Result<std::vector<port::SessionHead>> heads) {
                  if (!heads) return c->x->fail(heads.error());
                  c->sessions = std::move(*heads);
                  if (c->sessions.size() == page_size)
                      c->next = c->sessions.back().session.number();
                  cut_next(c);
              });
}

void cut_one(CuttingPtr const& c, SessionId session) {
    c->api.services().runner.look(session, [c](Result<std::shared_ptr<runner::Lane>> lane) {
        if (!lane) return c->x->fail(lane.error());
        c->sessions = {{(*lane)->id(), (*lane)->state().head}};
        cut_next(c);
    });
}

}  // namespace

void post_retention_messages(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), "", {"dryRun", "messagesPerSession", "sessionID", "after"});
    bool const dry_run = body.boolean("dryRun").value_or(false);
    auto const asked = body.integer("messagesPerSession");
    auto const usual = api.services().messages_max;
    constexpr auto least = static_cast<std::int64_t>(runner::kept_messages_min);
    constexpr auto most = static_cast<std::int64_t>(limits::seq_max);
    if (asked && (*asked < least || *asked > most))
        body.refuse("messagesPerSession",
                    "must be " + std::to_string(least) + " to " + std::to_string(most));
    auto const named = body.string("sessionID");
    auto const after = body.string("after");
    auto const place = after ? parse_number(*after) : std::optional<std::uint64_t>(0);
    if (!place) body.refuse("after", "must be the next of an earlier answer");
    if (named && after) body.refuse("after", "does not go with sessionID");
    if (!asked && !usual)
        body.refuse("messagesPerSession",
                    "is missing, and messages_per_session of [retention] is not set");
    auto const session = named ? SessionId::parse(*named) : std::nullopt;
    if (body.error()) return x->fail(*body.error());
    if (named && !session) return x->fail(not_found());
    auto const c = std::make_shared<Cutting>(Cutting{api, x, dry_run});
    c->messages_max = asked ? static_cast<std::uint64_t>(*asked) : *usual;
    session ? cut_one(c, *session) : cut_page(c, *place);
}

}  // namespace dormouse::server
