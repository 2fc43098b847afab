// Retention: deletes sessions that were completed long ago, oldest first, in small batches, each
// with an ordinary Delete command.
#include "base/check.h"
#include "runner/runner.h"

#include <algorithm>

namespace dormouse::runner {

using namespace session;

namespace {

// Outcomes of the commands of one batch.
struct Batch {
    std::size_t open = 0;
    std::size_t deleted = 0;
};

struct Lines {
    OldAudit old;
    bool worth = false;  // not only lines about earlier removals
};

// Returns the old lines of the chain that has the line after `after`. Blocks.
Result<Lines> old_lines_of_chain(port::AuditStore& store, std::uint64_t after, Time until) {
    constexpr std::uint32_t page = 1'000;
    Lines out;
    std::optional<port::AuditRow> last;  // is old; removed if another line of its chain follows
    for (;;) {
        auto const rows = store.audit(after, page);
        if (!rows) return std::unexpected(rows.error());
        if (rows->empty()) return out;
        for (port::AuditRow const& row : *rows) {
            if (last && port::audit_chain(row.n) != port::audit_chain(last->n)) return out;
            if (last) {
                wire::AuditTrim& trim = out.old.trim;
                trim = {trim.lines + 1, last->n, last->hash};
                out.worth = out.worth || !wire::read_trimmed(last->line);
            }
            auto const at = wire::line_time(row.line);
            if (!at || *at >= until) return out;
            out.old.more = out.old.trim.lines == Runner::audit_page;
            if (out.old.more) return out;
            last = row;
        }
        after = rows->back().n;
    }
}

// Returns the old lines of the first chain that has some which are worth a removal. Blocks.
Result<Lines> old_lines(port::AuditStore& store, Time until) {
    for (std::uint64_t after = 0;;) {
        auto const next = store.audit(after, 1);
        if (!next) return std::unexpected(next.error());
        if (next->empty()) return Lines{};
        auto found = old_lines_of_chain(store, after, until);
        if (!found) return found;
        after = port::end_of_chain(next->front().n);
        if (!found->worth) continue;
        auto const others = store.audit(after, 1);
        if (!others) return std::unexpected(others.error());
        found->old.more = found->old.more || !others->empty();
        return found;
    }
}

}  // namespace

void Runner::trim_audit(Time until, bool dry_run, Asker const& asker,
                        port::Fn<void(Result<OldAudit>)> done) {
    CHECK(done);
    port::ask(
        services_.journal, [until](port::AuditStore& store) { return old_lines(store, until); },
        [this, alive = scope_.token(), dry_run, by = asker.by,
         done = std::move(done)](Result<Lines> found) mutable {
            if (!found) return done(std::unexpected(std::move(found.error())));
            OldAudit const old = found->worth ? found->old : OldAudit{};
            if (!alive || dry_run || !found->worth) return done(old);
            services_.journal.write(
                [old, line = wire::trimmed_line(old.trim, now(), by)](port::AuditStore& store) {
                    return store.trim_audit(old.trim.through, line);
                },
                [old, done = std::move(done)](Result<void> written) mutable {
                    if (!written) return done(std::unexpected(std::move(written.error())));
                    done(old);
                });
        });
}

void Runner::apply(Options const& next) {
    bool const aged = next.completed_after != options_.completed_after ||
                      next.audit_after != options_.audit_after;
    options_.resident_max = next.resident_max;
    options_.resident_bytes = next.resident_bytes;
    options_.resident_time = next.resident_time;
    options_.limits = next.limits;
    options_.mail = next.mail;
    options_.completed_after = next.completed_after;
    options_.audit_after = next.audit_after;
    if (aged && sweeps_) begin_sweeps();
}

// Begins sweeps in place of earlier ones.
void Runner::begin_sweeps() {
    sweeps_->end();
    if (options_.completed_after) sweep();
    if (options_.audit_after) sweep_audit();
}

void Runner::sweep_audit() {
    if (draining_ || failed_) return;
    if (!services_.nodes.leads()) {
        services_.loop.after(audit_every_max, sweeps_->guard([this] { sweep_audit(); }));
        return;
    }
    CHECK(options_.audit_after);
    auto again = [this](Result<OldAudit> const& old) {
        Duration const by_default =
            std::clamp(*options_.audit_after, Duration(1'000), Duration(audit_every_max));
        Duration const soon = old && old->more ? Duration(0) : by_default;
        services_.loop.after(soon, sweeps_->guard([this] { sweep_audit(); }));
    };
    trim_audit(now() - *options_.audit_after, false, Asker{}, sweeps_->guard(again));
}

void Runner::sweep() {
    if (draining_ || failed_) return;
    if (!services_.nodes.leads()) return sweep_again(sweep_every_max);
    CHECK(options_.completed_after);
    Time const until = now() - *options_.completed_after;
    port::ask(
        services_.journal,
        [until](port::MaintenanceStore& store) { return store.completed_until(until, sweep_size); },
        sweeps_->guard([this](Result<std::vector<SessionId>> completed) {
            bool const some = completed && !completed->empty();
            some ? sweep(*completed) : sweep_again(sweep_every_max);
        }));
}

// A session that was resumed meanwhile refuses (only_completed). If all of a full batch were
// deleted, the next one follows at once.
void Runner::sweep(std::vector<SessionId> const& completed) {
    CHECK(!completed.empty());
    auto const batch = std::make_shared<Batch>(Batch{.open = completed.size()});
    for (SessionId const session : completed) {
        command(session, Delete{.only_completed = true}, Asker{},
                sweeps_->guard([this, batch](Result<Answer> const& answer) {
                    CHECK(batch->open > 0);
                    if (answer) ++batch->deleted;
                    if (--batch->open > 0) return;
                    if (batch->deleted > 0) observer_.swept(batch->deleted);
                    sweep_again(batch->deleted == sweep_size ? Duration(0) : sweep_every_max);
                }));
    }
}

void Runner::sweep_again(Duration delay) {
    Duration const often = std::max(Duration(1'000), *options_.completed_after);
    services_.loop.after(std::min(delay, often), sweeps_->guard([this] { sweep(); }));
}

}  // namespace dormouse::runner
