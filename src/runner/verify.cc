#include "runner/verify.h"

#include "runner/reading.h"
#include "runner/rows.h"
#include "session/key.h"
#include "wire/state_json.h"

#include <algorithm>
#include <map>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

// What the journal says should stand beside it.
struct Rebuilt {
    State state;
    std::map<std::pair<CallNo, Generation>, port::PendingRow> pending;
    std::map<std::string, Seq> keys;
    std::map<Seq, ArtifactEmitted> artifacts;
};

class Check {
public:
    Check(port::Store& store, port::SessionRow const& row, VerifyReport& report)
        : store_(store), row_(row), report_(report) {}

    void run() {
        if (row_.status == "deleted") return;
        auto records = read_records(store_, row_.id, 1, SIZE_MAX >> 1);
        if (!records) return find("journal: " + records.error().detail);
        if (!fold(*records)) return;
        report_.events += records->size();
        compare_derived();
        compare_row();
        compare_pending();
        compare_keys();
        compare_artifacts();
        compare_wake();
    }

private:
    void find(std::string what) { report_.findings.push_back({row_.id, std::move(what)}); }

    bool fold(std::vector<wire::RecordPtr> const& records) {
        rebuilt_.state.id = row_.id;
        for (wire::RecordPtr const& record : records) {
            Event const& event = record->event;
            if (event.seq != rebuilt_.state.head + 1) {
                find("journal: event " + std::to_string(rebuilt_.state.head + 1) + " is missing");
                return false;
            }
            for (PendingChange const& change : pending_changes(rebuilt_.state, event)) {
                rebuilt_.pending[{change.pending.call, change.pending.generation}] =
                    pending_row(change);
            }
            for (std::string& key : keys_of(event))
                rebuilt_.keys.emplace(std::move(key), event.seq);
            if (auto const* e = std::get_if<ArtifactEmitted>(&event.body))
                rebuilt_.artifacts.emplace(event.seq, *e);
            apply(rebuilt_.state, event);
        }
        if (records.empty()) find("journal: it is empty");
        return !records.empty();
    }

    void compare_derived() {
        Derived const derived = derive(rebuilt_.state);
        std::set<EffectId> owed;
        for (auto const& [id, effect] : outstanding(rebuilt_.state)) owed.insert(id);
        if (owed != derived.owed) find("state: what is owed does not follow from the calls");
    }

    void compare_row() {
        port::SessionRow const should = session_row(rebuilt_.state);
        bool const same = should.project == row_.project && should.agent == row_.agent &&
                          should.alias == row_.alias && should.title == row_.title &&
                          should.status == row_.status && should.created == row_.created;
        if (!same) find("session row: differs from the journal");
    }

    void compare_pending() {
        auto rows = store_.pending_rows(row_.id);
        if (!rows) return find("pending rows: " + rows.error().detail);
        for (port::PendingRow const& row : *rows) {
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
            if (!is_taken_key(row.key)) {
                stored.emplace(row.key, row.seq);
            } else if (row.seq == 0 || row.seq > rebuilt_.state.head) {
                find("keys: a post was taken up by an event that is not there");
            }
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
};

}  // namespace

Result<VerifyReport> verify(port::Store& store,
                            std::function<void(std::uint64_t)> const& progress) {
    constexpr std::uint32_t page = 1'000;
    VerifyReport report;
    std::uint64_t after = 0;
    while (true) {
        auto rows = store.all_sessions(after, page);
        if (!rows) return std::unexpected(std::move(rows.error()));
        if (rows->empty()) return report;
        for (port::SessionRow const& row : *rows) {
            Check(store, row, report).run();
            ++report.sessions;
        }
        after = rows->back().id.number();
        progress(report.sessions);
    }
}

}  // namespace dormouse::runner
