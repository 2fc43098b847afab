#include "cli/arguments.h"

#include "base/text.h"
#include "cli/spelling.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>

namespace dormouse::cli {
namespace {

// Without what an option excludes: a set in no particular order, and the refusal says it.
class Help : public CLI::Formatter {
public:
    [[nodiscard]] std::string make_option_opts(CLI::Option const* option) const override {
        if (option->get_items_expected_max() == 0) return {};
        auto out = " " + option->get_type_name();
        if (!option->get_default_str().empty()) out += "=" + option->get_default_str();
        return out + (option->get_required() ? " REQUIRED" : "");
    }
};

// Builds the commands into one Invocation; the one that was named is left in `command`.
class Grammar {
public:
    explicit Grammar(std::string const& version);
    [[nodiscard]] std::expected<Invocation, Notice> parse(std::vector<std::string> words);
    [[nodiscard]] CLI::App const& app() const { return app_; }

private:
    [[nodiscard]] CLI::App const& named() const;  // the command, as far as it was recognised
    [[nodiscard]] std::string help() const;
    [[nodiscard]] Notice mistake(std::vector<std::string> const& words, std::string what);

    template <class Args>
    CLI::App* add(std::string const& name, std::string const& about, std::string const& example,
                  std::shared_ptr<Args> const& args);

    void add_programs();
    void add_prompt();
    void add_lists();
    void add_tasks();
    void add_submissions();
    void add_decisions();
    void add_moves();
    void add_life();
    void add_mail();
    void add_checks();
    void add_shell();
    void add_configuration();
    void add_access();
    void add_bench();
    void add_faces();

