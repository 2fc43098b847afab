#include "http/resources/operations/handlers.h"

#include "json/json.h"

#include <algorithm>

// POST /api/retention: what would go now by its age, or lets it go. The same deletion as the one
// that the server does by itself: each session by a command of its own, only while it is completed;
// then the beginning of the audit, and webhooks that were given up.
namespace dormouse::server {

using namespace dormouse::session;

namespace {

constexpr std::uint32_t looked_at_max = 10'000;
constexpr std::uint32_t deleted_max = 1'000;  // by one request
constexpr std::uint32_t given_up_max = 1'000;
constexpr std::size_t shown_max = 100;
constexpr std::size_t batch_size = 64;  // others have their turn in between

struct Old {
    SessionId session;
    std::string project;
    std::uint64_t bytes = 0;
};

struct Retention {
    Api& api;
    ExchangePtr x;
    bool dry_run = false;
    std::optional<Time> until = {};  // of sessions; nullopt: they are kept. So below
    std::optional<Time> audit_until = {};
    std::optional<Time> given_up_until = {};
    runner::OldAudit audit = {};
    std::uint64_t given_up = 0;
    std::vector<SessionId> old = {};
    bool more = false;
    std::size_t at = 0;  // so many of `old` have been dealt with
    std::uint64_t bytes = 0;
    std::uint64_t deleted = 0;
    std::optional<Error> refused = {};  // by the store, which takes it later
    std::vector<Old> shown = {};
};
using RetentionPtr = std::shared_ptr<Retention>;

std::optional<std::int64_t> ms_of(std::optional<Time> at) {
    return at ? std::optional(to_ms(*at)) : std::nullopt;
}

void answer_retention(Retention const& r) {
    json::Writer out;
    out.begin_object().member("completedBefore", ms_of(r.until)).member("dryRun", r.dry_run);
    out.member("sessions", static_cast<std::uint64_t>(r.old.size())).member("bytes", r.bytes);
    out.member("deleted", r.deleted).member("more", r.more).key("found").begin_array();
    for (Old const& one : r.shown) {
        out.begin_object().member("sessionID", one.session.text());
        out.member("projectID", one.project).member("bytes", one.bytes).end_object();
    }
    out.end_array().key("audit").begin_object().member("before", ms_of(r.audit_until));
    out.member("lines", r.audit.trim.lines).member("through", r.audit.trim.through);
    out.member("more", r.audit.more).end_object();
    out.key("deliveries").begin_object().member("before", ms_of(r.given_up_until));
    out.member("count", std::min<std::uint64_t>(r.given_up, given_up_max));
    out.member("more", r.given_up > given_up_max).end_object();
    r.x->json(200, out.end_object().take());
}

void drop_given_up(RetentionPtr const& r) {
    if (!r->given_up_until) return answer_retention(*r);
    auto& journal = r->api.services().journal;
    auto question = [until = *r->given_up_until](port::OutboxStore& store) {
        return store.count_given_up(until, given_up_max + 1);
    };
    port::ask(journal, std::move(question), [r, &journal](Result<std::uint64_t> count) {
        if (!count) return r->x->fail(count.error());
        r->given_up = *count;
        if (r->dry_run || *count == 0) return answer_retention(*r);
        journal.write(
            [until = *r->given_up_until](port::OutboxStore& store) {
                return store.drop_given_up(until, given_up_max);
            },
            [r](Result<void> const& done) {
                done ? answer_retention(*r) : r->x->fail(done.error());
            });
    });
}

void trim_audit(RetentionPtr const& r) {
    if (!r->audit_until) return drop_given_up(r);
    r->api.services().runner.trim_audit(*r->audit_until, r->dry_run, r->x->asker(),
                                        [r](Result<runner::OldAudit> old) {
                                            if (!old) return r->x->fail(old.error());
                                            r->audit = *old;
                                            drop_given_up(r);
                                        });
}

void next_batch(RetentionPtr const& r);

void delete_batch(RetentionPtr const& r, std::vector<SessionId> const& batch) {
    auto const open = std::make_shared<std::size_t>(batch.size());
    for (SessionId const session : batch) {
        runner::Asker asker = r->x->asker();
        asker.idem_key.clear();  // of the request, not of each session
        r->api.services().runner.command(
            session, Delete{.only_completed = true}, asker,
            [r, open](Result<Answer> const& answer) {
                if (answer) ++r->deleted;
                bool const later = !answer && info(answer.error().code).next == Next::retry;
                if (later) r->refused = answer.error();
                if (--*open > 0) return;
                r->refused ? r->x->fail(*r->refused) : next_batch(r);
            });
    }
}

// Sizes are looked up for each batch: reads of others come in between.
void next_batch(RetentionPtr const& r) {
    if (r->x->responder->gone()) return;
    if (r->at == r->old.size()) return trim_audit(r);
    std::size_t const end = std::min(r->at + batch_size, r->old.size());
    std::vector<SessionId> batch(r->old.begin() + static_cast<std::ptrdiff_t>(r->at),
                                 r->old.begin() + static_cast<std::ptrdiff_t>(end));
    r->at = end;
    auto question = [batch](port::Store& store) -> Result<std::vector<Old>> {
        std::vector<Old> out;
        for (SessionId const& session : batch) {
            auto const bytes = store.session_bytes(session);
            if (!bytes) return std::unexpected(bytes.error());
            auto const project = store.project_of(session);
            if (!project) return std::unexpected(project.error());
            out.push_back({session, project->value_or(""), *bytes});
        }
        return out;
    };
    port::ask(r->api.services().journal, std::move(question),
              [r, batch](Result<std::vector<Old>> sized) {
                  if (!sized) return r->x->fail(sized.error());
                  for (Old& one : *sized) {
                      r->bytes += one.bytes;
                      if (r->shown.size() < shown_max) r->shown.push_back(std::move(one));
                  }
                  r->dry_run ? next_batch(r) : delete_batch(r, batch);
              });
}

// Before when; nullopt: the body names no age, nor does the configuration.
std::optional<Time> read_age(Body& body, std::string_view field, std::optional<Duration> usual,
                             Time now) {
    constexpr std::int64_t most = std::int64_t{36'600} * 86'400'000;
    auto const asked = body.integer(field);
    if (asked && (*asked < 0 || *asked > most))
        body.refuse(field, "must be 0 to " + std::to_string(most));
    if (asked) usual = Duration(*asked);
    return usual ? std::optional(now - *usual) : std::nullopt;
}

}  // namespace

void post_retention(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), "",
              {"dryRun", "completedAfterMs", "auditAfterMs", "deadDeliveriesAfterMs"});
    auto const r = std::make_shared<Retention>(Retention{api, x});
    r->dry_run = body.boolean("dryRun").value_or(false);
    Ages const& ages = api.services().ages;
    Time const now = api.services().runner.now();
    r->until = read_age(body, "completedAfterMs", ages.completed, now);
    r->audit_until = read_age(body, "auditAfterMs", ages.audit, now);
    r->given_up_until = read_age(body, "deadDeliveriesAfterMs", ages.given_up, now);
    // The usual age of webhooks that were given up is no wish of anybody's.
    bool const asked = body.integer("deadDeliveriesAfterMs").has_value();
    if (!r->until && !r->audit_until && !asked)
        body.refuse("completedAfterMs",
                    "is missing, as is auditAfterMs, and neither completed_after nor audit_after "
                    "of [retention] is set");
    if (body.error()) return x->fail(*body.error());
    if (!r->until) return trim_audit(r);
    std::uint32_t const most_now = r->dry_run ? looked_at_max : deleted_max;
    auto question = [until = *r->until, most_now](port::MaintenanceStore& store) {
        return store.completed_until(until, most_now + 1);
    };
    port::ask(api.services().journal, std::move(question),
              [r, most_now](Result<std::vector<SessionId>> old) {
                  if (!old) return r->x->fail(old.error());
                  r->old = std::move(*old);
                  r->more = r->old.size() > most_now;
                  if (r->more) r->old.pop_back();
                  next_batch(r);
              });
}

}  // namespace dormouse::server
