#include "app/parts/copies.h"

#include "app/parts/stores.h"
#include "app/release.h"
#include "backup/copy/depot.h"
#include "store/sqlite/changes.h"

#include <filesystem>
#include <optional>
#include <utility>

namespace dormouse::app {

namespace {

backup::ObjectStore store_of(config::Backup const& settings) {
    return {.place = settings.to,
            .endpoint = settings.endpoint,
            .region = settings.region,
            .access_key = settings.access_key ? settings.access_key->value : "",
            .secret_key = settings.secret_key ? settings.secret_key->value : ""};
}

// Returns true if `path` is `directory`, or beneath it.
bool is_within(std::filesystem::path const& path, std::filesystem::path const& directory) {
    std::error_code error;
    auto const inner = std::filesystem::weakly_canonical(path, error);
    auto const outer = std::filesystem::weakly_canonical(directory, error);
    auto const relative = inner.lexically_relative(outer);
    return !relative.empty() && *relative.begin() != "..";
}

}  // namespace

Result<void> check_copies(config::Config const& config) {
    std::string const& to = config.backup.to;
    if (to.empty()) return {};
    if (in_memory(config.store) || store_name(config.store) != "sqlite")
        return fail(Code::bad_value,
                    "to: only a store of kind sqlite can be copied; a PostgreSQL "
                    "database has continuous archiving of its own");
    if (backup::is_object_store(to)) {
        return backup::check_object_store(store_of(config.backup));
    }
    if (std::filesystem::path(to).is_absolute()) return {};
    return fail(Code::bad_value, "to: must be an absolute path, or s3://BUCKET/PREFIX");
}

Result<CopyPlan> plan_copies(config::Config const& config, std::string const& data) {
    config::Backup const& settings = config.backup;
    CopyPlan out;
    if (settings.to.empty()) return out;
    bool const within = !backup::is_object_store(settings.to) &&
                        (is_within(settings.to, data) || is_within(data, settings.to));
    if (within)
        return fail(Code::bad_value,
                    "[backup] to: must not be in the data directory: choose another disk");
    if (!settings.key_file.empty()) {
        auto sealing = backup::Sealing::load(settings.key_file);
        if (!sealing)
            return fail(sealing.error().code, "[backup] key_file: " + sealing.error().detail);
        out.sealing = *std::move(sealing);
    }
    out.changes = std::make_shared<store::sqlite::Changes>();
    return out;
}

Copies::Copies(CopyPlan plan, config::Config const& config, std::string const& data,
               port::Clock const& clock)
    : plan_(std::move(plan)) {
    if (!plan_.changes) return;
    config::Backup const& settings = config.backup;
    backup::Copier::Options options{.directory = data,
                                    .release = release(),
                                    .target = settings.to,
                                    .sealing = plan_.sealing,
                                    .interval = settings.interval,
                                    .base_every = settings.base_every,
                                    .keep = settings.keep,
                                    .depot = {}};
    options.depot = [this, store = store_of(settings)]() {
        return backup::is_object_store(store.place) ? backup::open_object_store(store, &stop_)
                                                    : backup::open_directory_depot(store.place);
    };
    copier_ = std::make_unique<backup::Copier>(*plan_.changes, clock, entropy_, std::move(options));
}

void Copies::attach_to(serve::ServingSettings& settings) {
    if (!copier_) return;
    settings.copy = [this] {
        auto out = copier_->status();
        if (!started_)
            out.why = "nothing is copied while this copy of the directory holds (dormouse release)";
        return std::optional(std::move(out));
    };
    settings.copy_now = [this]() -> Result<std::uint64_t> {
        if (started_) return copier_->copy_now();
        return fail(Code::wrong_state,
                    "Nothing is copied while this copy of the directory holds: dormouse release");
    };
}

void Copies::start() {
    started_ = true;
    if (copier_) copier_->start();
}

void Copies::end() {
    stop_ = true;
    if (copier_) copier_->end();
}

}  // namespace dormouse::app
