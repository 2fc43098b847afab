// Options of the commands on sessions and their calls.

#include "cli/commands/arguments/grammar.h"
#include "cli/commands/hook/program.h"

#include <utility>

namespace dormouse::cli {
namespace {

CLI::Option* add_wait(CLI::App& command, std::string& wait) {
    return command.add_flag("--wait", wait,
                            "Follow the turn until it ends, also through sleeps; --wait=TIME: at "
                            "most so long");
}

}  // namespace

void Grammar::add_prompt() {
    auto const args = std::make_shared<PromptArgs>();
    auto* const p = add("prompt", "Send a prompt and follow the turn live",
                        "dormouse prompt 'deploy A'\n  echo 'and now B' | dormouse prompt -c -\n"
                        "  dormouse prompt 'what is wrong here?' --file screen.png",
                        args);
    p->add_option("text", args->text, "Text of the message; - reads standard input")
        ->type_name("TEXT")
        ->required();
    p->add_option("--file", args->files, "Image or file to attach; may be repeated (5 MiB each)")
        ->type_name("FILE");
    auto* const session =
        p->add_option("-s,--session", args->session,
                      "Continue this session; a unique beginning of its id is enough")
            ->type_name("SESSION");
    auto* const last =
        p->add_flag("-c,--continue", args->last, "Continue the session prompted last");
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
    p->add_flag("--reopen", args->reopen, "Reopen a session that has ended");
    auto* const no_follow =
        p->add_flag("--no-follow", args->no_follow, "Return as soon as it is accepted");
    add_wait(*p, args->wait)->excludes(no_follow);
}

void Grammar::add_lists() {
    auto const sessions = std::make_shared<SessionsArgs>();
    auto* const s =
        add("sessions", "List sessions, newest first", "dormouse sessions --limit 5", sessions);
    s->add_option("--limit", sessions->limit, "Maximum number")
        ->type_name("N")
        ->check(CLI::Range(1, 200))
        ->capture_default_str();
    s->add_flag("--all", sessions->all, "All sessions");
    auto* const files =
        s->add_option("--archive", sessions->archive, "Of an archive instead of a server")
            ->type_name("DIR");
    add_key_env(*s, sessions->key_env)->needs(files);

    auto const show = std::make_shared<ShowArgs>();
    auto* const w = add("show", "A session with its messages, or a pending call",
                        "dormouse show ses_AAAAAAE", show);
    w->add_option("id", show->id,
                  "Session or pending call; a unique beginning is enough (a terminal asks)")
        ->type_name("ID");
    auto* const archive =
        w->add_option("--archive", show->archive, "Out of an archive instead of a server")
            ->type_name("DIR");
    add_key_env(*w, show->key_env)->needs(archive);

    auto const tail = std::make_shared<TailArgs>();
    auto* const t =
        add("tail", "A session's events, live", "dormouse tail ses_AAAAAAE --after 12", tail);
    t->add_option("session", tail->session,
                  "Session; a unique beginning is enough (a terminal asks)")
        ->type_name("SESSION");
    t->add_option("--after", tail->after, "Only events after this sequence number")
        ->type_name("SEQ");
    t->add_flag("--no-follow", tail->no_follow, "Print the stored events and end");

    auto const timeline = std::make_shared<TimelineArgs>();
    add("timeline", "A session as a picture: model, tools, sleeps, and who woke it",
        "dormouse timeline ses_AAAAAAE", timeline)
        ->add_option("session", timeline->session,
                     "Session; a unique beginning is enough (a terminal asks)")
        ->type_name("SESSION");

    add_waiting();
    add_tasks();
    add("agents", "List the agents of the server", "dormouse agents",
        std::make_shared<AgentsArgs>());
    add("tools", "List the tools of the server", "dormouse tools", std::make_shared<ToolsArgs>());
}

void Grammar::add_waiting() {
    auto const pending = std::make_shared<PendingArgs>();
    auto* const p = add("pending", "List calls that wait for an outcome",
                        "dormouse pending --tool deploy", pending);
    p->add_option("-s,--session", pending->session, "Only calls of this session")
        ->type_name("SESSION");
    p->add_option("--tool", pending->tool, "Only calls of this tool")->type_name("TOOL");
    p->add_option("--status", pending->status, "Only in this status (waiting and processing)")
        ->type_name("STATUS")
        ->check(CLI::IsMember(std::vector<std::string>{"waiting", "processing", "completed",
                                                       "failed", "expired", "cancelled"}));
    p->add_option("--reason", pending->reason, "Only calls that wait for this (all but timers)")
        ->type_name("REASON")
        ->check(
            CLI::IsMember(std::vector<std::string>{"tool_result", "user_input", "approval",
                                                   "elicitation", "budget", "timer", "in_doubt"}));
    p->add_option("--limit", pending->limit, "Maximum number")
        ->type_name("N")
        ->check(CLI::Range(1, 200))
        ->capture_default_str();

    auto const watch = std::make_shared<WatchArgs>();
    auto* const l = add("watch", "Show open calls live until Ctrl-C",
                        "dormouse watch --tool deploy\n  dormouse watch --json", watch);
    l->add_option("-s,--session", watch->session, "Only calls of this session")
        ->type_name("SESSION");
    l->add_option("--tool", watch->tool, "Only calls of this tool")->type_name("TOOL");
    l->add_flag("--all", watch->all, "Also timers, which complete by themselves");
}

void Grammar::add_tasks() {
    using What = TasksArgs::What;
    auto const tasks = std::make_shared<TasksArgs>();
    auto* const t = add("tasks", "Background tasks of a session: list, start, read, resume, end",
                        "dormouse tasks ses_AAAAAAE\n  dormouse tasks ses_AAAAAAE --start 'Look it "
                        "up' --agent demo\n  dormouse tasks --output tsk_… --wait 1m",
                        tasks);
    auto* const session = t->add_option("session", tasks->session,
                                        "Session; a unique beginning is enough (a terminal asks)")
                              ->type_name("SESSION");
    auto* const start = t->add_option("--start", tasks->start, "Start a task with this prompt")
                            ->type_name("PROMPT")
                            ->needs(session);
    t->add_option("--agent", tasks->agent, "Agent of the new task")
        ->type_name("AGENT")
        ->capture_default_str()
        ->needs(start);
    t->add_option("--description", tasks->description, "Short description")
        ->type_name("TEXT")
        ->needs(start);
    t->add_flag("--fork", tasks->fork, "Start it with the messages of the session")->needs(start);
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
    auto* const output = one("--output", "Print the output of this task", What::output);
    auto* const resume = one("--resume", "Send this completed task a message", What::resume);
    auto* const cancel = one("--cancel", "Stop this task", What::cancel);
    auto* const clear = one("--clear", "Forget this task and end its session", What::clear);
    output->excludes(resume)->excludes(cancel)->excludes(clear);
    resume->excludes(cancel)->excludes(clear);
    cancel->excludes(clear);
    auto* const message =
        t->add_option("--message", tasks->message, "The message")->type_name("TEXT")->needs(resume);
    resume->needs(message);
    t->add_option("--reason", tasks->reason, "Reason; both sessions receive it")
        ->type_name("TEXT")
        ->needs(cancel);
    t->add_option("--wait", tasks->wait, "Wait at most this long for its end")
        ->type_name("TIME")
        ->needs(output);
}

void Grammar::add_submissions() {
    using Kind = SubmitArgs::Kind;
    auto const result = std::make_shared<SubmitArgs>();
    auto* const r = add("result", "Submit the result of a pending call",
                        "dormouse result pnd_… live\n  dormouse result pnd_… --json-value "
                        "'{\"url\":\"https://…\"}'",
                        result);
    auto const error = std::make_shared<SubmitArgs>(SubmitArgs{.kind = Kind::error});
    auto* const e = add("error", "Submit the failure of a pending call",
                        "dormouse error pnd_… 'no such branch'", error);
    auto const progress = std::make_shared<SubmitArgs>(SubmitArgs{.kind = Kind::progress});
    auto* const g = add("progress", "Report progress of a pending call",
                        "dormouse progress pnd_… '50 %' --key 50", progress);
    for (auto const& [command, args] :
         {std::pair(r, result), std::pair(e, error), std::pair(g, progress)}) {
        command
            ->add_option("id", args->id,
                         "Pending call; a unique beginning is enough (a terminal asks)")
            ->type_name("CALL");
        auto* const one = command->add_option_group("value", "One of these");
        one->add_option("text", args->text, "Text; - reads standard input")->type_name("TEXT");
        if (command != e) {
            one->add_option("--json-value", args->json_value, "A JSON value")->type_name("JSON");
        }
        one->add_option("--file", args->file, "A file: JSON if its name ends in .json, else text")
            ->type_name("FILE");
        one->require_option(0, 1);
    }
    add_wait(*r, result->wait);
    add_wait(*e, error->wait);
    r->add_option("--title", result->title, "A title for people")->type_name("TEXT");
    r->add_option("--metadata", result->metadata, "JSON stored with the result")->type_name("JSON");
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
        command
            ->add_option("id", args->id,
                         "Pending call; a unique beginning is enough (a terminal asks)")
            ->type_name("CALL");
        command->add_option("--reason", args->reason, "Reason; the model sees it")
            ->type_name("TEXT");
        add_wait(*command, args->wait);
    }
    a->add_option("--arguments", approve->arguments, "Run it with these arguments instead")
        ->type_name("JSON");
    a->add_option("--content", approve->content, "Content of the form")->type_name("JSON");
    auto* const session = a->add_flag("--session", approve->session,
                                      "Also allow later calls like it in this session");
    a->add_flag("--always", approve->always, "Also allow later calls like it in the project")
        ->excludes(session);
    a->add_option("--for", approve->lifetime, "Time for which later calls are allowed (30d)")
        ->type_name("TIME");
    a->add_option("--match", approve->match,
                  "Arguments that must be equal then (default: all), with commas")
        ->delimiter(',')
        ->type_name("NAMES");

