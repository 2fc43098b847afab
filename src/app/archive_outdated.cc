#include "app/archive_outdated.h"

#include "app/archive_changes.h"
#include "app/commands/archived.h"
#include "runner/read/reading.h"
#include "wire/journal/record.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <variant>

namespace dormouse::app {

namespace {

constexpr std::size_t heads_at_once = 500;

// The redactions of a session by their events. null: only the number is known.
using Redactions = std::map<Seq, wire::RecordPtr>;

Redactions redactions_of(std::vector<wire::RecordPtr> const& records) {
    Redactions out;
    for (wire::RecordPtr const& record : records)
        if (std::holds_alternative<session::Redacted>(record->event.body))
            out.emplace(record->event.seq, record);
    return out;
}

bool is_same(wire::RecordPtr const& stored, wire::RecordPtr const& copied) {
    return !stored || (stored->event.at == copied->event.at && stored->data == copied->data);
}

// Returns true if the copy has these redactions. One that cannot be read counts as such: `verify`
// names it.
bool has_all(archive::Place const& place, Redactions const& redactions) {
    auto const lines = archive::Archive::read(place);
    if (!lines) return true;
    auto const read = read_archived(*lines);
    if (!read) return true;
    Redactions there;
    for (port::Frame const& frame : read->placing->frames()) {
        auto const records = wire::unpack(place.entry->id, frame.first, frame.bytes);
        if (!records) return true;
        there.merge(redactions_of(*records));
    }
    // Retention had removed these events before the copy was made.
    Seq const removed = read->placing->state().base.through;
    return std::ranges::all_of(redactions, [&](auto const& one) {
        auto const found = there.find(one.first);
        return one.first <= removed || (found != there.end() && is_same(one.second, found->second));
    });
}

class OutdatedSearch {
public:
    explicit OutdatedSearch(port::Store& store) : store_(store) {}

    // The sessions of the file that the store has, redacted since the copy was made.
    [[nodiscard]] Result<std::set<SessionId>> in(archive::File const& file) {
        std::set<SessionId> out;
        std::span const all(file.index.sessions);
        for (std::size_t at = 0; at < all.size(); at += heads_at_once) {
            auto const some = all.subspan(at, std::min(heads_at_once, all.size() - at));
            std::vector<SessionId> ids;
            for (archive::Entry const& entry : some) ids.push_back(entry.id);
            auto const heads = store_.newest(ids);
            if (!heads) return std::unexpected(heads.error());
            for (std::size_t i = 0; i < some.size(); ++i) {
                if ((*heads)[i].head == 0) continue;
                auto const outdated = is_outdated({&file, &some[i]});
                if (!outdated) return std::unexpected(outdated.error());
                if (*outdated) out.insert(some[i].id);
            }
        }
        return out;
    }

private:
    // Each redaction is an event, stored together with what it changes: a copy that has the event
    // has nothing of what was removed. Nothing else is compared: an import changes rows, and
    // retention may have removed from the store what the copy still has.
    [[nodiscard]] Result<bool> is_outdated(archive::Place const& place) {
        auto const& id = place.entry->id;
        auto const stored = runner::read_session(store_, id);
        if (!stored && stored.error().code == Code::store_unavailable)
            return std::unexpected(stored.error());
        if (!stored || stored->state.redacted == 0) return false;  // doctor names unreadable ones
        if (stored->state.redacted > place.entry->head) return true;
        auto const records = runner::read_records(store_, id, 1, stored->state.head);
        if (!records && records.error().code == Code::store_unavailable)
            return std::unexpected(records.error());
        if (!records) return false;
        auto redactions = redactions_of(*records);
        redactions.try_emplace(stored->state.redacted, nullptr);  // retention has removed it
        return !has_all(place, redactions);
    }

    port::Store& store_;
};

Result<void> rewrite_without(archive::Writer& writer, archive::File const& file,
                             std::set<SessionId> const& without) {
    bool const all = std::ranges::all_of(file.index.sessions, [&](archive::Entry const& entry) {
        return without.contains(entry.id);
    });
    if (all) return writer.remove(file);
    auto const done = rewrite(
        writer, file, [](archive::Writer::Session session) { return session; },
        archive::Writer::OnDamage::copy, without);
    if (!done) return std::unexpected(done.error());
    return {};
}

}  // namespace

Result<OutdatedCopies> remove_outdated(port::Store& store, archive::Writer& writer,
                                       archive::Archive const& all,
                                       archive::Encryption encryption) {
    OutdatedCopies out;
    OutdatedSearch search(store);
    for (archive::File const& file : all.files()) {
        auto found = search.in(file);
        if (!found) return std::unexpected(std::move(found.error()));
        if (found->empty()) continue;
        bool const encrypted = file.index.key.has_value();
        writer.encrypt(encrypted ? encryption : archive::Encryption());
        if (auto const done = rewrite_without(writer, file, *found); !done)
            out.kept.push_back(file.path.string() + ": " + done.error().detail);
        else
            out.removed.merge(*found);
    }
    return out;
}

}  // namespace dormouse::app
