#include "cli/commands/arguments/arguments.h"

#include "base/text/text.h"
#include "cli/commands/arguments/grammar.h"
#include "cli/commands/arguments/spelling.h"

#include <algorithm>
#include <ranges>
#include <string_view>
#include <utility>

namespace dormouse::cli {
namespace {

// Leaves out what an option excludes: CLI11 lists it in no fixed order, and the error names it.
class Help : public CLI::Formatter {
public:
    [[nodiscard]] std::string make_option_opts(CLI::Option const* option) const override {
        if (option->get_items_expected_max() == 0) return {};
        auto out = " " + option->get_type_name();
        if (!option->get_default_str().empty()) out += "=" + option->get_default_str();
        return out + (option->get_required() ? " REQUIRED" : "");
    }
};

}  // namespace

Grammar::Grammar(std::string const& version) {
    app_.name("dormouse");
    app_.formatter(std::make_shared<Help>());
    app_.set_version_flag("--version", "dormouse " + version);
    app_.require_subcommand(1);
    app_.fallthrough();
    app_.option_defaults()->group("Options of every command");
    auto* const server =
        app_.add_option("--server", global_.server,
                        "Address of the server ($DORMOUSE_URL, http://127.0.0.1:3676)")
            ->type_name("URL");
    app_.add_option("--context", global_.context,
                    "A server of `dormouse login`, or local (the one in use)")
        ->type_name("CONTEXT")
        ->excludes(server);
    app_.add_option("--data", global_.data,
                    "Data directory; holds the token ($XDG_DATA_HOME/dormouse)")
        ->type_name("DIR");
    app_.add_option("--project", global_.project, "Project of lists and new sessions (default)")
        ->type_name("NAME");
    add_outputs();
    app_.option_defaults()->group("Options");
    app_.footer(
        "\nExit status: 0 done, 1 failed, 2 usage, 3 not found, 4 conflict, 5 expired or "
        "cancelled,\n"
        "6 not allowed, 7 server not reachable, 8 refused for now, 9 data of a newer release,\n"
        "10 sleeps, 130 interrupted; of ask: 11 denied, 12 expired, 13 cancelled.\n\n"
        "Example:\n  dormouse serve &\n  dormouse prompt 'deploy A'\n  dormouse result pnd_… live");
    add_programs();
    add_trials();
    add_prompt();
    add_lists();
    add_submissions();
    add_decisions();
    add_ask();
    add_hook();
    add_answers();
    add_moves();
    add_life();
    add_mail();
    add_checks();
    add_compact();
    add_upgrade();
    add_rekey();
    add_configuration();
    add_access();
    add_login();
    add_bench();
    add_trigger();
    add_listen();
    add_faces();
    add_import();
    add_export();
    add_archive();
    add_shell();
    group_commands();
}

void Grammar::add_outputs() {
    auto* const json = app_.add_flag("--json", global_.json, "Print the API's objects unchanged");
    auto* const output =
        app_.add_option(
                "-o,--output", output_,
                "Output format: json (as --json), yaml, wide (nothing cut) or name (ids only)")
            ->type_name("FORMAT")
            ->check(CLI::IsMember(std::vector<std::string>{"json", "yaml", "wide", "name"}))
            ->excludes(json);
    app_.add_option("--jq", global_.jq, "As --json, filtered by the program jq: --jq '.items[].id'")
        ->type_name("FILTER")
        ->excludes(output);
}

void Grammar::group_commands() {
    constexpr std::pair<std::string_view, std::string_view> groups[] = {
        {"Run a server", "serve dev demo init config reload paths"},
        {"Prompts and sessions",
         "prompt sessions show tail resume retry end fork move delete tasks alias agents tools "
         "artifact attach"},
        {"Calls that wait for people",
         "pending watch approve deny answer ask reassign claim cancel rules hook"},
        {"Results from elsewhere", "result error progress trigger listen deliveries"},
        {"Mail between agents", "mail sent inbox release"},
        {"Look into it", "status timeline explain doctor audit"},
        {"Servers and who may call", "login context token link"},
        {"Data",
         "backup restore verify retention redact import export archive compact upgrade rekey"},
        {"For programs and shells", "acp mcp completion man bench"},
    };
    for (auto const& [heading, names] : groups)
        for (auto const name : std::views::split(names, ' '))
            app_.get_subcommand(std::string(name.begin(), name.end()))->group(std::string(heading));
}

void Grammar::add_programs() {
    auto const serve = std::make_shared<ServeArgs>();
    auto* const s = add("serve", "Run the server",
                        "dormouse serve --listen 127.0.0.1:3676 --data ./sessions", serve);
    auto& options = serve->options;
    auto* const config =
        s->add_option("--config", serve->config,
                      "Configuration ($DORMOUSE_CONFIG, $XDG_CONFIG_HOME/dormouse/dormouse.toml, "
                      "/etc/dormouse/dormouse.toml)")
            ->type_name("FILE");
    s->add_flag("--no-config", serve->no_config, "Read no configuration")->excludes(config);
    s->add_option("--listen", options.listen, "HOST:PORT; port 0 is any free one (127.0.0.1:3676)")
        ->type_name("ADDRESS");
    add_key_env(*s, options.key_env);
    s->add_option("--store", options.store,
                  "Store of the sessions: sqlite, memory, postgres://… (sqlite)")
        ->type_name("STORE");
    s->add_option("--index", options.indexes,
                  "Also write what other programs read: files (JSON files in the data directory), "
                  "redis://…")
        ->type_name("INDEX");
    s->add_flag("--relaxed", options.relaxed,
                "Accept a PostgreSQL server that can lose acknowledged results");
    s->add_option("--ready-fd", options.ready_fd,
                  "Write 'ready URL' here instead of to standard output")
        ->type_name("FD")
        ->check(CLI::NonNegativeNumber);
    s->add_flag("--insecure", options.insecure, "Listen beyond loopback without TLS");
    s->add_option("--allowed-host", options.allowed_hosts, "Additional allowed Host")
        ->type_name("ADDRESS");
    s->add_option("--allowed-origin", options.allowed_origins, "Additional allowed Origin")
        ->type_name("ORIGIN");
    s->add_option("--public-url", options.public_url,
                  "Public address of the server: allowed as Host and Origin")
        ->type_name("URL");
    s->add_option("--log-level", options.log_level, "Lowest level that is logged (info)")
        ->type_name("LEVEL")
        ->check(CLI::IsMember(std::vector<std::string>{"debug", "info", "warn", "error", "off"}));
    s->add_option("--log-format", options.log_format,
                  "Log lines; auto is text on a terminal (auto)")
        ->type_name("FORMAT")
        ->check(CLI::IsMember(std::vector<std::string>{"auto", "text", "json"}));
}

void Grammar::add_trials() {
    auto const dev = std::make_shared<DevArgs>();
    auto* const v =
        add("dev", "Run a server to try a configuration: restarts on change, shows events",
            "dormouse dev\n  dormouse dev --config ./dormouse.toml --data ./data", dev);
    auto* const tried =
        v->add_option("--config", dev->config, "Configuration (./dormouse.toml, or as serve)")
            ->type_name("FILE");
    v->add_flag("--demo", dev->demo, "No configuration: the demo agents")->excludes(tried);
    v->add_flag("--no-open", dev->no_open, "Do not open the inbox in the browser");
    v->add_option("--listen", dev->listen, "HOST:PORT; port 0 is any free one")
        ->type_name("ADDRESS")
        ->capture_default_str();

    auto const demo = std::make_shared<DemoArgs>();
    auto* const d = add("demo", "Show the main job: sleep, SIGKILL, restart, wake exactly once",
                        "dormouse demo", demo);
    d->add_flag("--keep", demo->keep, "Keep the data directory to look at it afterwards");
    d->add_option(
         "--nodes", demo->nodes,
         "Number of servers on the database of --store: one is killed, the others continue")
        ->type_name("N")
        ->check(CLI::Range(2, 9));
    d->add_option("--store", demo->store, "PostgreSQL database for --nodes")->type_name("URL");
}

void Grammar::add_checks() {
    auto const explain = std::make_shared<ExplainArgs>();
    auto* const e = add("explain", "Show who settled it, when, and the turn that used it",
                        "dormouse explain pnd_…", explain);
    e->add_option("id", explain->id,
                  "Pending call, session, turn, message, receipt or artifact (a terminal asks)")
        ->type_name("ID");
    auto const artifact = std::make_shared<ArtifactArgs>();
    auto* const a = add("artifact", "The bytes of an artifact",
                        "dormouse artifact art_… -o report.csv", artifact);
    a->add_option("id", artifact->id, "Artifact, as show and tail name it (a terminal asks)")
        ->type_name("ARTIFACT");
    a->add_option("-o,--output", artifact->file, "Write them to this file")->type_name("FILE");
    auto const doctor = std::make_shared<DoctorArgs>();
    auto* const d =
        add("doctor", "Prove that no session is stuck", "dormouse doctor --repair", doctor);
    d->add_flag(
        "--all", doctor->all,
        "Look at all sessions in which a call waits, or with outstanding work, not at 1,000");
    d->add_flag("--check", doctor->check, "Also compare the rows derived from journals with them");
    d->add_flag("--repair", doctor->repair, "The same, and rebuild rows that differ");
    add("reload", "Apply the changed configuration to the running server", "dormouse reload",
        std::make_shared<ReloadArgs>());
    add_retention();
    add_audit();
    auto const deliveries = std::make_shared<DeliveriesArgs>();
    auto* const s = add("deliveries", "Outgoing deliveries: webhooks and notifications",
                        "dormouse deliveries --state dead", deliveries);
    s->add_option("--state", deliveries->state, "Only in this state")
        ->type_name("STATE")
        ->check(CLI::IsMember({"pending", "delivered", "dead", "disabled"}));
    s->add_option("--limit", deliveries->limit, "At most this many")
        ->type_name("N")
        ->check(CLI::Range(1, 200));
    auto* const retry =
        s->add_option("--retry", deliveries->retry, "Retry this delivery")->type_name("DELIVERY");
    s->add_option("--forget", deliveries->forget, "Forget this delivery")
        ->type_name("DELIVERY")
        ->excludes(retry);
    add_verify();
    add_backup();
}

void Grammar::add_faces() {
    auto const acp = std::make_shared<AcpArgs>();
    add("acp", "Serve as an editor's agent (Agent Client Protocol, on standard input and output)",
        "dormouse acp --agent ops", acp)
        ->add_option("-a,--agent", acp->agent, "Agent of new sessions (the only one)")
        ->type_name("AGENT");

    auto const mcp = std::make_shared<McpArgs>();
    auto* const m =
        add("mcp", "Serve MCP on stdio: tools of a session or server, or that ask people",
            "dormouse mcp --session ses_AAAAAAE", mcp);
    auto* const of_session =
        m->add_option("-s,--session", mcp->session,
                      "Session whose tools are served and that receives their outcomes; without "
                      "it: approve, ask_human and collect_answer")
            ->type_name("SESSION");
    m->add_option("--serve", mcp->serve,
                  "Serve the tools of these MCP servers of the configuration, with approvals, "
                  "deadlines and receipts")
        ->type_name("NAME")
        ->excludes(of_session);
}

void Grammar::add_shell() {
    auto const completion = std::make_shared<CompletionArgs>();
    auto* const c = add("completion", "Print a shell's completion of this command line",
                        "dormouse completion bash > ~/.local/share/bash-completion/completions/"
                        "dormouse",
                        completion);
    c->add_option("shell", completion->shell, "bash, zsh or fish")
        ->type_name("SHELL")
        ->check(CLI::IsMember(std::vector<std::string>{"bash", "zsh", "fish"}))
        ->required();
    add("man", "Print the manual page", "dormouse man | man -l -", std::make_shared<ManArgs>());

    auto const candidates = std::make_shared<CandidatesArgs>();
    auto* const i = add("candidates", "Ids for shell completion",
                        "dormouse candidates session ses_A", candidates);
    i->group("");  // hidden from help: for scripts
    i->add_option("kind", candidates->kind, "Which ids")
        ->check(CLI::IsMember(
            std::vector<std::string>{"session", "call", "id", "agent", "tool", "context"}))
        ->required();
    i->add_option("beginning", candidates->beginning, "Only ids that begin with this");
}

void Grammar::add_configuration() {
    auto const config = std::make_shared<ConfigArgs>();
    auto* const c =
        add("config", "Write an example of the configuration, check one, show its values and keys",
            "dormouse config init\n  dormouse config check ./dormouse.toml\n  "
            "dormouse config show\n  dormouse config keys\n  "
            "dormouse config schema > dormouse.schema.json",
            config);
    c->add_option(
         "what", config->what,
         "init: write the commented example; check: report errors, or what the server "
         "would use; show: every key with the value that it would have; keys: every key with "
         "its default; schema: the JSON Schema for editors")
        ->type_name("WHAT")
        ->check(CLI::IsMember(std::vector<std::string>{"init", "check", "show", "keys", "schema"}))
        ->required();
    c->add_option("file", config->path,
                  "init: where to write ($XDG_CONFIG_HOME/dormouse/dormouse.toml; - is standard "
                  "output); check, show: what to read (where serve would look)")
        ->type_name("FILE");
    auto const init = std::make_shared<InitArgs>();
    auto* const i = add("init", "Write a first configuration for what is installed, and a tool",
                        "dormouse init\n  dormouse init ./shop --yes", init);
    i->add_option("folder", init->folder, "Where to write ($XDG_CONFIG_HOME/dormouse)")
        ->type_name("DIR");
    i->add_flag("-y,--yes", init->yes, "Ask nothing, take what is proposed");
    add("status", "The server, its sessions by state, what waits, and the disk", "dormouse status",
        std::make_shared<StatusArgs>());
    add("paths", "Show where configuration, data and token are", "dormouse paths",
        std::make_shared<PathsArgs>());
}

CLI::App const& Grammar::named() const {
    auto const* at = &app_;
    while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
    return *at;
}

std::string Grammar::help() const {
    auto path = app_.get_name();
    auto const* at = &app_;
    while (!at->get_subcommands().empty()) {
        auto const* const next = at->get_subcommands().front();
        if (at != &app_) path += " " + at->get_name();
        at = next;
    }
    return at == &app_ ? app_.help() : at->help(path);
}

namespace {

// CLI11 says "Could not convert: --after = zz"; options that it converts are numbers.
std::string no_number(std::string_view what) {
    constexpr std::string_view begins = "Could not convert: ";
    auto const equals = what.find(" = ");
    if (!what.starts_with(begins) || equals == what.npos) return std::string(what);
    return std::string(what.substr(begins.size(), equals - begins.size())) +
           ": must be a number, not '" + std::string(what.substr(equals + 3)) + "'";
}

}  // namespace

Notice Grammar::mistake(std::vector<std::string> const& words, std::string what) {
    std::string help;
    for (auto const* at = &app_; !at->get_subcommands().empty();) {
        at = at->get_subcommands().front();
        help += " " + at->get_name();
    }
    if (auto const slip = misspelt(app_, words); !slip.empty()) what = slip;
    // Coding agents take the status of a usage error for a denial.
    bool const is_hook = words.front() == "hook" && words.size() > 1 && words[1] != "install" &&
                         words[1] != "uninstall";
    return {
        is_hook ? status::failed : status::usage,
        "dormouse: " + escape_for_terminal(what, true) + "\n  See: dormouse" + help + " --help\n"};
}

void Grammar::choose_format() {
    constexpr std::pair<std::string_view, Format> formats[] = {{"json", Format::json},
                                                               {"yaml", Format::yaml},
                                                               {"wide", Format::wide},
                                                               {"name", Format::name}};
    for (auto const& [word, format] : formats)
        if (output_ == word) global_.format = format;
    if (global_.json || global_.jq) global_.format = Format::json;
    global_.json = global_.format != Format::text && global_.format != Format::wide;
}

namespace {

template <class... Args> bool is_one_of(Command const& command) {
    return (std::holds_alternative<Args>(command) || ...);
}

// Commands of the data directory and the configuration print their JSON themselves.
bool prints_itself(Command const& command) {
    return is_one_of<ConfigArgs, VerifyArgs, BackupArgs, RestoreArgs, CompactArgs, ArchiveArgs,
                     RekeyArgs>(command);
}

// Texts, scripts, protocols and programs.
bool prints_no_json(Command const& command) {
    return is_one_of<ServeArgs, DemoArgs, AttachArgs, AcpArgs, McpArgs, HookArgs, ManArgs,
                     CompletionArgs, CandidatesArgs>(command);
}

}  // namespace

std::expected<Invocation, Notice> Grammar::parse(std::vector<std::string> words) {
    if (words.empty()) return std::unexpected(Notice{status::usage, help() + "\n"});
    // Accepts `help` and `version` as words.
    if (words.front() == "help") {
        words.erase(words.begin());
        words.emplace_back("--help");
    } else if (words.size() == 1 && words.front() == "version") {
        words.front() = "--version";
    }
    auto const typed = words;
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the end
    try {
        app_.parse(std::move(words));
    } catch (CLI::CallForHelp const&) {
        bool const unknown = &named() == &app_ && !misspelt(app_, typed).empty();
        if (unknown) return std::unexpected(mistake(typed, {}));
        return std::unexpected(Notice{status::done, help() + "\n"});
    } catch (CLI::CallForVersion const&) {
        return std::unexpected(Notice{status::done, app_.version() + "\n"});
    } catch (CLI::ExtrasError const&) {
        return std::unexpected(mistake(typed, left_over(named(), app_.remaining(true))));
    } catch (CLI::ConversionError const& error) {
        return std::unexpected(mistake(typed, no_number(error.what())));
    } catch (CLI::ParseError const& error) {
        return std::unexpected(mistake(typed, missing(named(), error.what())));
    }
    choose_format();
    Invocation out{global_, chosen_()};
    bool const other = global_.format == Format::yaml || global_.format == Format::name;
    if (other && prints_itself(out.command))
        return std::unexpected(mistake(typed, "this command prints text or JSON: --output json"));
    if (global_.jq && prints_no_json(out.command))
        return std::unexpected(mistake(typed, "this command prints no JSON for --jq"));
    return out;
}

std::expected<Invocation, Notice> parse(std::vector<std::string> words,
                                        std::string const& version) {
    return Grammar(version).parse(std::move(words));
}

CommandInfo command_table() {
    Grammar const grammar("");
    return info_of(grammar.app());
}

}  // namespace dormouse::cli
