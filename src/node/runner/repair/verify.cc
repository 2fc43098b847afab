#include "runner/repair/verify.h"

#include "runner/lane/rows.h"
#include "runner/read/reading.h"
#include "runner/repair/rebuild.h"
#include "session/key.h"
#include "wire/audit.h"
#include "wire/state_json.h"

#include <algorithm>
#include <map>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

constexpr int check_tries = 3;

// The newest event, as far as it can be read; damage is reported elsewhere.
Result<Seq> head_of(port::JournalStore& store, SessionId const& session) {
    auto const loaded = store.load(session);
    if (!loaded || loaded->tail.empty()) return Seq{0};
    port::Frame const& last = loaded->tail.back();
    return last.first + last.count - 1;
}

class Check {
public:
    Check(port::Store& store, port::SessionRow const& row, VerifyReport& report)
        : store_(store), row_(row), report_(report) {}

    void run() {
        if (row_.status == "deleted") return check_gone();
        auto journal = read_journal(store_, row_.id);
        if (!journal) return find("journal: " + journal.error().detail);
        auto rebuilt = rebuild(*journal);
        if (!rebuilt) return find("journal: " + rebuilt.error().detail);
        rebuilt_ = std::move(*rebuilt);
        gone_ = journal->base.head;
        report_.events += journal->records.size();
        compare_derived();
        compare_row();
        compare_pending();
        compare_keys();
        compare_artifacts();
        compare_wake();
        compare_created();
    }

private:
    void find(std::string what) { report_.findings.push_back({row_.id, std::move(what)}); }

    // Checks that only the row of a deleted session is left.
    void check_gone() {
        auto const frames = store_.page(row_.id, 1, 1);
        if (!frames || !frames->empty())
            find("journal: the session has events, but its row is marked as deleted");
    }

    // A repetition of the request that created the session must find it by its Idempotency-Key.
    void compare_created() {
        std::string const& idem = rebuilt_.state.created_idem;
        if (idem.empty()) return;
        auto const digest = sha256(rebuilt_.state.project + "\n" + idem.substr(0, idem.find('.')));
        Bits128 key{};
        std::copy_n(digest.begin(), key.size(), key.begin());
        auto const found = store_.find_created(key);
        if (!found) return find("created: " + found.error().detail);
        if (*found != row_.id) find("created: the key that it was created under does not name it");
    }

    void compare_derived() {
        Derived const derived = derive(rebuilt_.state);
        std::set<EffectId> found;
        for (auto const& [id, effect] : outstanding(rebuilt_.state)) found.insert(id);
        if (found != derived.outstanding)
            find("state: the outstanding effects do not follow from the calls");
    }

    void compare_row() {
        port::SessionRow const should = session_row(rebuilt_.state);
        // Older versions wrote rows without a derived title.
        bool const titled = row_.title == should.title || row_.title == rebuilt_.state.title;
        // An older version did not store `running` between attempts; the next append does.
        bool const works = should.turn == port::TurnState::running;
        bool const same = should.project == row_.project && should.agent == row_.agent &&
                          should.alias == row_.alias && titled && should.status == row_.status &&
                          should.created == row_.created && (works || should.turn == row_.turn);
        if (!same) find("session row: differs from the journal");
    }

    // Returns true if a row names an event after the end: then the journal has lost its end.
    bool beyond(Seq seq, std::string const& who) {
        if (seq <= rebuilt_.state.head) return false;
        find("journal: event " + std::to_string(seq) + ", which " + who + " names, is missing");
        return true;
    }

    void compare_pending() {
        auto rows = store_.pending_rows(row_.id);
        if (!rows) return find("pending rows: " + rows.error().detail);
        for (port::PendingRow const& row : *rows) {
            if (beyond(std::max(row.paused, row.settled), "a pending row")) continue;
            auto const should = rebuilt_.pending.extract({row.call, row.generation});
            bool const same = !should.empty() && should.mapped() == row;
            if (!same)
                find("pending row " + std::to_string(row.call) + "." +
                     std::to_string(row.generation) + ": differs from the journal");
        }
        for (auto const& [key, row] : rebuilt_.pending) {
            find("pending row " + std::to_string(key.first) + "." + std::to_string(key.second) +
                 ": missing");
        }
    }

    void compare_keys() {
        auto rows = store_.key_rows(row_.id);
        if (!rows) return find("keys: " + rows.error().detail);
        std::map<std::string, Seq> stored;
        for (port::KeyRow const& row : *rows) {
            if (beyond(row.seq, "a key")) continue;
            if (row.seq > gone_ && !is_taken_key(row.key)) stored.emplace(row.key, row.seq);
        }
        if (stored != rebuilt_.keys) find("keys: differ from the journal");
    }

    void compare_artifacts() {
        for (auto const& [seq, should] : rebuilt_.artifacts) {
            std::string const which = "artifact of event " + std::to_string(seq) + ": ";
            auto const bytes = store_.artifact(row_.id, seq);
            if (!bytes) {
                find(which + bytes.error().detail);
            } else if (!*bytes) {
                find(which + "missing");
            } else if ((*bytes)->size() != should.bytes || sha256(**bytes) != should.digest) {
                find(which + "differs from its digest in the journal");
            }
        }
    }

    void compare_wake() {
        auto loaded = read_session(store_, row_.id);
        if (!loaded) return find("load: " + loaded.error().detail);
        if (!(loaded->state == rebuilt_.state))
            find("snapshot: differs from the fold of the journal");
        if (loaded->wake_known && loaded->wake_at != wake_at(rebuilt_.state))
            find("wake_at: differs from the state");
    }

