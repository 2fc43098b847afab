// Commands on sessions and on what waits in them.

#include "cli/commands/grammar.h"

#include <utility>

namespace dormouse::cli {

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

}  // namespace dormouse::cli
