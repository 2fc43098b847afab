// dev: a server of its own for trying a configuration. When the configuration or a file that it
// names changes, the server reads it again, and is started again only if that is not enough; the
// events of all sessions are printed. The server never outlives this process: the kernel kills it
// (child.h).

#include "cli/client/browser.h"
#include "cli/client/child.h"
#include "cli/client/interrupts.h"
#include "cli/commands/commands.h"
#include "cli/render/story.h"

#include "base/check.h"
#include "base/text/text.h"
#include "base/url.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

namespace dormouse::cli {
namespace {

constexpr Duration look_every{300};
constexpr Duration request_limit{10'000};  // a server that does not answer is started again
constexpr std::size_t watched_files_max = 200;
constexpr std::size_t session_columns = 8;  // "…x7Kq2  "

struct Stamp {
    std::filesystem::file_time_type time;
    std::uintmax_t bytes = 0;
    bool program_runs = false;  // as long as the server: it does not change by a reload

    bool operator==(Stamp const&) const = default;
};
using Stamps = std::map<std::string, Stamp>;

struct Quoted {
    std::string text;
    bool program_runs = false;
};

// Returns the texts in double quotes, which may be names of files. The programs of [[mcp]] and
// [[agent]] continue to run; others are started for each call.
std::vector<Quoted> texts_in_quotes(std::string_view text) {
    std::vector<Quoted> out;
    bool runs = false;
    for (auto begin = text.find_first_of("\"["); begin != std::string_view::npos;) {
        if (text[begin] == '[') {
            bool const heading = begin == 0 || text[begin - 1] == '\n' || text[begin - 1] == '[';
            auto const name = text.substr(begin + 1);
            if (heading) runs = name.starts_with("mcp") || name.starts_with("agent");
            begin = text.find_first_of("\"[", begin + 1);
            continue;
        }
        auto const end = text.find('"', begin + 1);
        if (end == std::string_view::npos) break;
        out.push_back({std::string(text.substr(begin + 1, end - begin - 1)), runs});
        begin = text.find_first_of("\"[", end + 1);
    }
    return out;
}

// When the configuration and the files that it names were changed. A file that cannot be read is
// not among them.
Stamps stamps_of(std::string const& config) {
    Stamps out;
    if (config.empty()) return out;
    std::error_code error;
    auto const add = [&](std::filesystem::path const& path, bool program_runs) {
        if (!std::filesystem::is_regular_file(path, error)) return;
        auto const time = std::filesystem::last_write_time(path, error);
        auto const size = std::filesystem::file_size(path, error);
        if (!error) out[path.string()] = {time, size, program_runs};
    };
    auto const text = file_text(config, std::size_t{1} << 20);
    auto const folder = std::filesystem::path(config).parent_path();
    for (Quoted const& name : texts_in_quotes(text ? std::string_view(*text) : "")) {
        constexpr std::size_t name_bytes_max = 255;
        bool const fits = !name.text.empty() && name.text.size() <= name_bytes_max;
        if (fits && out.size() < watched_files_max) add(folder / name.text, name.program_runs);
    }
    add(config, false);
    return out;
}

// Returns whether a program is another one than the server started, which a reload does not start
// again. One that is absent, because a linker writes it, is not.
bool running_program_changed(Stamps const& started, Stamps const& now) {
    return std::ranges::any_of(now, [&](auto const& one) {
        auto const was = started.find(one.first);
        return one.second.program_runs && was != started.end() && was->second != one.second;
    });
}

std::string indented_list(json::View items) {
    std::string out;
    items.elements(
        [&](json::View one) { out += "  " + escape_for_terminal(one.string_or("")) + "\n"; });
    return out;
}

class Dev {
public:
    Dev(Context const& context, DevArgs const& args, std::string config, std::string data)
        : context_(context),
          config_(std::move(config)),
          data_(std::move(data)),
          opens_(!args.no_open && context.columns > 0 && !context.global.json),
          listen_(args.listen) {}

    // Runs until Ctrl-C or SIGTERM.
    [[nodiscard]] Outcome<int> run(bool keeps_data);

private:
    [[nodiscard]] Outcome<void> start();
    [[nodiscard]] Outcome<void> stop();
    [[nodiscard]] Outcome<void> introduce(bool keeps_data);
    void open_inbox(std::string const& inbox);
    // Takes changes of the files up if the configuration is valid.
    void look_at_files();
    void restart();
    // Returns false if the server must be started again.
    [[nodiscard]] bool reload();
    void print_change(std::string_view what, std::string const& list);
    [[nodiscard]] bool has_mistakes();
    void open_events();
    // Returns whether the server is there.
    [[nodiscard]] bool print_events();
    void print(SseEvent const& event);
    void say(Failure const& failed) { context_.err << text(failed) << std::flush; }

    Context const& context_;
    std::string const config_;  // file; empty: none
    std::string const data_;
    bool const opens_;  // the inbox in a browser, if there is a desktop
    std::string listen_;
    Stamps stamps_;
    Stamps changed_;   // what was seen last, before it stays the same
    Stamps programs_;  // those that continue to run, as the server started them
    Interrupts const interrupts_{true};
    std::optional<ChildServer> server_;
    std::optional<Client> client_;
    std::optional<EventStream> events_;
    std::string after_ = "now";
};

Outcome<void> Dev::start() {
    for (auto const& [file, stamp] : stamps_)
        if (stamp.program_runs) programs_.insert_or_assign(file, stamp);
    std::vector<std::string> words{"--listen", listen_};
    if (config_.empty())
        words.emplace_back("--no-config");
    else
        words.insert(words.end(), {"--config", config_});
    auto server = ChildServer::start({.data = data_, .options = std::move(words)});
    if (!server) return std::unexpected(server.error());
    server_.emplace(*std::move(server));
    auto client = server_->client({.address = {},
                                   .token = {},
                                   .interrupt_fd = interrupts_.fd(),
                                   .time_limit = request_limit});
    if (!client) return std::unexpected(client.error());
    client_.emplace(*std::move(client));
    // The address stays the same from now on.
    if (auto const url = dormouse::parse_url(server_->url())) listen_ = url->authority();
    open_events();
    return {};
}

void Dev::open_events() {
    CHECK(client_);
    bool const now = after_ == "now";
    events_.emplace(client_->open(now ? "/api/events?project=*&after=now" : "/api/events?project=*",
                                  now ? "" : after_));
}

Outcome<void> Dev::stop() {
    events_.reset();
    client_.reset();
    if (!server_) return {};
    auto stopped = server_->stop();
    server_.reset();
    return stopped;
}

Outcome<void> Dev::introduce(bool keeps_data) {
    json::Writer body;
    constexpr std::int64_t day_ms = 86'400'000;
    body.begin_object().member("name", "dev").member("role", "admin");
    body.member("ttlMs", day_ms).end_object();
    auto const link = client_->post("/api/links", body.json());
    if (!link) return std::unexpected(link.error());
    auto const inbox = json::View(link->body)["url"].string_or("");
    json::Writer out;
    out.begin_object().member("server", server_->url()).member("inbox", inbox);
    out.member("config", config_.empty() ? std::nullopt : std::optional(config_));
    out.member("data", data_).member("keepsData", keeps_data).end_object();
    context_.show(
        out.json(),
        "server  " + server_->url() + "\ninbox   " + inbox + "  (works once)\nconfig  " +
            (config_.empty() ? "none: the demo agents" : config_ + ", read again when it changes") +
            "\ndata    " + data_ + (keeps_data ? "" : ", removed at the end") +
            "\ntry     dormouse prompt --data " + shell_word(data_) + " 'deploy A'\n");
    if (opens_) open_inbox(inbox);
    return {};
}

// Says what could not be opened: the link above it works in any browser.
void Dev::open_inbox(std::string const& inbox) {
    if (browser_command(context_.env, inbox).empty()) return;
    auto const page = page_that_leads_to(data_, inbox);
    if (!page.empty() && start_browser(browser_command(context_.env, page))) return;
    context_.err << "dormouse dev: no browser could be started; open the inbox by its link\n"
                 << std::flush;
}

void Dev::print(SseEvent const& event) {
    auto const checked = json::check(event.data);
    if (!checked) return;
    json::View const view(*checked);
    auto const session = view["sessionID"].string_or("");
    if (session.empty() || !view["seq"].exists()) return;
    if (context_.global.json) return context_.show(*checked, "");
    constexpr std::size_t shown = 5;
    auto const end = session.substr(session.size() - std::min(shown, session.size()));
    auto const columns =
        context_.columns > session_columns ? context_.columns - session_columns : context_.columns;
    context_.out << context_.style(Paint::dim, "…" + escape_for_terminal(end)) << "  "
                 << event_line(view, columns, context_.style) << std::flush;
}

bool Dev::print_events() {
    if (!events_) return false;
    auto const events = events_->read();
    if (!events_->position().empty()) after_ = events_->position();
    if (events) {
        for (SseEvent const& event : *events) print(event);
        return true;
    }
    bool const ended = server_->ended();
    if (!ended && is_away(events.error())) {
        open_events();
        return true;
    }
    say(ended ? Failure{status::failed, "the server ended; it is started again when a file changes",
                        "Its log: " + data_ + "/server.log"}
              : events.error());
    (void)stop();
    return false;
}

constexpr std::string_view continues = "dormouse dev: the server continues with what it has\n";

bool Dev::has_mistakes() {
    if (config_.empty() || context_.programs.config({.what = "mistakes", .path = config_}) == 0)
        return false;
    context_.err << continues << std::flush;
    return true;
}

void Dev::print_change(std::string_view what, std::string const& list) {
    if (!context_.global.json)
        context_.out << context_.style(Paint::green, std::string(what))
                     << " with the changed files\n"
                     << list << std::flush;
}

bool Dev::reload() {
    auto const reply = client_->post("/api/reload", Json::trusted("{}"));
    if (!reply && reply.error().exit == status::interrupted) return true;  // run() ends
    if (!reply && is_away(reply.error())) return false;
    if (!reply) {
        say(reply.error());
        context_.err << continues << std::flush;
        return true;
    }
    json::View const report(reply->body);
    if (report["needsRestart"].size() != 0) return false;
    print_change("reloaded", indented_list(report["applied"]));
    return true;
}

void Dev::restart() {
    if (auto const stopped = stop(); !stopped) say(stopped.error());
    if (auto const started = start(); !started) {
        say(started.error());
        return;
    }
    print_change("started again", "");
}

void Dev::look_at_files() {
    auto now = stamps_of(config_);
    bool const settled = now == changed_;  // an editor may be in the middle of it
    changed_ = now;
    if (!settled || now == stamps_) return;
    stamps_ = std::move(now);
    if (has_mistakes()) return;
    bool const whole = running_program_changed(programs_, stamps_) || !client_;
    // A program that is new runs from now on.
    for (auto const& [file, stamp] : stamps_)
        if (stamp.program_runs) programs_.emplace(file, stamp);
    if (whole || !reload()) restart();
}

Outcome<int> Dev::run(bool keeps_data) {
    stamps_ = changed_ = stamps_of(config_);
    if (auto const started = start(); !started) return std::unexpected(started.error());
    if (auto const introduced = introduce(keeps_data); !introduced)
        return std::unexpected(introduced.error());
    for (;;) {
        bool const there = print_events();
        bool const end = there && client_ ? client_->wait(interrupts_.fd(), look_every)
                                          : interrupts_.sleep(look_every);
        if (end) break;
        look_at_files();
    }
    if (auto const stopped = stop(); !stopped) return std::unexpected(stopped.error());
    return status::done;
}

// Returns the configuration: the named one, that of this folder, or where serve looks; empty: none.
Outcome<std::string> dev_config(Context const& context, DevArgs const& args) {
    std::error_code ignored;
    auto const here = std::filesystem::current_path(ignored) / "dormouse.toml";
    std::string found = args.config;
    if (found.empty() && !args.demo)
        found = std::filesystem::exists(here, ignored)
                    ? here.string()
                    : find_config(config_places({}, context.env));
    if (found.empty()) return found;
    if (context.programs.config({.what = "mistakes", .path = found}) == 0) return found;
    return failure(status::usage, "dev starts nothing: " + found + " has mistakes",
                   "Correct it, or use the demo agents: dormouse dev --demo.");
}

}  // namespace

Outcome<int> execute(Context const& context, DevArgs const& args) {
    auto const config = dev_config(context, args);
    if (!config) return std::unexpected(config.error());
    std::error_code error;
    if (!context.global.data.empty()) {
        std::filesystem::create_directories(context.global.data, error);
        if (error)
            return failure(status::failed, context.global.data + ": " + error.message(),
                           "Name another folder: --data DIR.");
        return Dev(context, args, *config, context.global.data).run(true);
    }
    auto const folder = TemporaryFolder::make(std::filesystem::temp_directory_path(error).string());
    if (!folder) return std::unexpected(folder.error());
    return Dev(context, args, *config, folder->path()).run(false);
}

}  // namespace dormouse::cli
