// dormouse compact.
#include "app/commands/programs.h"

#include "app/parts/stores.h"
#include "json/json.h"
#include "runtime/stores.h"
#include "store/sqlite/compact.h"

#include <cstdio>
#include <string>

namespace dormouse::app {

namespace {

int refuse(Error const& error) {
    std::fprintf(stderr, "dormouse compact: %s\n", error.detail.c_str());
    return info(error.code).exit == 0 ? 1 : info(error.code).exit;
}

// PostgreSQL does it by itself.
int explain_database(std::string const& url) {
    if (auto right = check_store_flag({.url = url}); !right) return refuse(right.error());
    if (!runtime::is_database(url))
        return refuse({Code::bad_value, "--store: name a postgres:// URL, or pass --data DIR"});
    std::puts(
        "nothing to do: PostgreSQL's autovacuum reuses the space; VACUUM FULL gives it back, "
        "with the servers stopped");
    return 0;
}

}  // namespace

int compact(cli::CompactOptions const& options) {
    if (options.store) return explain_database(*options.store);
    auto const report = store::sqlite::compact(options.data);
    if (!report) return refuse(report.error());
    if (options.json) {
        json::Writer out;
        out.begin_object().member("bytesBefore", report->before);
        out.member("bytesAfter", report->after).member("rewritten", report->rewritten);
        std::puts(out.end_object().take().c_str());
        return 0;
    }
    std::printf("%llu bytes before, %llu after%s\n",
                static_cast<unsigned long long>(report->before),
                static_cast<unsigned long long>(report->after),
                report->rewritten ? "; from now on beside a server, too" : "");
    return 0;
}

}  // namespace dormouse::app
