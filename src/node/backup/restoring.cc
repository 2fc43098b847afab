#include "backup/restoring.h"

#include "backup/files.h"
#include "json/json.h"
#include "store/sqlite/hold.h"

#include <cerrno>
#include <cstdio>

namespace dormouse::backup {

namespace {

std::unexpected<Error> not_empty(std::filesystem::path const& to) {
    return fail(Code::wrong_state,
                to.string() + " is not empty: restore into a new directory, or an empty one");
}

}  // namespace

Restoring::~Restoring() {
    for (auto path = made_.rbegin(); path != made_.rend(); ++path)
        std::filesystem::remove(*path, ignored_);
}

Result<void> Restoring::begin(RestoredFrom const& from, Time now) {
    std::error_code error;
    auto const fresh = make_directory(to_);
    if (!fresh) return std::unexpected(fresh.error());
    if (*fresh) made_.push_back(to_);
    if (!std::filesystem::is_empty(to_, error) || error) return not_empty(to_);
    auto const file = to_ / store::sqlite::restoring_name;
    auto const fd = create_file(file, true);
    if (!fd && fd.error().code == Code::conflict) return not_empty(to_);
    if (!fd) return std::unexpected(fd.error());
    made_.push_back(file);
    json::Writer text;
    text.begin_object().member("restored", to_ms(now)).member("backup", to_ms(from.time));
    text.member("release", from.release).member("feed", from.feed).end_object();
    if (auto written = write_all(fd->get(), text.take() + "\n", file); !written) return written;
    return sync_file(fd->get(), file);
}

Result<io::Fd> Restoring::make(std::string const& name) {
    auto fd = create_file(to_ / name, true);
    if (fd) made_.push_back(to_ / name);
    return fd;
}

Result<void> Restoring::finish() {
    if (auto synced = sync_directory(to_); !synced) return synced;
    auto const from = to_ / store::sqlite::restoring_name;
    if (std::rename(from.c_str(), (to_ / store::sqlite::held_name).c_str()) != 0)
        return refused(from, errno);
    made_.clear();
    return sync_directory(to_);
}

}  // namespace dormouse::backup