    auto const rules = std::make_shared<RulesArgs>();
    auto* const u = add("rules", "List and revoke standing rules",
                        "dormouse rules\n  dormouse rules revoke rul_…", rules);
    u->add_option("what", rules->what, "list or revoke")
        ->check(CLI::IsMember({"list", "revoke"}))
        ->type_name("WHAT");
    u->add_option("id", rules->id, "revoke: the rule; a unique beginning is enough")
        ->type_name("RULE");

    auto const cancel = std::make_shared<CancelArgs>();
    auto* const c = add("cancel", "Cancel a pending call, or a session's turn",
                        "dormouse cancel ses_AAAAAAE --reason 'deploying another branch'", cancel);
    c->add_option("id", cancel->id,
                  "Pending call or session; a unique beginning is enough (a terminal asks)")
        ->type_name("ID");
    c->add_flag("--all", cancel->all, "For a session: also cancel its queued prompts");
    c->add_option("--reason", cancel->reason, "Reason; the model sees it")->type_name("TEXT");

    auto const attach = std::make_shared<AttachArgs>();
    add("attach", "Open the own screen of a session's external agent",
        "dormouse attach ses_AAAAAAE", attach)
        ->add_option("session", attach->session,
                     "Session; a unique beginning is enough (a terminal asks)")
        ->type_name("SESSION");
}

