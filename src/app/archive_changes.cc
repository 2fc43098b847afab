#include "app/archive_changes.h"

#include "app/commands/archived.h"
#include "app/parts/stores.h"
#include "app/release.h"
#include "archive/reindex.h"
#include "base/text/counted.h"
#include "io/clock.h"
#include "runner/lane/rows.h"
#include "runner/transfer/export.h"
#include "runner/transfer/portable.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::app {

namespace {

archive::Writer::Frame frame_of(archive::File const& file, Time at,
                                std::set<SessionId> const& without) {
    runner::TransferHead head{release(), at, {}, {}};
    for (archive::Entry const& entry : file.index.sessions)
        if (!without.contains(entry.id)) head.sessions.push_back(entry.id);
    return {runner::head_line(head), [](std::vector<archive::Entry> const& all) {
                std::uint64_t events = 0;
                for (archive::Entry const& entry : all) events += entry.head;
                return runner::end_line(all.size(), events);
            }};
}

}  // namespace

Result<archive::File> rewrite(archive::Writer& writer, archive::File const& file,
                              archive::Writer::Change const& change,
                              archive::Writer::OnDamage damaged,
                              std::set<SessionId> const& without) {
    Time const now = io::SystemClock().now();
    return writer.rewrite(file, {release(), now}, frame_of(file, now, without), change, damaged,
                          without);
}

namespace {

Result<archive::Writer::Origin> origin_of(std::string const& line) {
    auto const head = runner::read_head(std::string_view(line).substr(0, line.find('\n')));
    if (!head) return std::unexpected(head.error());
    return archive::Writer::Origin{head->release, head->at};
}

Result<archive::Entry> entry_of(std::string const& lines) {
    auto const read = read_archived(lines);
    if (!read) return std::unexpected(read.error());
    auto const& state = read->placing->state();
    port::SessionRow row = runner::session_row(state);
    return archive::Entry{row.id,      row.project, row.agent, row.title,
                          row.created, row.updated, state.head};
}

}  // namespace

Result<RebuiltIndexes> rebuild_indexes(std::filesystem::path const& directory) {
    auto writer = archive::Writer::open_to_repair(directory);
    if (!writer) return std::unexpected(std::move(writer.error()));
    auto const all = archive::unindexed(directory);
    if (!all) return std::unexpected(all.error());
    RebuiltIndexes out;
    for (archive::Unindexed const& file : *all) {
        auto const read = archive::read_data(file, {.head = origin_of, .session = entry_of});
        if (!read && read.error().code != Code::bad_value) return std::unexpected(read.error());
        if (!read) {
            out.lost.push_back(read.error().detail);
            continue;
        }
        for (std::string const& lost : read->lost)
            out.lost.push_back(file.data.string() + ": " + lost);
        if (auto put = writer->put_index(file.stem, read->index); !put)
            return std::unexpected(std::move(put.error()));
        out.made.push_back(file.stem.string() + ".index.json, of " +
                           counted(read->index.sessions.size(), "session"));
    }
    return out;
}

Result<Rekeyed> rekey_archive(cli::RekeyOptions const& options) {
    auto const all = open_to_change({options.archive, options.key_env});
    if (!all) return std::unexpected(all.error());
    // All or nothing: a key that is missing is named before anything is written.
    for (archive::File const& file : all->files())
        if (auto const key = archive::check_key(file); !key) return std::unexpected(key.error());
    auto const masters = master_keys(options.key_env);
    if (!masters) return std::unexpected(masters.error());
    io::SystemEntropy entropy;
    auto writer = archive::Writer::open(options.archive, {&**masters, &entropy});
    if (!writer) return std::unexpected(std::move(writer.error()));
    Rekeyed out;
    for (archive::File const& file : all->files()) {
        if (file.key) {
            auto const changed = writer->rewrap(file);
            if (!changed) return std::unexpected(changed.error());
            out.keys += *changed ? 1 : 0;
            continue;
        }
        auto const done = rewrite(
            *writer, file, [](archive::Writer::Session session) { return session; },
            archive::Writer::OnDamage::refuse);
        if (!done) return std::unexpected(done.error());
        out.contents += done->index.sessions.size();
    }
    return out;
}

}  // namespace dormouse::app
