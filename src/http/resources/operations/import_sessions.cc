#include "http/resources/operations/handlers.h"

#include "http/resources/operations/import_fields.h"
#include "runner/transfer/live.h"

#include <memory>
#include <utility>

// POST /api/import: whole sessions from the lines of an export, while the server works.
namespace dormouse::http {

namespace {

using Arrivals = Result<std::vector<runner::Arrival>>;

// Reads and checks the lines. Blocks.
Arrivals read_lines(json::View lines, std::uint64_t first) {
    std::vector<json::View> all;
    lines.elements([&all](json::View line) { all.push_back(line); });
    auto next = [&all,
                 at = std::size_t{0}]() mutable -> Result<std::optional<runner::TransferLine>> {
        if (at == all.size()) return std::nullopt;
        auto text = all[at++].string();
        if (!text) return fail(Code::bad_value, "/lines: each line is a text");
        if (text->size() > runner::transfer_line_bytes_max)
            return runner::TransferLine{.text = {}, .too_long = true};
        return runner::TransferLine{*std::move(text), false};
    };
    return runner::read_sessions(next, first);
}

std::string name_of(session::Actor const& by) { return by.name.empty() ? "admin" : by.name; }

runner::LiveImport read_options(Body& body) {
    runner::LiveImport out;
    out.options.dry_run = body.boolean("dryRun").value_or(false);
    if (body.boolean("start").value_or(false)) out.work = runner::LiveWork::started;
    if (body.boolean("restoreDeleted").value_or(false))
        out.options.deleted = runner::Deleted::restored;
    return out;
}

void take(Api& api, ExchangePtr const& x, runner::LiveImport import) {
    import.options.by = name_of(x->by);
    import.options.at = api.services().runner.now();
    bool const dry_run = import.options.dry_run;
    import.wanted = [x] { return !x->responder->gone(); };
    import.written = [&api](port::FeedRow const& row) { (void)api.appended_elsewhere(row); };
    runner::import_live(api.services().runner, api.services().journal, std::move(import),
                        [x, dry_run](Result<std::vector<runner::ImportedSession>> done) {
                            if (!done) return x->fail(done.error());
                            WholeSessions out{dry_run, {}};
                            for (runner::ImportedSession& one : *done)
                                out.sessions.push_back({std::move(one)});
                            x->json(200, object_text<WholeSessions>(out));
                        });
}

}  // namespace

void post_import(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), import_sessions_request);
    auto const lines = body.array("lines");
    auto const first = body.integer("line").value_or(2);
    runner::LiveImport import = read_options(body);
    if (body.error()) return x->fail(*body.error());
    auto const read = std::make_shared<Arrivals>();
    auto work = [x, read, first, lines = *lines] {
        *read = read_lines(lines, static_cast<std::uint64_t>(first));
    };
    api.run_for_body(x, std::move(work), [&api, x, read, import = std::move(import)]() mutable {
        if (!*read) return x->fail(read->error());
        import.sessions = std::move(**read);
        take(api, x, std::move(import));
    });
}

}  // namespace dormouse::http