void Grammar::add_ask() {
    auto const ask = std::make_shared<AskArgs>();
    auto* const a = add("ask", "Ask people, and wait: the exit status is the answer",
                        "dormouse ask 'Deploy 4.2 to production?' --approve --timeout 2h\n"
                        "  dormouse ask 'Which region?' --choices eu,us --by alice --by bob\n"
                        "  dormouse ask --wait pnd_…",
                        ask);
    auto* const question = a->add_option("question", ask->question,
                                         "The question, also as Markdown; - reads "
                                         "standard input")
                               ->type_name("QUESTION");
    auto* const approve = a->add_flag("--approve", ask->approve,
                                      "Approve or deny; without it people write an answer");
    auto* const choices =
        a->add_option("--choices", ask->choices, "The possible answers, with commas; repeatable")
            ->delimiter(',')
            ->type_name("ANSWERS")
            ->excludes(approve);
    a->add_option("--schema", ask->schema, "File with the JSON Schema of the answer")
        ->type_name("FILE")
        ->excludes(approve)
        ->excludes(choices);
    a->add_option("--tool", ask->tool, "Subject, for lists and filters (ask)")->type_name("TOOL");
    a->add_option("--argument", ask->arguments,
                  "Shown with the question: KEY=TEXT or KEY:=JSON; repeatable")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    a->add_option(
         "--by", ask->by,
         "Person who may answer: a name, or role:answer, role:operate, role:admin; repeatable")
        ->type_name("WHO")
        ->allow_extra_args(false);
    a->add_option("--votes", ask->votes, "Number of people who must agree")
        ->type_name("N")
        ->check(CLI::Range(1, 20))
        ->capture_default_str();
    a->add_option("--timeout", ask->timeout, "Time until it expires (none)")->type_name("TIME");
    a->add_option("--remind", ask->remind, "Remind the answerers after this time, again and again")
        ->type_name("TIME");
    a->add_option("--key", ask->key,
                  "The same key finds the same question again, for a job that is repeated")
        ->type_name("KEY");
    a->add_flag("--no-wait", ask->no_wait, "Print the id of the call and end");
    a->add_option("--wait", ask->wait, "Wait for this call; a unique beginning is enough")
        ->type_name("CALL")
        ->excludes(question);
    a->add_flag("--cancel-on-exit", ask->cancel_on_exit,
                "Ctrl-C and SIGTERM cancel the question; without it, it stays open");
}

