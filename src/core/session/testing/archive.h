#pragma once
// The data of one session in a store besides its state: the log, and closed things by key. Filled
// only from events, as a store is, so that a test finds what a lane would find.

#include "session/key.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace dormouse::session::testing {

class Archive {
public:
    // Adds the next event. REQUIRES: `before` is the state to which it is applied.
    void take(State const& before, Event const& event) {
        for (std::string const& key : keys_of(event)) {
            if (!keys_.emplace(key, event.seq).second)
                broken_ += "key " + key + " was written twice; ";
        }
        for (PendingChange const& change : pending_changes(before, event)) take_row(change);
        take_receipt(event);
        log.push_back(event);
    }

    // Remembers an applied outbox message by its key.
    void take_outbox_message(Command const& command) { taken_.insert(taken_key(command)); }

    // Returns the rows that the lane looks up before it decides.
    [[nodiscard]] Found found(State const& state, Command const& command) const {
        Wanted const want = wanted(state, command);
        Found found;
        if (want.receipt && receipts.contains(*want.receipt))
            found.receipt = receipts.at(*want.receipt);
        if (want.receipt && want.note) find_notes(*want.receipt, *want.note, found);
        found.taken = !want.taken.empty() && taken_.contains(want.taken);
        found.progress_known = !want.progress.empty() && keys_.contains(want.progress);
        if (!want.earlier.empty() && keys_.contains(want.earlier)) {
            found.earlier = earlier_in(log.at(keys_.at(want.earlier) - 1));
        }
        return found;
    }

    // Pauses whose rows are waiting.
    [[nodiscard]] std::set<PendingId> waiting_rows() const {
        std::set<PendingId> out;
        for (auto const& [pending, row] : rows) {
            if (!row.status) out.insert(pending);
        }
        return out;
    }

    [[nodiscard]] std::string const& broken() const { return broken_; }

    std::vector<Event> log;
    std::map<PendingId, Receipt> receipts;
    std::map<PendingId, PendingChange> rows;

private:
    void take_row(PendingChange const& change) {
        auto const& row = rows.insert_or_assign(change.pending, change).first->second;
        if (row.settled != 0 && !row.status) broken_ += "a settled row without a status; ";
    }

    // P2: each pause has one terminal outcome, and its receipt names the event that holds it.
    void take_receipt(Event const& event) {
        std::optional<Receipt> receipt;
        if (auto const* e = std::get_if<Submitted>(&event.body)) receipt = e->receipt;
        if (auto const* e = std::get_if<Expired>(&event.body)) receipt = e->receipt;
        if (auto const* e = std::get_if<Cancelled>(&event.body)) receipt = e->receipt;
        if (!receipt) return;
        if (receipt->seq != event.seq) broken_ += "a receipt names another event; ";
        if (!receipts.emplace(receipt->pending, *receipt).second) {
            broken_ += "two terminal outcomes for " + receipt->pending.text() + "; ";
        }
    }

    void find_notes(PendingId const& pending, Sha256 const& digest, Found& found) const {
        found.note_known = keys_.contains(note_key(pending.call, pending.generation, digest));
        while (keys_.contains(note_slot_key(pending.call, pending.generation, found.notes + 1)))
            ++found.notes;
    }

    std::map<std::string, Seq> keys_;
    std::set<std::string> taken_;
    std::string broken_;
};

}  // namespace dormouse::session::testing