    CLI::App app_{"Agent sessions that sleep while their tools work, and wake exactly once."};
    Global global_;
    std::function<Command()> chosen_;
};

Grammar::Grammar(std::string const& version) {
    app_.name("dormouse");
    app_.formatter(std::make_shared<Help>());
    app_.set_version_flag("--version", "dormouse " + version);
    app_.require_subcommand(1);
    app_.fallthrough();
    app_.option_defaults()->group("Options of every command");
    app_.add_option("--server", global_.server,
                    "Address of the server ($DORMOUSE_URL, http://127.0.0.1:3676)")
        ->type_name("URL");
    app_.add_option("--data", global_.data,
                    "Data directory; holds the token ($XDG_DATA_HOME/dormouse)")
        ->type_name("DIR");
    app_.add_option("--project", global_.project, "Project of lists and new sessions (default)")
        ->type_name("NAME");
    app_.add_flag("--json", global_.json, "Print the API's objects unchanged");
    app_.option_defaults()->group("Options");
    app_.footer(
        "\nExit status: 0 done, 1 failed, 2 usage, 3 not found, 4 conflict, 5 expired or "
        "cancelled,\n"
        "6 not allowed, 7 server not reachable, 8 refused for now, 10 sleeps, 130 interrupted.\n\n"
        "Example:\n  dormouse serve &\n  dormouse prompt 'deploy A'\n  dormouse result pnd_… live");
    add_programs();
    add_prompt();
    add_lists();
    add_submissions();
    add_decisions();
    add_moves();
    add_life();
    add_mail();
    add_checks();
    add_configuration();
    add_access();
    add_bench();
    add_faces();
    add_shell();
}

template <class Args>
CLI::App* Grammar::add(std::string const& name, std::string const& about,
                       std::string const& example, std::shared_ptr<Args> const& args) {
    auto* const command = app_.add_subcommand(name, about);
    command->footer("\nExample:\n  " + example);
    command->callback([this, args] { chosen_ = [args] { return Command(*args); }; });
    return command;
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
    s->add_option("--store", options.store, "Where sessions are kept (sqlite)")
        ->type_name("STORE")
        ->check(CLI::IsMember(std::vector<std::string>{"sqlite", "memory"}));
    s->add_option("--ready-fd", options.ready_fd,
                  "Write 'ready URL' here instead of to standard output")
        ->type_name("FD")
        ->check(CLI::NonNegativeNumber);
    s->add_flag("--insecure", options.insecure, "Listen beyond loopback without TLS");
    s->add_option("--allowed-host", options.allowed_hosts, "One more Host to answer to")
        ->type_name("ADDRESS");
    s->add_option("--allowed-origin", options.allowed_origins, "One more Origin to answer to")
        ->type_name("ORIGIN");
    s->add_option("--public-url", options.public_url,
                  "The address under which people know the server: allowed as Host and Origin")
        ->type_name("URL");
    s->add_option("--log-level", options.log_level, "The least that is logged (info)")
        ->type_name("LEVEL")
        ->check(CLI::IsMember(std::vector<std::string>{"debug", "info", "warn", "error", "off"}));
    s->add_option("--log-format", options.log_format,
                  "Log lines; auto is text on a terminal (auto)")
        ->type_name("FORMAT")
        ->check(CLI::IsMember(std::vector<std::string>{"auto", "text", "json"}));

    auto const demo = std::make_shared<DemoArgs>();
    auto* const d = add("demo", "Show the main job: sleep, SIGKILL, restart, wake exactly once",
                        "dormouse demo", demo);
    d->add_flag("--keep", demo->keep, "Keep the data directory to look at it afterwards");
}

void Grammar::add_prompt() {
    auto const args = std::make_shared<PromptArgs>();
    auto* const p = add("prompt", "Send a prompt and follow the turn live",
                        "dormouse prompt 'deploy A'\n  echo 'and now B' | dormouse prompt -c -\n"
                        "  dormouse prompt 'what is wrong here?' --file screen.png",
                        args);
    p->add_option("text", args->text, "What to say; - reads standard input")
        ->type_name("TEXT")
        ->required();
    p->add_option("--file", args->files,
                  "An image or a file to send along; may be given again (5 MiB each)")
        ->type_name("FILE");
    auto* const session =
        p->add_option("-s,--session", args->session,
                      "Go on with this session; a unique beginning of its id is enough")
            ->type_name("SESSION");
    auto* const last =
        p->add_flag("-c,--continue", args->last, "Go on with the session prompted last");
    auto* const fresh = p->add_flag("--new", args->fresh, "A new session (the default)");
    session->excludes(last)->excludes(fresh);
    last->excludes(fresh);
    p->add_option("-a,--agent", args->agent, "Agent of a new session (demo, or the only one)")
        ->type_name("AGENT")
        ->excludes(session)
        ->excludes(last);
    p->add_option("--when", args->when, "If a turn is open")
        ->type_name("MODE")
        ->check(CLI::IsMember(std::vector<std::string>{"queue", "steer", "interrupt", "reject"}));
    p->add_option("--answers", args->answers, "The pending call that this answers")
        ->type_name("CALL");
    p->add_flag("--reopen", args->reopen, "Make a session that ended active again");
    p->add_flag("--no-follow", args->no_follow, "Return as soon as it is accepted");
}

void Grammar::add_lists() {
    auto const sessions = std::make_shared<SessionsArgs>();
    auto* const s =
        add("sessions", "List sessions, newest first", "dormouse sessions --limit 5", sessions);
    s->add_option("--limit", sessions->limit, "How many")
        ->type_name("N")
        ->check(CLI::Range(1, 200))
        ->capture_default_str();
    s->add_flag("--all", sessions->all, "All of them");

    auto const show = std::make_shared<ShowArgs>();
    auto* const w = add("show", "A session with its messages, or a pending call",
                        "dormouse show ses_AAAAAAE", show);
    w->add_option("id", show->id, "Session or pending call; a unique beginning is enough")
        ->type_name("ID")
        ->required();

    auto const tail = std::make_shared<TailArgs>();
    auto* const t =
        add("tail", "A session's events, live", "dormouse tail ses_AAAAAAE --after 12", tail);
    t->add_option("session", tail->session, "Session; a unique beginning is enough")
        ->type_name("SESSION")
        ->required();
    t->add_option("--after", tail->after, "Only events after this sequence number")
        ->type_name("SEQ");
    t->add_flag("--no-follow", tail->no_follow, "Only what is there now");

    auto const pending = std::make_shared<PendingArgs>();
    auto* const p =
        add("pending", "What waits for an outcome", "dormouse pending --tool deploy", pending);
    p->add_option("-s,--session", pending->session, "Only of this session")->type_name("SESSION");
    p->add_option("--tool", pending->tool, "Only of this tool")->type_name("TOOL");
    p->add_option("--status", pending->status, "Only in this status (waiting and processing)")
        ->type_name("STATUS")
        ->check(CLI::IsMember(std::vector<std::string>{"waiting", "processing", "completed",
                                                       "failed", "expired", "cancelled"}));
    p->add_option("--reason", pending->reason, "Only what waits for this (all but timers)")
        ->type_name("REASON")
        ->check(CLI::IsMember(std::vector<std::string>{"tool_result", "user_input", "approval",
                                                       "elicitation", "timer", "in_doubt"}));
    p->add_option("--limit", pending->limit, "How many")
        ->type_name("N")
        ->check(CLI::Range(1, 200))
        ->capture_default_str();

    auto const watch = std::make_shared<WatchArgs>();
    auto* const l = add("watch", "All that waits, live, until Ctrl-C",
                        "dormouse watch --tool deploy\n  dormouse watch --json", watch);
    l->add_option("-s,--session", watch->session, "Only of this session")->type_name("SESSION");
    l->add_option("--tool", watch->tool, "Only of this tool")->type_name("TOOL");
    l->add_flag("--all", watch->all, "Timers too, which end by themselves");

    add_tasks();
    add("agents", "List the agents of the server", "dormouse agents",
        std::make_shared<AgentsArgs>());
    add("tools", "List the tools of the server", "dormouse tools", std::make_shared<ToolsArgs>());
}

void Grammar::add_tasks() {
    using What = TasksArgs::What;
    auto const tasks = std::make_shared<TasksArgs>();
    auto* const t = add("tasks", "Background tasks of a session: list, start, read, resume, end",
                        "dormouse tasks ses_AAAAAAE\n  dormouse tasks ses_AAAAAAE --start 'Look it "
                        "up' --agent demo\n  dormouse tasks --output tsk_… --wait 1m",
                        tasks);
    auto* const session =
        t->add_option("session", tasks->session, "Session; a unique beginning is enough")
            ->type_name("SESSION");
    auto* const start = t->add_option("--start", tasks->start, "Start a task with this prompt")
                            ->type_name("PROMPT")
                            ->needs(session);
    t->add_option("--agent", tasks->agent, "Agent of the new task")
        ->type_name("AGENT")
        ->capture_default_str()
        ->needs(start);
    t->add_option("--description", tasks->description, "What it is for, in a few words")
        ->type_name("TEXT")
        ->needs(start);
    t->add_flag("--fork", tasks->fork, "It begins with what was said in the session")->needs(start);
    t->add_flag("--tree", tasks->tree, "Also the tasks of tasks")->needs(session)->excludes(start);
    auto const one = [&](std::string const& name, std::string const& help, What what) {
        auto const chosen = [tasks, what](std::string const& id) {
            tasks->task = id;
            tasks->what = what;
        };
        return t->add_option_function<std::string>(name, chosen, help)
            ->type_name("TASK")
            ->excludes(session);
    };
    auto* const output = one("--output", "What this task has said", What::output);
    auto* const resume = one("--resume", "Send this completed task a message", What::resume);
    auto* const cancel = one("--cancel", "Stop this task", What::cancel);
    auto* const clear = one("--clear", "Forget this task and end its session", What::clear);
    output->excludes(resume)->excludes(cancel)->excludes(clear);
    resume->excludes(cancel)->excludes(clear);
    cancel->excludes(clear);
    auto* const message =
        t->add_option("--message", tasks->message, "The message")->type_name("TEXT")->needs(resume);
    resume->needs(message);
    t->add_option("--reason", tasks->reason, "Why; both sessions are told")
        ->type_name("TEXT")
        ->needs(cancel);
    t->add_option("--wait", tasks->wait, "Wait for its end, so long at most")
        ->type_name("TIME")
        ->needs(output);
}

void Grammar::add_submissions() {
    using Kind = SubmitArgs::Kind;
    auto const result = std::make_shared<SubmitArgs>();
    auto* const r = add("result", "Give a pending call its result",
                        "dormouse result pnd_… live\n  dormouse result pnd_… --json-value "
                        "'{\"url\":\"https://…\"}'",
                        result);
    auto const error = std::make_shared<SubmitArgs>(SubmitArgs{.kind = Kind::error});
    auto* const e = add("error", "Tell a pending call that it failed",
                        "dormouse error pnd_… 'no such branch'", error);
    auto const progress = std::make_shared<SubmitArgs>(SubmitArgs{.kind = Kind::progress});
    auto* const g = add("progress", "Report progress of a pending call",
                        "dormouse progress pnd_… '50 %' --key 50", progress);
    for (auto const& [command, args] :
         {std::pair(r, result), std::pair(e, error), std::pair(g, progress)}) {
        command->add_option("id", args->id, "Pending call; a unique beginning is enough")
            ->type_name("CALL")
            ->required();
        auto* const one = command->add_option_group("value", "One of these");
        one->add_option("text", args->text, "Text; - reads standard input")->type_name("TEXT");
        if (command != e) {
            one->add_option("--json-value", args->json_value, "A JSON value")->type_name("JSON");
        }
        one->add_option("--file", args->file, "A file: JSON if its name ends in .json, else text")
            ->type_name("FILE");
        one->require_option(1);
    }
    r->add_option("--title", result->title, "A title for people")->type_name("TEXT");
    r->add_option("--metadata", result->metadata, "JSON kept beside the result")->type_name("JSON");
    g->add_option("--key", progress->key, "Repeating the same key changes nothing")
        ->type_name("KEY");
}

void Grammar::add_decisions() {
    auto const approve = std::make_shared<DecideArgs>(DecideArgs{.approved = true});
    auto* const a = add("approve", "Allow what waits for approval",
                        "dormouse approve pnd_… --reason 'checked'", approve);
    auto const deny = std::make_shared<DecideArgs>();
    auto* const d = add("deny", "Refuse what waits for approval",
                        "dormouse deny pnd_… --reason 'not on a Friday'", deny);
    for (auto const& [command, args] : {std::pair(a, approve), std::pair(d, deny)}) {
        command->add_option("id", args->id, "Pending call; a unique beginning is enough")
            ->type_name("CALL")
            ->required();
        command->add_option("--reason", args->reason, "Why; the model is told")->type_name("TEXT");
    }
    a->add_option("--arguments", approve->arguments, "Run it with these arguments instead")
        ->type_name("JSON");
    a->add_option("--content", approve->content, "What the form was filled in with")
        ->type_name("JSON");

    auto const cancel = std::make_shared<CancelArgs>();
    auto* const c = add("cancel", "Cancel a pending call, or a session's turn",
                        "dormouse cancel ses_AAAAAAE --reason 'deploying another branch'", cancel);
    c->add_option("id", cancel->id, "Pending call or session; a unique beginning is enough")
        ->type_name("ID")
        ->required();
    c->add_flag("--all", cancel->all, "Of a session: the queued prompts too");
    c->add_option("--reason", cancel->reason, "Why; the model is told")->type_name("TEXT");

    auto const attach = std::make_shared<AttachArgs>();
    add("attach", "Open the own screen of a session's agent program", "dormouse attach ses_AAAAAAE",
        attach)
        ->add_option("session", attach->session, "Session; a unique beginning is enough")
        ->type_name("SESSION")
        ->required();

    auto const claim = std::make_shared<ClaimArgs>();
    auto* const l = add("claim", "Keep other workers away from a pending call for a while",
                        "dormouse claim pnd_… --for 10m", claim);
    l->add_option("id", claim->id, "Pending call; a unique beginning is enough")
        ->type_name("CALL")
        ->required();
    auto* const hold = l->add_option("--for", claim->hold, "How long, up to 1h (500ms, 90s, 10m)")
                           ->type_name("TIME")
                           ->capture_default_str();
    l->add_flag("--release", claim->release, "Give it back to the others")->excludes(hold);
}

void Grammar::add_moves() {
    constexpr std::pair<char const*, char const*> moves[] = {
        {"resume", "Make a paused session active again"},
        {"retry", "Ask the model again after a turn that failed"},
        {"end", "End a session; what it waits for is cancelled"},
    };
    for (auto const& [name, about] : moves) {
        auto const args = std::make_shared<MoveArgs>(MoveArgs{.move = name, .session = {}});
        auto* const m = add(name, about, std::string("dormouse ") + name + " ses_AAAAAAE", args);
        m->add_option("session", args->session, "Session; a unique beginning is enough")
            ->type_name("SESSION")
            ->required();
    }
}

void Grammar::add_life() {
    auto const fork = std::make_shared<ForkArgs>();
    auto* const f = add("fork", "A new session with the past of another",
                        "dormouse fork ses_AAAAAAE --seq 12", fork);
    f->add_option("session", fork->session, "Session; a unique beginning is enough")
        ->type_name("SESSION")
        ->required();
    f->add_option("--seq", fork->seq,
                  "Up to the last committed step at or before this event (default: all)")
        ->type_name("SEQ");
    f->add_option("--title", fork->title, "Title of the new session")->type_name("TEXT");

    auto const gone = std::make_shared<DeleteArgs>();
    auto* const d = add("delete", "Delete a session with its whole history, for good",
                        "dormouse delete ses_AAAAAAE --yes", gone);
    d->add_option("session", gone->session, "Session; a unique beginning is enough")
        ->type_name("SESSION")
        ->required();
    d->add_flag("-y,--yes", gone->yes, "Do not ask");
}

void Grammar::add_mail() {
    auto const mail = std::make_shared<MailArgs>();
    auto* const m = add("mail", "Send a message to an agent's session, or in the name of one",
                        "dormouse mail ops 'what is the state?' --from planner", mail);
    m->add_option("to", mail->to, "Alias or session; * for everybody that has an alias")
        ->type_name("TO")
        ->required();
    m->add_option("text", mail->text, "Message; - for standard input")
        ->type_name("TEXT")
        ->required();
    m->add_option("--from", mail->from, "In the name of this session (default: yours)")
        ->type_name("SESSION");
    m->add_option("--reply-to", mail->reply_to, "The mail that this answers")->type_name("MAIL");
    auto* const resume = m->add_flag("--resume", mail->resume, "Wake it even while it waits");
    m->add_flag("--quiet", mail->quiet, "Wake nobody: it is read with what comes next")
        ->excludes(resume);
    m->add_option("--ttl", mail->ttl, "Unread for so long, it is read by nobody")
        ->type_name("TIME");

    auto const sent = std::make_shared<SentArgs>();
    auto* const s = add("sent", "What became of mail: of one, of a session's, or what hangs",
                        "dormouse sent\n  dormouse sent planner\n  dormouse sent mail_…_12", sent);
    s->add_option("what", sent->what, "Session or mail; without: what is held or not yet there")
        ->type_name("SESSION|MAIL");
    s->add_option("--limit", sent->limit, "At most so many (default: 50)")
        ->type_name("N")
        ->check(CLI::Range(1, 200));

    auto const inbox = std::make_shared<InboxArgs>();
    auto* const i = add("inbox", "List the mail that has come to a session",
                        "dormouse inbox ses_AAAAAAE --held", inbox);
    i->add_option("session", inbox->session, "Session; a unique beginning is enough")
        ->type_name("SESSION")
        ->required();
    i->add_option("--after", inbox->after, "Only after this number")->type_name("NUMBER");
    i->add_option("--limit", inbox->limit, "At most so many (default: 50)")
        ->type_name("N")
        ->check(CLI::Range(1, 200));
    i->add_flag("--held", inbox->held, "Only what waits for a person");

    auto const release = std::make_shared<ReleaseArgs>();
    auto* const r = add("release", "Let a mail that is held back wake its receiver",
                        "dormouse release mail_…", release);
    r->add_option("mail", release->mail, "Mail")->type_name("MAIL")->required();

    auto const alias = std::make_shared<AliasArgs>();
    auto* const a = add("alias", "List aliases, or give a session one",
                        "dormouse alias ses_AAAAAAE ops", alias);
    a->add_option("session", alias->session, "Session; a unique beginning is enough")
        ->type_name("SESSION");
    a->add_option("alias", alias->alias, "Its name from now on")->type_name("NAME");
    a->add_flag("--remove", alias->remove, "It has none from now on");
}

void Grammar::add_checks() {
    auto const explain = std::make_shared<ExplainArgs>();
    auto* const e = add("explain", "Who resolved it, when, and which turn used it",
                        "dormouse explain pnd_…", explain);
    e->add_option("id", explain->id, "Pending call, session, turn, message, receipt or artifact")
        ->type_name("ID")
        ->required();
    auto const artifact = std::make_shared<ArtifactArgs>();
    auto* const a = add("artifact", "The bytes of an artifact",
                        "dormouse artifact art_… -o report.csv", artifact);
    a->add_option("id", artifact->id, "Artifact, as show and tail name it")
        ->type_name("ARTIFACT")
        ->required();
    a->add_option("-o,--output", artifact->file, "Write them to this file")->type_name("FILE");
    auto const doctor = std::make_shared<DoctorArgs>();
    auto* const d =
        add("doctor", "Prove that no session is stuck", "dormouse doctor --repair", doctor);
    d->add_flag("--check", doctor->check,
                "Also compare all that is stored beside the journals with them");
    d->add_flag("--repair", doctor->repair, "The same, and make anew what does not agree");
    auto const retention = std::make_shared<RetentionArgs>();
    auto* const old =
        add("retention", "Delete what is old: completed sessions, messages, audit, dead webhooks",
            "dormouse retention --dry-run --completed-after 30d\n"
            "  dormouse retention --older-than 90d --bytes 10MiB --session ses_AAAAAAE",
            retention);
    old->add_flag("--dry-run", retention->dry_run, "Only say what would go");
    old->add_option("--completed-after", retention->completed_after,
                    "Sessions: so long ago; else completed_after of [retention]")
        ->type_name("TIME");
    old->add_option("--audit-after", retention->audit_after,
                    "Lines of the audit: so old; else audit_after")
        ->type_name("TIME");
    old->add_option("--dead-deliveries-after", retention->dead_deliveries_after,
                    "Webhooks that were given up: so long ago; else dead_deliveries_after")
        ->type_name("TIME");
    old->add_option("--messages", retention->messages,
                    "Instead: of sessions with so many messages the oldest tenth of these")
        ->type_name("N")
        ->check(CLI::Range(100, 16'777'215));
    old->add_option("--older-than", retention->older_than,
                    "Instead: of sessions the turns that ended so long ago")
        ->type_name("TIME");
    old->add_option("--bytes", retention->bytes,
                    "Instead: of sessions with a larger journal the oldest turns")
        ->type_name("SIZE");
    old->add_option("--session", retention->session, "With one of these: of this session only")
        ->type_name("SESSION");
    auto const deliveries = std::make_shared<DeliveriesArgs>();
    auto* const s = add("deliveries", "What is sent out: webhooks and word to people",
                        "dormouse deliveries --state dead", deliveries);
    s->add_option("--state", deliveries->state, "Only in this state")
        ->type_name("STATE")
        ->check(CLI::IsMember({"pending", "delivered", "dead", "disabled"}));
    s->add_option("--limit", deliveries->limit, "At most so many")
        ->type_name("N")
        ->check(CLI::Range(1, 200));
    auto* const retry =
        s->add_option("--retry", deliveries->retry, "Send this one again")->type_name("DELIVERY");
    s->add_option("--forget", deliveries->forget, "Forget this one")
        ->type_name("DELIVERY")
        ->excludes(retry);
    add("verify", "Check the data directory while no server uses it",
        "dormouse verify --data ./sessions", std::make_shared<VerifyArgs>());
}

void Grammar::add_faces() {
    auto const acp = std::make_shared<AcpArgs>();
    add("acp", "Be an agent of an editor (Agent Client Protocol, on standard input and output)",
        "dormouse acp --agent ops", acp)
        ->add_option("-a,--agent", acp->agent, "Agent of new sessions (the only one)")
        ->type_name("AGENT");

    auto const mcp = std::make_shared<McpArgs>();
    add("mcp", "Give an agent program the tools of its session (Model Context Protocol, on stdio)",
        "dormouse mcp --session ses_AAAAAAE", mcp)
        ->add_option("-s,--session", mcp->session,
                     "Whose tools, and who is told what becomes of them")
        ->type_name("SESSION")
        ->required();

    auto const import = std::make_shared<ImportArgs>();
    auto* const i = add("import", "Copy sessions of opencode; what is there already stays as it is",
                        "dormouse import ~/.local/share/opencode --agent ops --dry-run", import);
    i->add_option("path", import->path,
                  "opencode's data folder, its opencode.db, or a file of `opencode export`")
        ->type_name("PATH")
        ->required();
    i->add_option("-a,--agent", import->agent, "The agent that goes on with them")
        ->type_name("AGENT")
        ->required();
    i->add_flag("--dry-run", import->dry_run, "Only say what would be copied");
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
    auto* const i = add("candidates", "Ids for a shell that completes",
                        "dormouse candidates session ses_A", candidates);
    i->group("");  // for programs, not for people
    i->add_option("kind", candidates->kind, "Which ids")
        ->check(CLI::IsMember(std::vector<std::string>{"session", "call", "id", "agent", "tool"}))
        ->required();
    i->add_option("beginning", candidates->beginning, "Only those that begin so");
}

void Grammar::add_configuration() {
    auto const config = std::make_shared<ConfigArgs>();
    auto* const c = add("config", "Write an example of the configuration, check one, list its keys",
                        "dormouse config init\n  dormouse config check ./dormouse.toml\n  "
                        "dormouse config keys",
                        config);
    c->add_option("what", config->what,
                  "init: write the commented example; check: say what is wrong, or what the server "
                  "would have; keys: every key with its default")
        ->type_name("WHAT")
        ->check(CLI::IsMember(std::vector<std::string>{"init", "check", "keys"}))
        ->required();
    c->add_option("file", config->path,
                  "init: where to write ($XDG_CONFIG_HOME/dormouse/dormouse.toml; - is standard "
                  "output); check: what to read (where serve would look)")
        ->type_name("FILE");
    add("paths", "Where configuration, data and token are looked for, and found", "dormouse paths",
        std::make_shared<PathsArgs>());
}

void add_access_options(CLI::App& command, AccessArgs& args) {
    command.add_option("--role", args.role, "What it is good for; each contains the next")
        ->type_name("ROLE")
        ->check(CLI::IsMember(std::vector<std::string>{"admin", "operate", "answer", "read"}))
        ->capture_default_str();
    command.add_option("--projects", args.projects, "Only for these (default: all)")
        ->type_name("NAMES")
        ->delimiter(',');
    command
        .add_option("--agents", args.agents,
                    "May start these; '*' is all (default: all that run no programs)")
        ->type_name("NAMES")
        ->delimiter(',');
    command.add_option("--ttl", args.ttl, "How long it lives (10m, 90d)")->type_name("TIME");
}

void Grammar::add_access() {
    auto const token = std::make_shared<TokenArgs>();
    token->access.role = "answer";
    auto* const t = add("token", "Who may call: make, list and revoke tokens",
                        "dormouse token create alice --role answer --ttl 90d\n  dormouse token "
                        "list\n  dormouse token revoke alice",
                        token);
    t->add_option("what", token->what, "create, list or revoke")
        ->type_name("WHAT")
        ->check(CLI::IsMember(std::vector<std::string>{"create", "list", "revoke"}))
        ->required();
    auto* const name = t->add_option("who", token->access.name,
                                     "create: the name that receipts show; revoke: name or id")
                           ->type_name("NAME");
    t->add_option("--name", token->access.name, "The same")->type_name("NAME")->excludes(name);
    add_access_options(*t, token->access);

    auto const link = std::make_shared<LinkArgs>();
    link->access.role = "answer";
    auto* const l = add("link", "A link that signs a browser in, once",
                        "dormouse link alice --role answer", link);
    l->add_option("who", link->access.name, "Who signs in: the name that receipts show")
        ->type_name("NAME")
        ->required();
    l->add_flag("--qr", link->qr, "Also show it as a code to photograph, on standard error");
    add_access_options(*l, link->access);
}

void Grammar::add_bench() {
    auto const bench = std::make_shared<BenchArgs>();
    auto* const b =
        add("bench", "Measure pauses and resumes over HTTP against the disk's own speed",
            "dormouse bench --jobs 8000 --connections 1,32,64\n  dormouse bench --dormant 1000000",
            bench);
    b->add_option("--jobs", bench->jobs, "Sessions a round (a sixth of it at one connection)")
        ->type_name("N")
        ->check(CLI::Range(10, 10'000'000))
        ->capture_default_str();
    b->add_option("--rounds", bench->rounds, "Rounds; the median is reported")
        ->type_name("N")
        ->check(CLI::Range(1, 100))
        ->capture_default_str();
    b->add_option("--connections", bench->connections, "Connection counts")
        ->type_name("LIST")
        ->delimiter(',')
        ->check(CLI::Range(1, 4096))
        ->capture_default_str();
    b->add_option("--dormant", bench->dormant, "Also: what this many sleeping sessions cost")
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000'000}));
    b->add_flag("--growth", bench->growth, "Also: how the file grows with one long session");
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

Notice Grammar::mistake(std::vector<std::string> const& words, std::string what) {
    std::string help;
    for (auto const* at = &app_; !at->get_subcommands().empty();) {
        at = at->get_subcommands().front();
        help += " " + at->get_name();
    }
    if (auto const slip = misspelt(app_, words); !slip.empty()) what = slip;
    return {status::usage, "dormouse: " + escape_for_terminal(what, true) + "\n  See: dormouse" +
                               help + " --help\n"};
}

std::expected<Invocation, Notice> Grammar::parse(std::vector<std::string> words) {
    if (words.empty()) return std::unexpected(Notice{status::usage, help() + "\n"});
    // What people try first.
    if (words.front() == "help") {
        words.erase(words.begin());
        words.emplace_back("--help");
    } else if (words.size() == 1 && words.front() == "version") {
        words.front() = "--version";
    }
    auto const typed = words;
    std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
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
    } catch (CLI::ParseError const& error) {
        return std::unexpected(mistake(typed, missing(named(), error.what())));
    }
    return Invocation{global_, chosen_()};
}

}  // namespace

std::expected<Invocation, Notice> parse(std::vector<std::string> words,
                                        std::string const& version) {
    return Grammar(version).parse(std::move(words));
}

CommandInfo command_table() {
    Grammar const grammar("");
    return told(grammar.app());
}

}  // namespace dormouse::cli
