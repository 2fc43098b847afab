#include "app/archive_outdated.h"

#include "app/archive_changes.h"
#include "runner/read/reading.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace dormouse::app {

namespace {

constexpr std::size_t heads_at_once = 500;

std::string joined_lines(std::vector<std::string> const& lines) {
    std::string text;
    for (std::string const& line : lines) text += line + "\n";
    return text;
}

class OutdatedSearch {
public:
    OutdatedSearch(port::Store& store, runner::SessionExport const& exported)
        : store_(store), export_(exported) {}

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
                auto const outdated = is_outdated({&file, &some[i]}, (*heads)[i].head);
                if (!outdated) return std::unexpected(outdated.error());
                if (*outdated) out.insert(some[i].id);
            }
        }
        return out;
    }

private:
    [[nodiscard]] Result<bool> is_outdated(archive::Place const& place, Seq head) {
        auto const& id = place.entry->id;
        auto const stored = runner::read_session(store_, id);
        if (!stored && stored.error().code == Code::store_unavailable)
            return std::unexpected(stored.error());
        if (!stored || stored->state.redacted == 0) return false;  // doctor names unreadable ones
        if (stored->state.redacted > place.entry->head) return true;
        // Another state with as many events may be from before the redaction.
        return place.entry->head == head && !is_same(place);
    }
    [[nodiscard]] bool is_same(archive::Place const& place) {
        auto const rows = store_.all_sessions(place.entry->id.number() - 1, 1);
        if (!rows || rows->empty() || rows->front().id != place.entry->id) return true;
        auto const now = export_.lines(rows->front());
        auto const copy = archive::Archive::read(place);
        return !now || !copy || *copy == joined_lines(*now);
    }

    port::Store& store_;
    runner::SessionExport const& export_;
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

Result<OutdatedCopies> remove_outdated(port::Store& store, runner::SessionExport const& exported,
                                       archive::Writer& writer, archive::Archive const& all,
                                       archive::Encryption encryption) {
    OutdatedCopies out;
    OutdatedSearch search(store, exported);
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
