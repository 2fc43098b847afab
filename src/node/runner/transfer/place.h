#pragma once
// Puts one whole session into a store.

#include "port/store.h"
#include "runner/repair/rebuild.h"
#include "runner/transfer/import.h"
#include "runner/transfer/portable.h"

#include <set>
#include <vector>

namespace dormouse::runner {

struct Placed {
    bool before = false;  // the same session was there already
    bool holds = false;   // it has outstanding work
};

// A whole session that was checked, on its way into a store.
class Placing {
public:
    // Folds the session's events and compares its rows with them. `was`: its id in the export.
    // Errors: bad_value, newer_format.
    [[nodiscard]] static Result<Placing> prepare(Portable session, SessionId was);

    // Returns true if the store has this session already. Errors: conflict and alias_taken if
    // something of it is taken; others the store.
    [[nodiscard]] Result<bool> find(port::Store& store, Deleted deleted);
    [[nodiscard]] bool has_work() const;
    // Returns the epochs of the processes that worked for it when it was exported.
    [[nodiscard]] std::set<Epoch> epochs() const;
    // Returns the appends that write the session, in this order, without those of an import that
    // was cut off. The session is visible after the last one. REQUIRES: find() returned false.
    [[nodiscard]] std::vector<port::Append> appends(Epoch epoch,
                                                    ImportOptions const& options) const;

    [[nodiscard]] session::State const& state() const { return rebuilt_.state; }
    [[nodiscard]] std::vector<port::Frame> const& frames() const { return session_.frames; }
    [[nodiscard]] SessionId was() const { return was_; }
    [[nodiscard]] SessionId id() const { return session_.id; }
    [[nodiscard]] std::vector<port::RuleRow> const& rules() const { return session_.rules; }

private:
    Placing(Portable session, SessionId was, Rebuilt rebuilt, Seq base)
        : session_(std::move(session)), was_(was), rebuilt_(std::move(rebuilt)), base_(base) {}

    [[nodiscard]] Result<bool> look(port::Store& store, Deleted deleted);
    [[nodiscard]] Result<bool> same_as(port::Store& store, port::SessionRow const& row,
                                       Deleted deleted);
    [[nodiscard]] Result<void> may_restore(port::Store& store);
    [[nodiscard]] bool may_come_back() const;
    [[nodiscard]] Result<bool> is_stored(port::Store& store, port::Frame const& frame,
                                         port::Stamp stamp);
    [[nodiscard]] Result<void> keys_are_free(port::Store& store);
    [[nodiscard]] bool uses_alias() const;
    [[nodiscard]] port::SessionRow row(bool whole) const;
    [[nodiscard]] port::Append append(Epoch epoch, port::Frame frame) const;
    void add_place_of_base(Epoch epoch, std::vector<port::Append>& out) const;
    void finish_first(port::Append& append) const;
    void finish_last(port::Append& last, ImportOptions const& options) const;

    Portable session_;
    SessionId was_;
    Rebuilt rebuilt_;
    Seq base_;                  // events up to it were removed; 0: none
    Seq begun_ = 0;             // an import that was cut off has written up to this event
    bool restores_ = false;     // the id is that of a deleted session
    bool has_created_ = false;  // the store knows the key of its creation
    bool may_append_ = false;   // find() returned false
};

// Checks the store for conflicts, and writes the session. Errors: those of find() and the guard
// concern the session; others the store.
[[nodiscard]] Result<Placed> place(port::Store& store, Placing placing,
                                   ImportOptions const& options, ImportGuard const& guard);

// The key under which the store remembers that the session of this id was imported with a new one.
[[nodiscard]] Bits128 import_key(SessionId was);

// Returns true if the error concerns the session alone, and not the store.
[[nodiscard]] bool concerns_session(Code code);

}  // namespace dormouse::runner
