// dormouse rekey.
#include "app/commands/programs.h"

#include "app/archive_changes.h"
#include "app/parts/stores.h"
#include "app/release.h"
#include "app/start/complain.h"
#include "app/start/shared_records.h"
#include "http/resources/mcp/mcp_marks.h"
#include "io/clock.h"
#include "json/json.h"
#include "runtime/known_keys.h"
#include "runtime/stores.h"
#include "store/postgres/postgres_store.h"
#include "store/sealed/places.h"
#include "store/sealed/resealer.h"
#include "store/sealed/sealer.h"
#include "store/sqlite/compact.h"
#include "store/sqlite/rewrite.h"
#include "store/sqlite/sqlite_store.h"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace dormouse::app {

namespace {

Result<std::unique_ptr<store::Sealer>> sealer_for(cli::RekeyOptions const& options,
                                                  port::DataKeyStore& keys) {
    auto masters = master_keys(options.key_env);
    if (!masters) return std::unexpected(std::move(masters.error()));
    if (!*masters) return fail(Code::bad_value, "--key-env: name the variable that holds the keys");
    return store::Sealer::make(**std::move(masters), keys, std::make_unique<io::SystemEntropy>(),
                               false);
}

// Encrypts the contents that were stored before the key, and leaves the old pages of the file out.
// Until the keys say that nothing is plain, which is later, a repeat does both again.
Result<std::uint64_t> seal_contents(cli::RekeyOptions const& options) {
    std::uint64_t contents = 0;
    {
        auto const opened = store::SqliteStore::open(options.data);
        if (!opened) return std::unexpected(opened.error());
        auto const sealer = sealer_for(options, **opened);
        if (!sealer) return std::unexpected(sealer.error());
        // In a store without plain contents of its own, plain contents are forged.
        if (!(*sealer)->mixed()) return 0;
        if (auto ready = (*sealer)->prepare(); !ready)
            return std::unexpected(std::move(ready.error()));
        store::Resealer resealer(**sealer);
        auto const sealed = store::sqlite::rewrite(options.data, resealer);
        if (!sealed) return sealed;
        contents = *sealed;
    }
    auto const rewritten = store::sqlite::rewrite_file(options.data);
    if (!rewritten) return std::unexpected(rewritten.error());
    return contents;
}

Result<Rekeyed> rekey_directory(cli::RekeyOptions const& options) {
    if (!std::filesystem::exists(std::filesystem::path(options.data) / "dormouse.db"))
        return fail(Code::not_found,
                    "dormouse.db not found in " + options.data + "; set --data DIR");
    auto const contents = seal_contents(options);
    if (!contents) return std::unexpected(contents.error());
    auto const opened = store::SqliteStore::open(options.data);
    if (!opened) return std::unexpected(opened.error());
    auto const sealer = sealer_for(options, **opened);
    if (!sealer) return std::unexpected(sealer.error());
    auto const keys = (*sealer)->rewrap(true);
    if (!keys) return std::unexpected(keys.error());
    return Rekeyed{*keys, *contents};
}

// The values that processes share are few: each is replaced by itself.
Result<void> seal_values(store::PostgresStore& database, store::Sealer& sealer,
                         std::string const& prefix) {
    auto const found = database.values(prefix);
    if (!found) return std::unexpected(found.error());
    for (port::SharedValue const& one : *found) {
        if (sealer.is_sealed(one.value)) continue;
        auto const done = database.exchange(
            {one.name, sealer.seal(one.value, store::places::value(one.name)), one.mark});
        if (!done) return std::unexpected(done.error());
    }
    return {};
}

Result<std::uint64_t> seal_database(store::PostgresStore& database, store::Sealer& sealer) {
    if (!sealer.mixed()) return 0;
    if (auto ready = sealer.prepare(); !ready) return std::unexpected(std::move(ready.error()));
    for (std::string_view const prefix : {std::string_view(sign_in_values), http::mcp_marks_values})
        if (auto sealed = seal_values(database, sealer, std::string(prefix)); !sealed)
            return std::unexpected(std::move(sealed.error()));
    store::Resealer resealer(sealer);
    auto const contents = database.rewrite(resealer);
    if (!contents) return contents;
    auto const dropped = database.drop_old_versions();
    if (!dropped) return std::unexpected(dropped.error());
    if (!*dropped)
        std::fprintf(stderr,
                     "rekey: the files of the tables still have old rows that are not encrypted: "
                     "run VACUUM FULL as the owner of the tables\n");
    return contents;
}

store::PostgresOptions options_of_rekey(bool sole) {
    store::PostgresOptions out;
    out.sole = sole;
    out.relaxed = true;  // a server reports it at its start
    out.node = "rekey";
    out.version = release();
    return out;
}

// Beside the servers, which read with the data keys that they have. nullopt: contents must
// be encrypted, too, so no server may work.
Result<std::optional<Rekeyed>> rekey_beside(cli::RekeyOptions const& options) {
    auto const opened = store::PostgresStore::open(*options.store, options_of_rekey(false));
    if (!opened) return std::unexpected(opened.error());
    auto const masters = master_keys(options.key_env);
    if (!masters) return std::unexpected(masters.error());
    auto const sealer = sealer_for(options, **opened);
    if (!sealer) return std::unexpected(sealer.error());
    if ((*sealer)->mixed()) return std::nullopt;
    if (auto known = runtime::refuse_unknown(**opened, **masters); !known)
        return std::unexpected(std::move(known.error()));
    auto const keys = (*sealer)->rewrap(true);
    if (!keys) return std::unexpected(keys.error());
    auto servers = runtime::with_another_first(**opened, **masters);
    if (!servers) return std::unexpected(std::move(servers.error()));
    return Rekeyed{*keys, 0, *std::move(servers)};
}

Result<Rekeyed> rekey_database(cli::RekeyOptions const& options) {
    if (auto right = check_store_flag({.url = *options.store}); !right)
        return std::unexpected(std::move(right.error()));
    if (!runtime::is_database(*options.store))
        return fail(Code::bad_value, "--store: name a postgres:// URL, or pass --data DIR");
    auto const beside = rekey_beside(options);
    if (!beside) return std::unexpected(beside.error());
    if (*beside) return **beside;
    auto const opened = store::PostgresStore::open(*options.store, options_of_rekey(true));
    if (!opened) return std::unexpected(opened.error());
    auto const sealer = sealer_for(options, **opened);
    if (!sealer) return std::unexpected(sealer.error());
    auto const contents = seal_database(**opened, **sealer);
    if (!contents) return std::unexpected(contents.error());
    auto const keys = (*sealer)->rewrap(true);
    if (!keys) return std::unexpected(keys.error());
    return Rekeyed{*keys, *contents};
}

// A first key has no others.
bool has_other_keys(cli::RekeyOptions const& options) {
    auto const masters = master_keys(options.key_env);
    return masters && *masters && (*masters)->all().size() > 1;
}

}  // namespace

int rekey(cli::RekeyOptions const& options) {
    auto const done = !options.archive.empty() ? rekey_archive(options)
                      : options.store          ? rekey_database(options)
                                               : rekey_directory(options);
    if (!done) return complain({"rekey", options.json}, done.error());
    if (options.json) {
        json::Writer out;
        out.begin_object().member("keys", done->keys).member("contents", done->contents);
        out.key("servers").begin_array();
        for (std::string const& server : done->servers) out.value(server);
        out.end_array();
        std::puts(out.end_object().take().c_str());
        return 0;
    }
    std::printf("%llu data keys, %llu contents encrypted\n",
                static_cast<unsigned long long>(done->keys),
                static_cast<unsigned long long>(done->contents));
    for (std::string const& server : done->servers)
        std::printf("%s still encrypts with another master key: put the new one first there\n",
                    server.c_str());
    if (done->servers.empty() && has_other_keys(options))
        std::puts("Nothing needs the other master keys now: remove them, keep them for backups");
    return 0;
}

}  // namespace dormouse::app