    port::Store& store_;
    port::SessionRow const& row_;
    VerifyReport& report_;
    Rebuilt rebuilt_;
    Seq gone_ = 0;  // the journal up to this event is gone; keys that name it stay
};

// Each line must be chained to the one before it. Reports the first that is not, and nothing about
// later lines. If the beginning was removed, a later line must record the hash that the first
// remaining line is chained to.
constexpr bool is_first_of_chain(std::uint64_t n) {
    return (n & ((std::uint64_t{1} << 48) - 1)) == 1;
}

// The lines of one chain, in their order.
class AuditChain {
public:
    // The hash of the last of removed lines, by its number: a line of any chain records it.
    using Removed = std::map<std::uint64_t, Sha256>;

    AuditChain(port::AuditRow const& first, VerifyReport& report)
        : first_(first), report_(report), at_(first.n - 1) {
        if (is_first_of_chain(first.n)) before_ = Sha256{};
    }

    [[nodiscard]] bool has(port::AuditRow const& row) const {
        return port::audit_chain(row.n) == port::audit_chain(first_.n);
    }

    void take(port::AuditRow const& row, Removed& removed) {
        if (auto const trim = wire::read_trimmed(row.line))
            removed.insert_or_assign(trim->through, trim->hash);
        if (broken_) return;
        ++at_;
        if (row.n != at_) return find(at_, " is missing");
        if (before_ && !same_digest(row.hash, port::chained(*before_, row.n, row.line)))
            return find(at_, changed);
        before_ = row.hash;
        ++report_.audited;
    }

    // After the last line of all chains: what was before the first one is known now.
    void end(Removed const& removed) {
        if (broken_ || is_first_of_chain(first_.n)) return;
        auto const before = removed.find(first_.n - 1);
        if (before == removed.end())
            report_.findings.push_back(
                {{}, "audit: the lines before line " + std::to_string(first_.n) + " are missing"});
        else if (!same_digest(first_.hash, port::chained(before->second, first_.n, first_.line)))
            find(first_.n, changed);
    }

private:
    static constexpr char changed[] = " or one before it was changed";

    void find(std::uint64_t n, std::string const& what) {
        report_.findings.push_back({{}, "audit: line " + std::to_string(n) + what});
        broken_ = true;
    }

    port::AuditRow const first_;
    VerifyReport& report_;
    std::uint64_t at_;
    std::optional<Sha256> before_ = {};  // the hash before the next line; unknown at first
    bool broken_ = false;
};

Result<void> check_audit(port::AuditStore& store, VerifyReport& report) {
    constexpr std::uint32_t page = 1'000;
    std::vector<AuditChain> chains;
    AuditChain::Removed removed;
    for (std::uint64_t at = 0;;) {
        auto const rows = store.audit(at, page);
        if (!rows) return std::unexpected(rows.error());
        if (rows->empty()) break;
        for (port::AuditRow const& row : *rows) {
            if (chains.empty() || !chains.back().has(row)) chains.emplace_back(row, report);
            chains.back().take(row, removed);
        }
        at = rows->back().n;
    }
    for (AuditChain& chain : chains) chain.end(removed);
    return {};
}

}  // namespace

namespace {

// Checks again if the session continued meanwhile, because that alone could be the difference.
Result<void> check(port::Store& store, port::SessionRow row, VerifyReport& report) {
    for (int tries = 0; tries < check_tries; ++tries) {
        VerifyReport one;
        auto const head = head_of(store, row.id);
        if (!head) return std::unexpected(head.error());
        Check(store, row, one).run();
        auto const after = head_of(store, row.id);
        if (!after) return std::unexpected(after.error());
        report.events += one.findings.empty() || *after == *head ? one.events : 0;
        if (one.findings.empty()) return {};
        if (*after == *head) {
            std::ranges::move(one.findings, std::back_inserter(report.findings));
            return {};
        }
        auto const now = store.load(row.id);
        if (!now) return std::unexpected(now.error());
        if (!now->row) return {};
        row = *now->row;
    }
    return {};
}

}  // namespace

bool can_be_repaired(Finding const& finding) {
    return !finding.what.starts_with("journal: ") && !finding.what.starts_with("artifact ") &&
           !finding.what.starts_with("created: ");
}

Result<VerifyReport> verify_page(port::Store& store, std::uint64_t after, std::uint32_t limit) {
    VerifyReport report;
    auto rows = store.all_sessions(after, limit);
    if (!rows) return std::unexpected(std::move(rows.error()));
    for (port::SessionRow const& row : *rows) {
        if (auto const checked = check(store, row, report); !checked)
            return std::unexpected(checked.error());
        ++report.sessions;
    }
    if (rows->size() == limit) report.next = rows->back().id.number();
    return report;
}

Result<VerifyReport> verify(port::Store& store,
                            std::function<void(std::uint64_t)> const& progress) {
    constexpr std::uint32_t page = 1'000;
    VerifyReport report;
    for (std::optional<std::uint64_t> after = 0; after;) {
        auto part = verify_page(store, *after, page);
        if (!part) return part;
        report.sessions += part->sessions;
        report.events += part->events;
        std::ranges::move(part->findings, std::back_inserter(report.findings));
        after = part->next;
        if (part->sessions > 0) progress(report.sessions);
    }
    if (auto checked = check_audit(store, report); !checked)
        return std::unexpected(std::move(checked.error()));
    return report;
}

}  // namespace dormouse::runner
