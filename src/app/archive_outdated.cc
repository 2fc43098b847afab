#include "app/archive_outdated.h"

#include "app/archive_changes.h"
#include "app/commands/archived.h"
#include "runner/read/reading.h"
#include "wire/journal/record.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

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

// Returns true if both come from one request, which was applied to each copy.
bool is_same_request(wire::RecordPtr const& left, wire::RecordPtr const& right) {
    auto const& a = std::get<session::Redacted>(left->event.body);
    auto const& b = std::get<session::Redacted>(right->event.body);
    return left->event.at == right->event.at && a.message == b.message && a.call == b.call &&
           a.turn == b.turn && a.what == b.what && a.reason == b.reason;
}

struct CopyRedactions {
    Redactions redactions;
    Seq newest = 0;   // redaction
    Seq removed = 0;  // retention had removed the events so far before the copy was made
};

// nullopt: it cannot be read; `verify` names it.
std::optional<CopyRedactions> read_copy(archive::Place const& place) {
    auto const lines = archive::Archive::read(place);
    if (!lines) return std::nullopt;
    auto const read = read_archived(*lines);
    if (!read) return std::nullopt;
    auto const& state = read->placing->state();
    CopyRedactions out{.redactions = {}, .newest = state.redacted, .removed = state.base.through};
    for (port::Frame const& frame : read->placing->frames()) {
        auto const records = wire::unpack(place.entry->id, frame.first, frame.bytes);
        if (!records) return std::nullopt;
        out.redactions.merge(redactions_of(*records));
    }
    return out;
}

bool has_redaction(CopyRedactions const& copy, Seq seq, wire::RecordPtr const& redaction) {
    auto const found = copy.redactions.find(seq);
    return seq <= copy.removed ||
           (found != copy.redactions.end() && is_same(redaction, found->second));
}

// Returns true if the copy has these redactions, or cannot be read.
bool has_all(archive::Place const& place, Redactions const& redactions) {
    auto const copy = read_copy(place);
    return !copy || std::ranges::all_of(redactions, [&](auto const& one) {
        return has_redaction(*copy, one.first, one.second);
    });
}

// Returns true if the copy lacks a redaction of a newer one.
bool is_before(archive::Place const& place, CopyRedactions const& newer) {
    auto const copy = read_copy(place);
    if (!copy) return newer.newest > place.entry->head;
    auto const is_there = [&](auto const& one) {
        return has_redaction(*copy, one.first, one.second) ||
               std::ranges::any_of(copy->redactions, [&](auto const& its) {
                   return is_same_request(one.second, its.second);
               });
    };
    bool const cut = newer.newest > 0 && !newer.redactions.contains(newer.newest);
    return (cut && !has_redaction(*copy, newer.newest, nullptr)) ||
           !std::ranges::all_of(newer.redactions, is_there);
}

// The copies of each session, if there are several, the newest first.
class RepeatedCopies {
public:
    explicit RepeatedCopies(archive::Archive const& all) {
        for (archive::File const& file : all.files())
            for (archive::Entry const& entry : file.index.sessions)
                copies_[entry.id].push_back({&file, &entry});
        std::erase_if(copies_, [](auto const& one) { return one.second.size() == 1; });
        for (auto& [id, copies] : copies_)
            std::ranges::sort(copies, std::greater(), [](archive::Place const& place) {
                return std::pair(place.entry->head, place.file->index.at);
            });
    }

    // Returns true if the copy was made before a redaction that the newest one has.
    [[nodiscard]] bool is_outdated(archive::Place const& place) {
        auto const copies = copies_.find(place.entry->id);
        if (copies == copies_.end()) return false;
        archive::Place const& newest = copies->second.front();
        if (newest.entry == place.entry) return false;
        auto const [read, fresh] = read_.try_emplace(place.entry->id);
        if (fresh) read->second = read_copy(newest);
        return read->second && is_before(place, *read->second);
    }

private:
    std::map<SessionId, std::vector<archive::Place>> copies_;
    std::map<SessionId, std::optional<CopyRedactions>> read_;  // the newest ones
};

class OutdatedSearch {
public:
    OutdatedSearch(port::Store& store, archive::Archive const& all) : store_(store), copies_(all) {}

    // The sessions of the file that were redacted since the copy was made, in the store, or before
    // they were archived again.
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
                archive::Place const place{&file, &some[i]};
                auto const outdated = (*heads)[i].head > 0
                                          ? is_outdated(place)
                                          : Result<bool>(copies_.is_outdated(place));
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
    RepeatedCopies copies_;
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
    OutdatedSearch search(store, all);
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
