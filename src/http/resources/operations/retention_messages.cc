#include "http/resources/operations/handlers.h"

#include "base/text/text.h"
#include "http/resources/operations/retention_fields.h"
#include "session/limits.h"

#include <utility>

// POST /api/retention/messages: reports which sessions have more than they keep, or deletes their
// oldest turns. The same cuts as those the server makes by itself (runner/lane/cut.h).
namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr std::uint32_t page_size = 1'000;  // sessions that one request reads
constexpr std::size_t sessions_shown_max = 100;

struct Cutting : CutAnswer {
    Cutting(Api& in, ExchangePtr exchange) : api(in), x(std::move(exchange)) {}
    Api& api;
    ExchangePtr x;
    std::vector<port::SessionHead> sessions = {};
    std::size_t at = 0;  // in `sessions`
};
using CuttingPtr = std::shared_ptr<Cutting>;

void answer_cutting(Cutting const& c) { c.x->json(200, object_text<CutAnswer>(c)); }

void cut_next(CuttingPtr const& c) {
    // Each message is an event, so that most sessions are skipped without a read.
    bool const by_number = c->keep.messages && !c->keep.age && !c->keep.bytes;
    Seq const least = by_number ? *c->keep.messages : 0;
    while (c->at < c->sessions.size() && c->sessions[c->at].head < least) ++c->at;
    if (c->at == c->sessions.size() || c->x->responder->gone()) return answer_cutting(*c);
    SessionId const session = c->sessions[c->at++].session;
    c->api.cutter().cut(session, c->keep, c->dry_run, c->x->asker(),
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
    auto question = [after](port::MaintenanceStore& store) {
        return store.heads(after, page_size);
    };
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
    c->api.services().runner.read_lane(session, [c](Result<std::shared_ptr<runner::Lane>> lane) {
        if (!lane) return c->x->fail(lane.error());
        c->sessions = {{(*lane)->id(), (*lane)->state().head}};
        cut_next(c);
    });
}

// Returns the limits of the request; when it names none, those of the configuration.
runner::Keep read_keep(Body& body, runner::Keep const& by_default) {
    runner::Keep keep;
    auto const number = [&](std::string_view name) {
        auto const asked = body.integer(name);
        return asked ? std::optional(static_cast<std::uint64_t>(*asked)) : std::nullopt;
    };
    keep.messages = number("messagesPerSession");
    keep.bytes = number("sessionBytes");
    if (auto const age = body.integer("messageAgeMs")) keep.age = Duration(*age);
    if (keep.all()) keep = by_default;
    if (keep.all())
        body.refuse("messagesPerSession",
                    "is missing, as are messageAgeMs and sessionBytes, and "
                    "[retention] sets none of them");
    return keep;
}

}  // namespace

void post_retention_messages(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), retention_messages_request);
    bool const dry_run = body.boolean("dryRun").value_or(false);
    auto const named = body.string("sessionID");
    auto const after = body.string("after");
    auto const place = after ? parse_number(*after) : std::optional<std::uint64_t>(0);
    runner::Keep const keep = read_keep(body, api.services().keep);
    if (!place) body.refuse("after", "must be the next of an earlier answer");
    if (named && after) body.refuse("after", "must not be given with sessionID");
    auto const session = named ? SessionId::parse(*named) : std::nullopt;
    if (body.error()) return x->fail(*body.error());
    if (named && !session) return x->fail(not_found());
    auto const c = std::make_shared<Cutting>(api, x);
    c->dry_run = dry_run;
    c->keep = keep;
    session ? cut_one(c, *session) : cut_page(c, *place);
}

}  // namespace dormouse::http
