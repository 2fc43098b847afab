#include "app/archive_changes.h"

#include "app/commands/archived.h"
#include "app/parts/stores.h"
#include "app/release.h"
#include "io/clock.h"
#include "runner/transfer/export.h"
#include "runner/transfer/portable.h"

#include <optional>
#include <utility>
#include <vector>

namespace dormouse::app {

namespace {

archive::Writer::Frame frame_of(archive::File const& file, Time at) {
    runner::TransferHead head{release(), at, {}, {}};
    for (archive::Entry const& entry : file.index.sessions) head.sessions.push_back(entry.id);
    return {runner::head_line(head), [](std::vector<archive::Entry> const& all) {
                std::uint64_t events = 0;
                for (archive::Entry const& entry : all) events += entry.head;
                return runner::end_line(all.size(), events);
            }};
}

}  // namespace

Result<archive::File> rewrite(archive::Writer& writer, archive::File const& file,
                              archive::Writer::Change const& change) {
    Time const now = io::SystemClock().now();
    return writer.rewrite(file, {release(), now}, frame_of(file, now), change);
}

Result<Rekeyed> rekey_archive(cli::RekeyOptions const& options) {
    auto const all = open_archive({options.archive, options.key_env});
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
        auto const done =
            rewrite(*writer, file, [](archive::Writer::Session session) { return session; });
        if (!done) return std::unexpected(done.error());
        out.contents += done->index.sessions.size();
    }
    return out;
}

}  // namespace dormouse::app
