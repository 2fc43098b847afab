#include "http/resources/operations/handlers.h"

#include "http/resources/operations/retention_fields.h"

#include <algorithm>

// POST /api/retention: reports what is old enough to delete, or deletes it, as the server does by
// itself: each session by its own command, only while it is completed; then the beginning of the
// audit log, and given-up webhooks.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr std::uint32_t checked_max = 10'000;
constexpr std::uint32_t deleted_max = 1'000;  // by one request
constexpr std::size_t shown_max = 100;
// How far the clock of another server on the same store may be ahead.
constexpr Duration clocks_differ{1'000};
constexpr std::size_t batch_size = 64;  // other work runs in between

struct Retention : RetentionAnswer {
    Retention(Api& in, ExchangePtr exchange) : api(in), x(std::move(exchange)) {}
    Api& api;
    ExchangePtr x;
    std::size_t at = 0;                 // how many of `old` are done
    std::optional<Error> refused = {};  // the store refused for now
};
using RetentionPtr = std::shared_ptr<Retention>;

void answer_retention(Retention const& r) { r.x->json(200, object_text<RetentionAnswer>(r)); }

void drop_given_up(RetentionPtr const& r) {
    if (!r->given_up_until) return answer_retention(*r);
    auto& journal = r->api.services().journal;
    auto question = [until = *r->given_up_until](port::OutboxStore& store) {
        return store.count_given_up(until, RetentionAnswer::given_up_max + 1);
    };
    port::ask(journal, std::move(question), [r, &journal](Result<std::uint64_t> count) {
        if (!count) return r->x->fail(count.error());
        r->given_up = *count;
        if (r->dry_run || *count == 0) return answer_retention(*r);
        journal.write(
            [until = *r->given_up_until](port::OutboxStore& store) {
                return store.drop_given_up(until, RetentionAnswer::given_up_max);
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
        asker.idem_key.clear();  // the key is for the request, not for each session
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

// Reads the sizes of one batch at a time, so that other reads run in between.
void next_batch(RetentionPtr const& r) {
    if (r->x->responder->gone()) return;
    if (r->at == r->old.size()) return trim_audit(r);
    std::size_t const end = std::min(r->at + batch_size, r->old.size());
    std::vector<SessionId> batch(r->old.begin() + static_cast<std::ptrdiff_t>(r->at),
                                 r->old.begin() + static_cast<std::ptrdiff_t>(end));
    r->at = end;
    auto question = [batch](port::Store& store) -> Result<std::vector<OldSession>> {
        std::vector<OldSession> out;
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
              [r, batch](Result<std::vector<OldSession>> sized) {
                  if (!sized) return r->x->fail(sized.error());
                  for (OldSession& one : *sized) {
                      r->bytes += one.bytes;
                      if (r->shown.size() < shown_max) r->shown.push_back(std::move(one));
                  }
                  r->dry_run ? next_batch(r) : delete_batch(r, batch);
              });
}

// Returns the time before which to delete; nullopt: neither the body nor the configuration has an
// age.
std::optional<Time> read_age(Body& body, std::string_view field, std::optional<Duration> by_default,
                             Time now) {
    if (auto const asked = body.integer(field)) by_default = Duration(*asked);
    return by_default ? std::optional(now - *by_default) : std::nullopt;
}

}  // namespace

void post_retention(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), retention_request);
    auto const r = std::make_shared<Retention>(api, x);
    r->dry_run = body.boolean("dryRun").value_or(false);
    Ages const& ages = api.services().ages;
    Time const now = api.services().runner.now();
    r->until = read_age(body, "completedAfterMs", ages.completed, now);
    r->audit_until = read_age(body, "auditAfterMs", ages.audit, now);
    r->given_up_until = read_age(body, "deadDeliveriesAfterMs", ages.given_up, now);
    // The default age of given-up webhooks does not count as a request.
    bool const asked = body.integer("deadDeliveriesAfterMs").has_value();
    if (!r->until && !r->audit_until && !asked)
        body.refuse("completedAfterMs",
                    "is missing, as is auditAfterMs, and neither completed_after nor audit_after "
                    "of [retention] is set");
    if (body.error()) return x->fail(*body.error());
    if (!r->until) return trim_audit(r);
    std::uint32_t const most_now = r->dry_run ? checked_max : deleted_max;
    // With an age of 0, also those that another server has completed just now.
    Time const until = *r->until == now ? now + clocks_differ : *r->until;
    auto question = [until, most_now](port::MaintenanceStore& store) {
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

}  // namespace dormouse::http