void Grammar::add_hook() {
    auto const hook = std::make_shared<HookArgs>();
    auto* const h = add("hook", "Permission questions of coding agents, answered from anywhere",
                        "dormouse hook install claude-code\n"
                        "  dormouse hook install codex --timeout 8h --by alice\n"
                        "  dormouse hook uninstall claude-code",
                        hook);
    std::vector<std::string> programs, words{"install", "uninstall"};
    for (HookProgram const* const program : hook_programs) programs.emplace_back(program->word);
    words.insert(words.end(), programs.begin(), programs.end());
    h->add_option("what", hook->what,
                  "install, uninstall: edit the settings of a program; a program: what its hook "
                  "runs, with the question on standard input")
        ->type_name("WHAT")
        ->check(CLI::IsMember(words))
        ->required();
    h->add_option("program", hook->program, "Program whose settings are edited")
        ->type_name("PROGRAM")
        ->check(CLI::IsMember(programs));
    h->add_flag("--here", hook->here, "The settings of this folder instead of your own");
    h->add_option("--timeout", hook->timeout, "Time until the question expires")
        ->type_name("TIME")
        ->capture_default_str();
    h->add_option(
         "--by", hook->by,
         "Person who may answer: a name, or role:answer, role:operate, role:admin; repeatable")
        ->type_name("WHO")
        ->allow_extra_args(false);
}

