// watch: the open calls, live. On a terminal redraws the table as it changes; otherwise prints a
// line for each change, or an object with --json.

#include "base/text/text.h"
#include "base/url.h"
#include "cli/client/interrupts.h"
#include "cli/client/resolve.h"
#include "cli/commands/commands.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <ranges>
#include <utility>
#include <vector>

namespace dormouse::cli {
namespace {

constexpr std::size_t watched_max = 1000;  // the newest; five requests for each read
constexpr int tries_max = 5;

class Watch {
public:
    Watch(Context const& context, Client& client, std::string target, WatchArgs const& args)
        : context_(context), client_(client), target_(std::move(target)), args_(args) {}

    // Reads every second until Ctrl-C, or until the server is lost for good.
    [[nodiscard]] Outcome<int> run(Interrupts const& interrupts);

private:
    // Returns the open calls, newest first; timers only on request.
    [[nodiscard]] Outcome<std::vector<Json>> read();
    [[nodiscard]] Outcome<void> poll();
    void draw(std::vector<Json> const& calls);
    [[nodiscard]] Outcome<void> report_changes(std::vector<Json> const& calls);
    // Reports a call that is not in the list any more: settled, deleted, or older than the newest.
    [[nodiscard]] Outcome<void> report_gone(std::string const& id);
    void print(Json const& call);

    Context const& context_;
    Client& client_;
    std::string target_;
    WatchArgs const& args_;
    std::map<std::string, Json> printed_;  // printed open calls by id
    std::string drawn_;                    // the text on the terminal
};

Outcome<std::vector<Json>> Watch::read() {
    std::vector<Json> calls;
    std::string cursor;
    do {
        auto const page =
            client_.get(target_ + (cursor.empty() ? "" : "&cursor=" + percent_encode(cursor)));
        if (!page) return std::unexpected(page.error());
        json::View const body(page->body);
        body["items"].elements([&](json::View call) {
            if (args_.all || reason_word(call) != "timer")
                calls.push_back(json::compact(call.copy()));
        });
        cursor = body["next"].string_or("");
    } while (!cursor.empty() && calls.size() < watched_max);
    return calls;
}

void Watch::print(Json const& call) {
    context_.show(call, pending_line(json::View(call), context_.now(), context_.style));
}

Outcome<void> Watch::report_gone(std::string const& id) {
    auto const reply = client_.get("/async-tool/pending/" + id);
    if (!reply && reply.error().exit != status::not_found) return std::unexpected(reply.error());
    bool open = false;
    if (reply) {
        auto const call = json::compact(reply->body);
        auto const word = json::View(call)["status"].string_or("");
        open = word == "waiting" || word == "processing";
        if (!open) print(call);
    } else if (!context_.global.json) {
        context_.out << "deleted     " << escape_for_terminal(id) << '\n' << std::flush;
    }
    if (!open) printed_.erase(id);
    return {};
}

Outcome<void> Watch::report_changes(std::vector<Json> const& calls) {
    std::map<std::string, Json> open;
    for (auto const& call : calls) open.emplace(json::View(call)["id"].string_or(""), call);
    std::vector<std::string> gone;
    for (auto const& [id, call] : printed_) {
        if (!open.contains(id)) gone.push_back(id);
    }
    for (auto const& id : gone) {
        if (auto const result = report_gone(id); !result) return result;
    }
    for (auto const& call : calls | std::views::reverse) {
        auto& known = printed_[json::View(call)["id"].string_or("")];
        if (known.text() == call.text()) continue;
        known = call;
        print(call);
    }
    return {};
}

void Watch::draw(std::vector<Json> const& calls) {
    auto const screen = context_.screen();
    std::string items = "[";
    for (auto const& call : calls) {
        if (items.size() > 1) items += ',';
        items += call.text();
    }
    items += ']';
    auto const many = calls.size() >= watched_max ? " or more" : "";
    auto const head = std::to_string(calls.size()) + many +
                      (calls.size() == 1 ? " call waiting at " : " calls waiting at ") +
                      server_url(context_.global, context_.env) + "; Ctrl-C to quit";
    auto const table =
        pending_table(json::View(items), context_.now(), context_.style, screen.columns);
    std::string text =
        context_.style(Paint::dim, shortened(escape_for_terminal(head), screen.columns));
    std::size_t rows = 1;
    for (auto const line : table | std::views::split('\n')) {
        if (line.empty() || ++rows >= screen.rows) break;
        text += "\x1b[K\n" + std::string(line.begin(), line.end());
    }
    if (std::exchange(drawn_, text) == text) return;
    // Overwrites the screen from the top left, clears each line's end and the rows below: no
    // flicker.
    context_.out << "\x1b[H" << text << "\x1b[K\n\x1b[J" << std::flush;
}

Outcome<void> Watch::poll() {
    auto const calls = read();
    if (!calls) return std::unexpected(calls.error());
    bool const drawing = context_.screen && !context_.global.json;
    if (!drawing) return report_changes(*calls);
    if (drawn_.empty()) context_.out << "\x1b[2J";
    draw(*calls);
    return {};
}

Outcome<int> Watch::run(Interrupts const& interrupts) {
    for (int tries = tries_max;;) {  // the first read must succeed
        auto const polled = poll();
        auto const exit = polled ? status::done : polled.error().exit;
        if (exit == status::interrupted) return status::interrupted;
        if (!polled && (!is_away(polled.error()) || tries == tries_max))
            return std::unexpected(polled.error());
        if (!polled && tries == 0)
            context_.err << "the connection is lost; trying again\n" << std::flush;
        auto const wait = polled ? args_.interval : Duration(1000 << tries);
        tries = polled ? 0 : tries + 1;
        if (interrupts.sleep(wait, context_.output_fd)) {
            if (!interrupts.sleep(Duration(0))) return status::unread;
            if (context_.may_ask) context_.err << '\n';  // ends the line of the terminal's ^C
            return status::interrupted;
        }
    }
}

}  // namespace

Outcome<int> execute(Context const& context, WatchArgs const& args) {
    Interrupts const interrupts;
    auto client = context.connect(interrupts.fd());
    if (!client) return std::unexpected(client.error());
    std::string target = "/async-tool/pending?limit=200";
    if (args.session.empty()) {
        target += "&project=" + percent_encode(context.global.project);
    } else {
        auto const session = resolve_session(*client, context.global.project, args.session);
        if (!session) return std::unexpected(session.error());
        target += "&sessionID=" + *session;
    }
    if (!args.tool.empty()) target += "&tool=" + percent_encode(args.tool);
    return Watch(context, *client, std::move(target), args).run(interrupts);
}

}  // namespace dormouse::cli
