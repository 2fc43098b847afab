#include "http/resources/operations/handlers.h"

#include "base/text.h"
#include "json/json.h"
#include "session/limits.h"

#include <utility>

// POST /api/retention/messages: says which sessions have more than they keep, or lets their oldest
// turns go. The same cuts as those that the server makes by itself (runner/cut.h).
namespace dormouse::server {

using namespace dormouse::session;

namespace {

constexpr std::uint32_t page_size = 1'000;  // sessions that one request looks at
constexpr std::size_t sessions_shown_max = 100;
constexpr std::uint64_t kept_bytes_max = std::uint64_t{1} << 50;
constexpr std::uint64_t kept_age_ms_max = 36'600ULL * 86'400'000;  // a hundred years

struct Cutting {
    Api& api;
    ExchangePtr x;
    bool dry_run = false;
    runner::Keep keep = {};
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
    out.begin_object().member("messagesPerSession", c.keep.messages);
    out.member("messageAgeMs", c.keep.age ? std::optional(c.keep.age->count()) : std::nullopt);
    out.member("sessionBytes", c.keep.bytes).member("dryRun", c.dry_run);
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
    c->api.services().runner.look(session, [c](Result<std::shared_ptr<runner::Lane>> lane) {
        if (!lane) return c->x->fail(lane.error());
        c->sessions = {{(*lane)->id(), (*lane)->state().head}};
        cut_next(c);
    });
}

// What the request asks for; when it names nothing, what the server is configured to keep.
runner::Keep read_keep(Body& body, runner::Keep const& usual) {
    runner::Keep keep;
    auto const number = [&](std::string_view name, std::uint64_t least, std::uint64_t most) {
        auto const asked = body.integer(name);
        auto const low = static_cast<std::int64_t>(least), high = static_cast<std::int64_t>(most);
        if (asked && (*asked < low || *asked > high))
            body.refuse(name, "must be " + std::to_string(least) + " to " + std::to_string(most));
        return asked ? std::optional(static_cast<std::uint64_t>(*asked)) : std::nullopt;
    };
    keep.messages = number("messagesPerSession", runner::kept_messages_min, limits::seq_max);
    keep.bytes = number("sessionBytes", runner::kept_bytes_min, kept_bytes_max);
    if (auto const age = number("messageAgeMs", 0, kept_age_ms_max))
        keep.age = Duration(static_cast<std::int64_t>(*age));
    if (keep.all()) keep = usual;
    if (keep.all())
        body.refuse("messagesPerSession",
                    "is missing, as are messageAgeMs and sessionBytes, and "
                    "[retention] sets none of them");
    return keep;
}

}  // namespace

void post_retention_messages(Api& api, ExchangePtr const& x) {
    Body body(
        json::View(x->body), "",
        {"dryRun", "messagesPerSession", "messageAgeMs", "sessionBytes", "sessionID", "after"});
    bool const dry_run = body.boolean("dryRun").value_or(false);
    auto const named = body.string("sessionID");
    auto const after = body.string("after");
    auto const place = after ? parse_number(*after) : std::optional<std::uint64_t>(0);
    runner::Keep const keep = read_keep(body, api.services().keep);
    if (!place) body.refuse("after", "must be the next of an earlier answer");
    if (named && after) body.refuse("after", "does not go with sessionID");
    auto const session = named ? SessionId::parse(*named) : std::nullopt;
    if (body.error()) return x->fail(*body.error());
    if (named && !session) return x->fail(not_found());
    auto const c = std::make_shared<Cutting>(Cutting{api, x, dry_run, keep});
    session ? cut_one(c, *session) : cut_page(c, *place);
}

}  // namespace dormouse::server