void Grammar::add_answers() {
    auto const answer = std::make_shared<AnswerArgs>();
    auto* const q = add("answer", "Answer a question",
                        "dormouse answer pnd_… 2\n  dormouse answer pnd_… 'Frankfurt, please' "
                        "--file plan.pdf",
                        answer);
    q->add_option("id", answer->id, "Pending call; a unique beginning is enough (a terminal asks)")
        ->type_name("CALL");
    auto* const text =
        q->add_option("text", answer->text, "Number of a choice, or text; - reads standard input")
            ->type_name("TEXT");
    q->add_option("--json-value", answer->json_value, "A JSON value, for a question with a form")
        ->type_name("JSON")
        ->excludes(text);
    q->add_option("--file", answer->files, "Attach a file (repeatable)")
        ->type_name("FILE")
        ->allow_extra_args(false);

    auto const reassign = std::make_shared<ReassignArgs>();
    auto* const r = add("reassign", "Ask other people to answer a pending call",
                        "dormouse reassign pnd_… --to bob --to role:operate", reassign);
    r->add_option("id", reassign->id,
                  "Pending call; a unique beginning is enough (a terminal asks)")
        ->type_name("CALL");
    r->add_option("--to", reassign->to,
                  "Name of a person, or role:answer, role:operate, role:admin (repeatable)")
        ->type_name("WHO")
        ->allow_extra_args(false)
        ->required();

    auto const claim = std::make_shared<ClaimArgs>();
    auto* const l = add("claim", "Keep other workers away from a pending call for a while",
                        "dormouse claim pnd_… --for 10m", claim);
    l->add_option("id", claim->id, "Pending call; a unique beginning is enough (a terminal asks)")
        ->type_name("CALL");
    auto* const hold = l->add_option("--for", claim->hold, "Duration, up to 1h (500ms, 90s, 10m)")
                           ->type_name("TIME")
                           ->capture_default_str();
    l->add_flag("--release", claim->release, "Release the claim")->excludes(hold);
}

void Grammar::add_moves() {
    constexpr std::pair<char const*, char const*> moves[] = {
        {"resume", "Resume a paused session"},
        {"retry", "Ask the model again after a turn that failed"},
        {"end", "End a session and cancel its pending calls"},
    };
    for (auto const& [name, about] : moves) {
        auto const args = std::make_shared<MoveArgs>(MoveArgs{.move = name, .session = {}});
        auto* const m = add(name, about, std::string("dormouse ") + name + " ses_AAAAAAE", args);
        m->add_option("session", args->session,
                      "Session; a unique beginning is enough (a terminal asks)")
            ->type_name("SESSION");
        if (args->move != "end") add_wait(*m, args->wait);
    }
}

void Grammar::add_life() {
    auto const fork = std::make_shared<ForkArgs>();
    auto* const f = add("fork", "Create a session with the past of another",
                        "dormouse fork ses_AAAAAAE --seq 12", fork);
    f->add_option("session", fork->session,
                  "Session; a unique beginning is enough (a terminal asks)")
        ->type_name("SESSION");
    f->add_option("--seq", fork->seq,
                  "Up to the last committed step at or before this event (default: all)")
        ->type_name("SEQ");
    f->add_option("--title", fork->title, "Title of the new session")->type_name("TEXT");

    auto const moved = std::make_shared<RelocateArgs>();
    auto* const m = add("move", "Continue a session on another server of several with one database",
                        "dormouse move ses_AAAAAAE --to web2", moved);
    m->add_option("session", moved->session,
                  "Session; a unique beginning is enough (a terminal asks)")
        ->type_name("SESSION");
    m->add_option("--to", moved->to, "Name of the server (dormouse doctor lists them)")
        ->type_name("NODE")
        ->required();

    auto const gone = std::make_shared<DeleteArgs>();
    auto* const d = add("delete", "Delete a session with its whole history, for good",
                        "dormouse delete ses_AAAAAAE --yes", gone);
    d->add_option("session", gone->session,
                  "Session; a unique beginning is enough (a terminal asks)")
        ->type_name("SESSION");
    d->add_flag("-y,--yes", gone->yes, "Do not ask for confirmation");

    auto const redact = std::make_shared<RedactArgs>();
    auto* const r =
        add("redact", "Remove messages, calls, mail, tasks, turns, titles, aliases or labels",
            "dormouse redact ses_AAAAAAE msg_… --reason 'a password' --dry-run\n"
            "  dormouse redact ses_AAAAAAE --title --label customer",
            redact);
    r->add_option("session", redact->session,
                  "Session; a unique beginning is enough (a terminal asks)")
        ->type_name("SESSION");
    r->add_option("what", redact->what,
                  "Message (msg_…), call (call_7, pnd_…, in a fork prt_…), mail (mail_…), task "
                  "(tsk_…) or turn (trn_…) with the reason of its cancellation; several of them")
        ->type_name("ID");
    r->add_flag("--title", redact->title, "The title, and all former ones");
    r->add_flag("--alias", redact->alias, "The alias, and all former ones, also in mail");
    r->add_flag("--labels", redact->all_labels, "All labels, also former ones");
    r->add_option("--label", redact->labels, "The label with this key; several of them")
        ->type_name("KEY");
    r->add_option("--reason", redact->reason, "Why: for the audit, without the content")
        ->type_name("TEXT");
    r->add_flag("--forks", redact->forks,
                "Also remove it from forks and from the session they were forked from");
    auto* const archive = r->add_option("--archive", redact->archive,
                                        "In the files of an archive instead of a server")
                              ->type_name("DIR");
    add_key_env(*r, redact->key_env)->needs(archive);
    r->add_flag("--dry-run", redact->dry_run, "Only show what would be removed");
    r->add_flag("-y,--yes", redact->yes, "Do not ask for confirmation");
}

