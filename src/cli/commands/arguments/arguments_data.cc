// Commands that move, copy and rewrite what is stored.

#include "cli/commands/arguments/grammar.h"

#include <memory>
#include <string>

namespace dormouse::cli {

// The option of commands that open a store without the configuration.
CLI::Option* Grammar::add_key_env(CLI::App& command, std::string& name) {
    return command
        .add_option(
            "--key-env", name,
            "Variable with the keys of an encrypted store, as encryption_key_env of [store]")
        ->type_name("NAME");
}

void Grammar::add_verify() {
    auto const verify = std::make_shared<VerifyArgs>();
    auto* const v = add("verify", "Check a data directory that no server uses, or a database",
                        "dormouse verify --data ./sessions", verify);
    auto* const store =
        v->add_option("--store", verify->store,
                      "postgres://… instead of the data directory; servers may use it meanwhile")
            ->type_name("URL");
    auto* const backup = v->add_option("--backup", verify->backup,
                                       "A backup instead of the data directory; -: standard input, "
                                       "which `dormouse backup -` wrote")
                             ->type_name("DIR")
                             ->excludes(store);
    v->add_option("--archive", verify->archive, "An archive instead of the data directory")
        ->type_name("DIR")
        ->excludes(store)
        ->excludes(backup);
    v->add_flag("--rebuild", verify->rebuild,
                "Afterwards make the files of --index files in the data directory again; with "
                "--archive before, the indexes that are missing or damaged")
        ->excludes(backup);
    v->add_option("--key", verify->key, "Key of an encrypted backup")
        ->type_name("FILE")
        ->needs(backup);
    add_key_env(*v, verify->key_env);
}

void Grammar::add_backup() {
    auto const backup = std::make_shared<BackupArgs>();
    auto* const b = add("backup", "Back up a data directory, also while its server runs",
                        "dormouse backup /backup/dormouse\n  dormouse backup - > dormouse.tar\n"
                        "  dormouse backup --now",
                        backup);
    auto* const target =
        b->add_option(
             "target", backup->target,
             "Directory, to which only what changed since its last backup is written; - writes "
             "a tar archive to standard output")
            ->type_name("DIR");
    auto* const key =
        b->add_option(
             "--key", backup->key,
             "Encrypt with the key in this file: 64 hexadecimal digits (openssl rand -hex 32)")
            ->type_name("FILE");
    b->add_flag("--now", backup->now,
                "Let the server bring its continuous copy ([backup]) up to date, and wait until it "
                "has everything that was acknowledged before")
        ->excludes(target)
        ->excludes(key);

    auto const restore = std::make_shared<RestoreArgs>();
    auto* const r = add("restore", "Write a backup into an empty data directory",
                        "dormouse restore /backup/dormouse --data ./restored\n"
                        "  dormouse restore s3://backups/dormouse --at 2026-11-22T08:00:00Z "
                        "--data ./restored",
                        restore);
    r->add_option("backup", restore->backup,
                  "Directory of a backup or of a continuous copy; s3://BUCKET/PREFIX of one; -: "
                  "standard input, which `dormouse backup -` wrote (AWS_ACCESS_KEY_ID, "
                  "AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL, AWS_REGION)")
        ->type_name("DIR")
        ->required();
    r->add_option("--key", restore->key, "Key of an encrypted backup")->type_name("FILE");
    r->add_option("--at", restore->at,
                  "Continuous copy: the newest state up to this time, such as "
                  "2026-11-22T08:00:00Z; default: the newest one")
        ->type_name("TIME");
}

void Grammar::add_compact() {
    auto const args = std::make_shared<CompactArgs>();
    add("compact", "Give free space of the database back, also while its server runs",
        "dormouse compact --data ./sessions", args)
        ->add_option("--store", args->store, "postgres://… instead of the data directory")
        ->type_name("URL");
}

void Grammar::add_upgrade() {
    auto const args = std::make_shared<UpgradeArgs>();
    auto* const u = add("upgrade", "Say how far the upgrade of a shared database is, or finish it",
                        "dormouse upgrade --store postgres://dormouse@db.example.org/agents\n"
                        "  dormouse upgrade --finish --store "
                        "postgres://dormouse@db.example.org/agents",
                        args);
    u->add_option("--store", args->store,
                  "postgres://… that the servers share; a data directory is upgraded at the start "
                  "of its server")
        ->type_name("URL")
        ->required();
    u->add_flag("--finish", args->finish,
                "Write the newest format from now on; refused while a server of an older release "
                "works. Older releases cannot start afterwards");
}

void Grammar::add_rekey() {
    auto const args = std::make_shared<RekeyArgs>();
    auto* const r =
        add("rekey", "Encrypt all that is stored; beside servers, only the keys that encrypt it",
            "dormouse rekey --data ./sessions --key-env DORMOUSE_ENCRYPTION_KEY", args);
    auto* const store =
        r->add_option("--store", args->store, "postgres://… instead of the data directory")
            ->type_name("URL");
    r->add_option("--archive", args->archive, "The files of an archive instead of a store")
        ->type_name("DIR")
        ->excludes(store);
    add_key_env(*r, args->key_env)->required();
}

void Grammar::add_audit() {
    auto const audit = std::make_shared<AuditArgs>();
    auto* const a = add("audit", "Who did what, newest first; whether a line was changed",
                        "dormouse audit --by alice --type submitted\n"
                        "  dormouse audit --verify",
                        audit);
    auto* const session =
        a->add_option("-s,--session", audit->session, "Only of this session")->type_name("SESSION");
    auto* const by =
        a->add_option("--by", audit->by, "Only by this token or person")->type_name("NAME");
    auto* const type =
        a->add_option("--type", audit->type, "Only of this type, such as submitted, redacted")
            ->type_name("TYPE");
    auto* const limit = a->add_option("--limit", audit->limit, "At most this many")
                            ->type_name("N")
                            ->check(CLI::Range(1, 200));
    a->add_flag("--verify", audit->verify, "Verify the chain of all lines instead")
        ->excludes(session)
        ->excludes(by)
        ->excludes(type)
        ->excludes(limit);
}

void Grammar::add_retention() {
    auto const retention = std::make_shared<RetentionArgs>();
    auto* const old =
        add("retention", "Delete what is old: completed sessions, messages, audit, dead webhooks",
            "dormouse retention --dry-run --completed-after 30d\n"
            "  dormouse retention --older-than 90d --bytes 10MiB --session ses_AAAAAAE",
            retention);
    old->add_flag("--dry-run", retention->dry_run, "Only report what would be deleted");
    old->add_option("--completed-after", retention->completed_after,
                    "Sessions that completed longer ago (completed_after of [retention])")
        ->type_name("TIME");
    old->add_option("--audit-after", retention->audit_after,
                    "Audit lines older than this (audit_after)")
        ->type_name("TIME");
    old->add_option("--dead-deliveries-after", retention->dead_deliveries_after,
                    "Delete webhooks given up more than this long ago (dead_deliveries_after)")
        ->type_name("TIME");
    old->add_option("--messages", retention->messages,
                    "Instead: the oldest tenth of the messages of sessions with this many")
        ->type_name("N")
        ->check(CLI::Range(100, 16'777'215));
    old->add_option("--older-than", retention->older_than,
                    "Instead: turns that ended longer ago than this")
        ->type_name("TIME");
    old->add_option("--bytes", retention->bytes,
                    "Instead: the oldest turns of sessions whose journal is larger than this")
        ->type_name("SIZE");
    old->add_option("--session", retention->session, "With one of these: this session only")
        ->type_name("SESSION");
}

void Grammar::add_import() {
    auto const import = std::make_shared<ImportArgs>();
    auto* const i =
        add("import",
            "Import sessions: of an export, of opencode or another agent, or files of an index",
            "dormouse import sessions.jsonl --data ./copy\n"
            "  dormouse import ~/.local/share/opencode --agent ops --dry-run\n"
            "  dormouse import claude-code ~/.claude/projects/*/*.jsonl --agent ops\n"
            "  dormouse import files /backup/dormouse",
            import);
    i->add_option(
         "path", import->from,
         "A file of `dormouse export`, or - for standard input; opencode's data folder, "
         "its opencode.db, or a file of `opencode export`; files DIR; or claude-code, codex or "
         "gemini and their transcripts")
        ->type_name("PATH")
        ->expected(1, 100'000)
        ->required();
    i->add_option("-a,--agent", import->agent, "Agent that continues foreign sessions")
        ->type_name("AGENT");
    i->add_flag("--dry-run", import->dry_run, "Only report what would be imported");
    i->add_option("--store", import->store,
                  "Export: into postgres://… instead of the data directory; no server may "
                  "use either meanwhile")
        ->type_name("URL");
    add_key_env(*i, import->key_env);
    auto* const renamed =
        i->add_flag("--new-ids", import->new_ids,
                    "Export: give each session a new id, also in all that names it");
    i->add_flag("--restore-deleted", import->restore_deleted,
                "Export: also restore completed sessions that were deleted here, with their ids")
        ->excludes(renamed);
    i->add_flag("--start", import->start,
                "Export: do not hold; the next server continues what the sessions did");
}

void Grammar::add_export() {
    auto const args = std::make_shared<ExportArgs>();
    auto* const e = add("export", "Whole sessions as JSON lines, also while a server runs",
                        "dormouse export > sessions.jsonl\n"
                        "  dormouse export ses_AAAAAAE --events --server https://example.org",
                        args);
    e->add_option("session", args->sessions,
                  "Sessions (all of the project); a unique beginning is enough")
        ->type_name("SESSION");
    add_key_env(*e, args->key_env);
    auto* const store =
        e->add_option("--store", args->store, "postgres://… instead of the data directory")
            ->type_name("URL");
    e->add_flag("--all-projects", args->all_projects, "Include all projects");
    e->add_flag("--events", args->events,
                "Only events and artifacts, from a server: for reading, not for import")
        ->excludes(store);
    e->add_option("--archive", args->archive, "Out of an archive instead of a store")
        ->type_name("DIR")
        ->excludes(store);
}

void Grammar::add_archive() {
    auto const args = std::make_shared<ArchiveArgs>();
    auto* const a =
        add("archive", "Move completed sessions into files, which show still reads",
            "dormouse archive ./archive --completed-after 90d\n"
            "  dormouse archive ./archive --completed-after 90d --all-projects --dry-run\n"
            "  dormouse archive ./archive --restore ses_AAAAAAE",
            args);
    a->add_option("directory", args->directory, "Folder of the files; is made if it does not exist")
        ->type_name("DIR")
        ->required();
    auto* const age = a->add_option("--completed-after", args->completed_after,
                                    "Sessions that completed longer ago than this")
                          ->type_name("TIME");
    auto* const back = a->add_option("--restore", args->restore,
                                     "Instead: bring these sessions back under their ids; a "
                                     "unique beginning is enough")
                           ->type_name("SESSION")
                           ->excludes(age);
    a->add_option("--store", args->store, "postgres://… instead of the data directory")
        ->type_name("URL");
    a->add_flag("--all-projects", args->all_projects, "Include all projects")->excludes(back);
    a->add_flag("--dry-run", args->dry_run, "Only report what would be done");
    a->add_flag("--plain", args->plain, "Files that are not encrypted, in spite of --key-env")
        ->excludes(back);
    add_key_env(*a, args->key_env)
        ->description(
            "The variable with the keys of the store; the first one also encrypts the "
            "files");
}

}  // namespace dormouse::cli
