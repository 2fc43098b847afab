// dormouse compact.
#include "app/commands/programs.h"

#include "app/parts/stores.h"
#include "app/start/complain.h"
#include "json/json.h"
#include "runtime/stores.h"
#include "store/sqlite/compact.h"

#include <cstdio>
#include <string>

namespace dormouse::app {

namespace {

// PostgreSQL does it by itself.
int explain_database(cli::CompactOptions const& options) {
    std::string const& url = *options.store;
    Command const self{"compact", options.json};
    if (auto right = check_store_flag({.url = url}); !right) return complain(self, right.error());
    if (!runtime::is_database(url))
        return complain(self,
                        {Code::bad_value, "--store: name a postgres:// URL, or pass --data DIR"});
    std::puts(
        "nothing to do: PostgreSQL's autovacuum reuses the space; VACUUM FULL gives it back, "
        "with the servers stopped");
    return 0;
}

}  // namespace

int compact(cli::CompactOptions const& options) {
    if (options.store) return explain_database(options);
    auto const report = store::sqlite::compact(options.data);
    if (!report) return complain({"compact", options.json}, report.error());
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