void Grammar::add_mail() {
    auto const mail = std::make_shared<MailArgs>();
    auto* const m = add("mail", "Send a message to an agent's session, or in the name of one",
                        "dormouse mail ops 'what is the state?' --from planner", mail);
    m->add_option("to", mail->to, "Alias or session; * for all sessions with an alias")
        ->type_name("TO")
        ->required();
    m->add_option("text", mail->text, "Message; - for standard input")
        ->type_name("TEXT")
        ->required();
    m->add_option("--from", mail->from, "In the name of this session (default: yours)")
        ->type_name("SESSION");
    m->add_option("--reply-to", mail->reply_to, "The mail that this answers")->type_name("MAIL");
    auto* const resume = m->add_flag("--resume", mail->resume, "Wake it even while it waits");
    m->add_flag("--quiet", mail->quiet, "Do not wake the session; its next turn reads the mail")
        ->excludes(resume);
    m->add_option("--ttl", mail->ttl, "Time to live; unread mail expires after it")
        ->type_name("TIME");

    auto const sent = std::make_shared<SentArgs>();
    auto* const s = add("sent", "Show the delivery of mail: one, a session's, or all undelivered",
                        "dormouse sent\n  dormouse sent planner\n  dormouse sent mail_…_12", sent);
    s->add_option("what", sent->what, "Session or mail (default: quarantined or undelivered mail)")
        ->type_name("SESSION|MAIL");
    s->add_option("--limit", sent->limit, "At most this many (default: 50)")
        ->type_name("N")
        ->check(CLI::Range(1, 200));

    auto const inbox = std::make_shared<InboxArgs>();
    auto* const i = add("inbox", "List the mail of a session",
                        "dormouse inbox ses_AAAAAAE --quarantined", inbox);
    i->add_option("session", inbox->session,
                  "Session; a unique beginning is enough (a terminal asks)")
        ->type_name("SESSION");
    i->add_option("--after", inbox->after, "Only after this number")->type_name("NUMBER");
    i->add_option("--limit", inbox->limit, "At most this many (default: 50)")
        ->type_name("N")
        ->check(CLI::Range(1, 200));
    i->add_flag("--quarantined", inbox->quarantined, "Only quarantined mail");

    auto const release = std::make_shared<ReleaseArgs>();
    auto* const r = add("release", "Release a restored copy that holds, or quarantined mail",
                        "dormouse release\n  dormouse release mail_…", release);
    r->add_option("mail", release->mail,
                  "Quarantined mail, which then wakes its receiver; without it: the restored copy, "
                  "whose work then starts")
        ->type_name("MAIL");

    auto const alias = std::make_shared<AliasArgs>();
    auto* const a = add("alias", "List aliases, or give a session one",
                        "dormouse alias ses_AAAAAAE ops", alias);
    a->add_option("session", alias->session, "Session; a unique beginning is enough")
        ->type_name("SESSION");
    a->add_option("alias", alias->alias, "New alias")->type_name("NAME");
    a->add_flag("--remove", alias->remove, "Remove the alias");
}

}  // namespace dormouse::cli
