#include "app/commands/programs.h"

#include "app/parts/stores.h"
#include "app/start/complain.h"
#include "base/text/counted.h"
#include "index/reading.h"
#include "json/json.h"
#include "runner/repair/verify.h"
#include "runtime/stores.h"
#include "store/files/file_index.h"
#include "store/postgres/postgres_store.h"
#include "store/sealed/structure.h"
#include "store/sqlite/data_directory.h"
#include "store/sqlite/sqlite_store.h"

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

namespace dormouse::app {

namespace {

void print_json(runner::VerifyReport const& report) {
    json::Writer out;
    out.begin_object().member("ok", report.findings.empty()).member("sessions", report.sessions);
    out.member("events", report.events)
        .member("audited", report.audited)
        .key("findings")
        .begin_array();
    for (runner::Finding const& finding : report.findings) {
        bool const of_session = finding.session.number() > 0;
        out.begin_object()
            .member("sessionID", of_session ? std::optional(finding.session.text()) : std::nullopt)
            .member("what", finding.what)
            .end_object();
    }
    std::puts(out.end_array().end_object().take().c_str());
}

void print_text(runner::VerifyReport const& report) {
    for (runner::Finding const& finding : report.findings) {
        bool const of_session = finding.session.number() > 0;
        std::printf("%s%s\n", of_session ? (finding.session.text() + ": ").c_str() : "",
                    finding.what.c_str());
    }
    std::puts((counted(report.sessions, "session") + ", " + counted(report.events, "event") + ", " +
               counted(report.findings.size(), "finding"))
                  .c_str());
}

void print_progress(std::uint64_t sessions) {
    if (sessions % 100'000 == 0)
        std::fprintf(stderr, "verify: %llu sessions\n", static_cast<unsigned long long>(sessions));
}

// Compares the checksums of encrypted contents, without their keys.
Result<runner::VerifyReport> check_encrypted(port::Store& store) {
    std::fprintf(stderr,
                 "verify: the contents are encrypted, so only the checksums of events and "
                 "snapshots are compared; --key-env NAME checks all\n");
    runner::VerifyReport out;
    for (std::uint64_t after = 0;;) {
        auto const rows = store.all_sessions(after, 1'000);
        if (!rows) return std::unexpected(rows.error());
        if (rows->empty()) return out;
        for (port::SessionRow const& row : *rows) {
            after = row.id.number();
            print_progress(++out.sessions);
            auto const count = store::count_events(store, row.id);
            if (!count) out.findings.push_back({row.id, count.error().detail});
            out.events += count.value_or(0);
        }
    }
}

template <class Store>
Result<runner::VerifyReport> check_contents(std::shared_ptr<Store> const& store,
                                            std::string const& key_env) {
    auto const masters = master_keys(key_env);
    if (!masters) return std::unexpected(masters.error());
    auto const rows = store->data_keys();
    if (!rows) return std::unexpected(rows.error());
    if (!rows->empty() && !*masters) return check_encrypted(*store);
    auto const readable = runtime::readable(store, *store, *masters);
    if (!readable) return std::unexpected(readable.error());
    return runner::verify(**readable, print_progress);
}

template <class Store>
Result<runner::VerifyReport> check(Result<std::unique_ptr<Store>> opened,
                                   std::string const& key_env) {
    if (!opened) return std::unexpected(std::move(opened.error()));
    std::shared_ptr<Store> const store = *std::move(opened);
    auto report = check_contents(store, key_env);
    if (!report) return report;
    auto places = store->feed_and_audit_findings();
    if (!places) return std::unexpected(std::move(places.error()));
    for (std::string& place : *places) report->findings.push_back({{}, std::move(place)});
    return report;
}

Result<runner::VerifyReport> check_database(std::string const& url, std::string const& key_env) {
    if (auto right = check_store_flag({.url = url}); !right)
        return std::unexpected(std::move(right.error()));
    if (!runtime::is_database(url))
        return fail(Code::bad_value, "--store: name a postgres:// URL, or pass --data DIR");
    return check(store::PostgresStore::open_view(url), key_env);
}

Result<runner::VerifyReport> check_directory(std::string const& data, std::string const& key_env) {
    if (!std::filesystem::exists(std::filesystem::path(data) / "dormouse.db"))
        return fail(Code::not_found, "dormouse.db not found in " + data + "; set --data DIR");
    auto const unused = store::sqlite::DataDirectory::acquire(data);
    if (!unused) return std::unexpected(unused.error());
    // Not open(), which migrates the file of an older release.
    return check(store::SqliteStore::open_view(data), key_env);
}

template <class Store>
Result<void> rebuild_from(Result<std::unique_ptr<Store>> const& opened, std::string const& data) {
    if (!opened) return std::unexpected(opened.error());
    auto const keys = (*opened)->data_keys();
    if (!keys) return std::unexpected(keys.error());
    if (!keys->empty())
        return fail(Code::wrong_state,
                    "the contents of the store are encrypted, and files of an index are not");
    store::FileIndex files(data);
    return index::rebuild(**opened, files);
}

Result<void> rebuild_files(cli::VerifyOptions const& options) {
    if (options.store)
        return rebuild_from(store::PostgresStore::open_view(*options.store), options.data);
    return rebuild_from(store::SqliteStore::open(options.data), options.data);
}

}  // namespace

int verify(cli::VerifyOptions const& options) {
    if (!options.backup.empty()) return verify_backup(options);
    if (!options.archive.empty()) return verify_archive(options);
    auto const report = options.store ? check_database(*options.store, options.key_env)
                                      : check_directory(options.data, options.key_env);
    if (!report) return complain({"verify", options.json}, report.error());
    if (options.rebuild)
        if (auto const made = rebuild_files(options); !made)
            return complain({"verify", options.json}, made.error());
    options.json ? print_json(*report) : print_text(*report);
    return report->findings.empty() ? 0 : 1;
}

}  // namespace dormouse::app
