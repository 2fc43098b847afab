#pragma once
// The parsed command line. parse() is pure; only arguments.cc and spelling.cc include CLI11.

#include <dormouse/time.h>

#include "cli/client/saved/settings.h"
#include "cli/commands/cli.h"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace dormouse::cli {

struct ServeArgs {
    ServeOptions options;
    std::string config;  // --config; empty: search the default places
    bool no_config = false;
};
struct DemoArgs {
    bool keep = false;                   // keep the data directory
    std::optional<unsigned> nodes = {};  // several servers
    std::string store = {};              // their database
};
struct PromptArgs {
    std::string text;                // "-": standard input
    std::vector<std::string> files;  // files to attach
    std::string session;
    bool last = false;
    bool fresh = false;
    std::string agent = {};  // of a new session; empty: demo, or the only agent
    std::string when;
    std::string answers;
    bool no_follow = false;
    bool reopen = false;
    std::string wait = {};  // as written; "true": without a time; empty: not given
};
struct SessionsArgs {
    int limit = 20;
    bool all = false;
    std::string archive = {};  // the directory of one, instead of a server; empty: none
    std::string key_env = {};  // of the archive
};
struct ShowArgs {
    std::string id;            // of a session or a pending call
    std::string archive = {};  // the directory of one, instead of a server; empty: none
    std::string key_env = {};  // of the archive
};
struct TailArgs {
    std::string session;
    std::uint64_t after = 0;
    bool no_follow = false;
};
struct TimelineArgs {
    std::string session;
};
struct PendingArgs {
    std::string session;
    std::string tool;
    std::string status;
    std::string reason;  // a reason of the API, "timer" or "in_doubt"
    int limit = 50;
};
// Follows the open calls as they change, until Ctrl-C.
struct WatchArgs {
    std::string session = {};
    std::string tool = {};
    bool all = false;         // timers too
    Duration interval{1000};  // time between two reads
};
// Background tasks of a session.
struct TasksArgs {
    std::string session;         // the parent; may be empty with `task`
    std::string start;           // the prompt of a new task
    std::string agent = "demo";  // its agent
    std::string description = {};
    bool fork = false;  // the task begins with a copy of the session's messages
    bool tree = false;  // include the tasks of tasks
    std::string task;   // an existing task; a whole id
    enum class What : std::uint8_t { output, resume, cancel, clear } what = What::output;
    std::string message = {};  // resume
    std::string reason = {};   // cancel
    std::string wait = "0s";   // output: the longest wait, as written
};
struct AgentsArgs {};
struct ToolsArgs {};
// An outcome or progress for a pending call. Exactly one of text, json_value and file is set.
struct SubmitArgs {
    enum class Kind : std::uint8_t { result, error, progress };
    Kind kind = Kind::result;
    std::string id = {};
    std::optional<std::string> text = {};  // "-": standard input
    std::optional<std::string> json_value = {};
    std::optional<std::string> file = {};  // *.json is JSON, everything else text
    std::string title = {};
    std::string metadata = {};  // JSON object
    std::string key = {};       // progress
    std::string wait = {};      // as in PromptArgs
};
struct DecideArgs {
    bool approved = false;
    std::string id = {};
    std::string reason = {};
    std::string arguments = {};  // JSON
    std::string content = {};    // JSON
    // A standing rule: also allows later calls of the session, or of the project (always).
    bool session = false;
    bool always = false;
    std::string lifetime = {};            // as written; empty: the default
    std::vector<std::string> match = {};  // arguments that must be equal; empty: all
    std::string wait = {};                // as in PromptArgs
};
// Standing rules.
struct RulesArgs {
    std::string what = "list";  // list, revoke
    std::string id = {};        // revoke; a unique beginning is enough
};
// The answer to a question. At least one of text, json_value and files is set.
struct AnswerArgs {
    std::string id = {};
    std::optional<std::string> text = {};  // the number of a choice, or text; "-": standard input
    std::optional<std::string> json_value = {};
    std::vector<std::string> files = {};
};
// Asks people, and waits for the answer.
struct AskArgs {
    std::string question = {};  // "-": standard input
    bool approve = false;       // approve or deny, instead of an answer
    std::vector<std::string> choices = {};
    std::string schema = {};  // a file
    std::string tool = {};
    std::vector<std::string> arguments = {};  // KEY=TEXT, KEY:=JSON
    std::vector<std::string> by = {};         // names, or "role:…"
    int votes = 1;
    std::string timeout = {};  // as written; empty: none
    std::string remind = {};   // as written; empty: the server's default
    std::string key = {};      // Idempotency-Key; empty: a new one
    bool no_wait = false;
    std::string wait = {};  // an existing call, instead of a question
    bool cancel_on_exit = false;
};
// Asks people for a coding agent, or edits the agent's settings.
struct HookArgs {
    std::string what = {};     // install, uninstall, or the word of a program
    std::string program = {};  // of install and uninstall
    bool here = false;         // the settings of this folder
    std::vector<std::string> by = {};
    std::string timeout = "1h";  // as written
};
struct ReassignArgs {
    std::string id;
    std::vector<std::string> to;  // names, or "role:…"
};
struct ClaimArgs {
    std::string id;
    std::string hold = "60s";  // number and unit as written
    bool release = false;
};
struct CancelArgs {
    std::string id;  // of a session or a pending call
    bool all = false;
    std::string reason = {};
};
// resume, retry and end: POST …/{id}/{move}.
struct MoveArgs {
    std::string move;
    std::string session;
    std::string wait = {};  // as in PromptArgs
};
// The server on which the session continues.
struct RelocateArgs {
    std::string session;
    std::string to;
};
struct DeleteArgs {
    std::string session;
    bool yes = false;  // do not ask for confirmation
};
struct RedactArgs {
    std::string session;
    std::vector<std::string> what;    // messages, calls, pending calls, mail, tasks, turns, parts
    std::vector<std::string> labels;  // keys
    bool title = false, alias = false, all_labels = false;
    std::string reason;
    bool forks = false;
    bool dry_run = false;
    bool yes = false;
    std::string archive = {};  // a directory of files, instead of a server; empty: none
    std::string key_env = {};  // of the archive
};
struct ForkArgs {
    std::string session;
    std::uint64_t seq = 0;
    std::string title;
};
struct MailArgs {
    std::string to;    // an alias, a session, or "*" for all
    std::string text;  // "-": standard input
    std::string from;
    std::string reply_to;
    bool resume = false;
    bool quiet = false;
    std::string ttl;  // as written; empty: none
};
// Lists sent mail: of one session, one message (mail_…), or, when empty, the undelivered mail of
// the project.
struct SentArgs {
    std::string what;
    int limit = 50;
};
struct InboxArgs {
    std::string session;
    std::uint64_t after = 0;
    int limit = 50;
    bool quarantined = false;
};
struct ReleaseArgs {
    std::string mail;  // empty: the hold of a restored copy
};
struct ReloadArgs {};
struct AliasArgs {
    std::string session;  // empty: list the aliases
    std::string alias;
    bool remove = false;
};
struct ExplainArgs {
    std::string id;
};
struct ArtifactArgs {
    std::string id;
    std::string file;  // empty: standard output
};
struct DoctorArgs {
    bool repair = false;
    bool all = false;
    bool check = false;
};
// Deletes sessions that completed long ago.
struct RetentionArgs {
    std::string audit_after = {};
    std::string dead_deliveries_after = {};
    std::string completed_after = {};  // as written; empty: the server's configuration
    // With one of these, the oldest turns of each session are deleted, and no session.
    std::int64_t messages = 0;    // 0: no limit by number
    std::string older_than = {};  // as written; empty: no limit by age
    std::string bytes = {};       // as written, 10MiB; empty: no limit by the size of the journal
    std::string session = {};     // limits these to one session; empty: all
    bool dry_run = false;
};
// Lists deliveries; with `retry` or `forget`, acts on that delivery.
struct DeliveriesArgs {
    std::string state = {};
    int limit = 50;
    std::string retry = {};
    std::string forget = {};
};
// Lists lines of the audit; with `verify`, compares all of them.
struct AuditArgs {
    std::string session = {};
    std::string by = {};
    std::string type = {};
    int limit = 50;
    bool verify = false;
};
// Sends a signed sample of a source's webhook. One of call and body is set, except on a terminal.
struct TriggerArgs {
    std::string source = {};
    std::string call = {};
    std::optional<std::string> text = {};  // the output; "-": standard input
    std::optional<std::string> json_value = {};
    std::optional<std::string> error = {};
    std::string body = {};  // a file; "-": standard input
    std::string config = {};
    std::string button = {};  // "approve" or "deny": of a message of slack-bot
    std::string as = {};      // who presses it: a [[user]]
    bool print = false;       // print the request, and send nothing
    bool own = false;         // by the call's own secret; `source` is the call, `call` the output
    std::string secret_env = {};  // the variable with that secret; empty: that of the call's tool
};
// Signs what it receives as a source does, and forwards it to the server.
struct ListenArgs {
    std::string source = {};
    std::uint16_t port = 0;
    std::string config = {};
};
struct VerifyArgs {
    std::optional<std::string> store = {};
    std::string backup = {};  // a directory, instead of the data directory
    std::string key = {};
    bool rebuild = false;      // the file index, or indexes of the archive
    std::string archive = {};  // a directory of files, instead of the data directory
    std::string key_env = {};
};
struct BackupArgs {
    std::string target = {};  // "-": standard output
    std::string key = {};
    bool now = false;  // in place of a target: the server's continuous copy
};
struct RestoreArgs {
    std::string backup = {};
    std::string key = {};
    std::string at = {};
};
struct ManArgs {};
struct CompletionArgs {
    std::string shell;
};
// Shell completion: lists ids of a kind that begin with `beginning`. Prints nothing on an error.
struct CandidatesArgs {
    std::string kind;
    std::string beginning;
};
struct ConfigArgs {
    std::string what;
    std::string path;
};
// The holder of a token or link: name, role and limits.
struct AccessArgs {
    std::string name = {};
    std::string role = {};
    std::vector<std::string> projects = {};
    std::vector<std::string> agents = {};
    std::string ttl = {};  // number and unit as written; empty: the server's default
};
struct TokenArgs {
    std::string what;  // create, list or revoke
    AccessArgs access;
};
struct LinkArgs {
    AccessArgs access;
    bool qr = false;
};
// Runs a server of its own, and starts it again when its configuration changes.
struct DevArgs {
    std::string config = {};  // empty: that of this folder, or where serve looks
    bool demo = false;        // no configuration
    bool no_open = false;     // do not open the inbox in a browser
    std::string listen = "127.0.0.1:0";
};
// Signs in to a server, and uses it from then on.
struct LoginArgs {
    std::string url = {};
    std::string name = {};        // of the context; empty: the server's host
    std::string token_file = {};  // empty: asks on a terminal, else reads standard input
};
struct ContextArgs {
    std::string what = "list";  // list, use, remove
    std::string name = {};
};
// Runs as an agent of an editor, on standard input and output.
struct AcpArgs {
    std::string agent = {};  // of new sessions; empty: the only agent
};
// Offers a session's tools to its external agent, on standard input and output.
struct McpArgs {
    std::string session = {};
    std::vector<std::string> serve = {};  // names of foreign MCP servers
};
// Opens the own screen of a session's external agent.
struct AttachArgs {
    std::string session = {};
};
// Imports sessions of an export, or that another program has stored.
struct ImportArgs {
    std::vector<std::string> from = {};  // a path; or a word and paths
    std::string agent = {};              // the agent that continues them; empty: their own
    bool dry_run = false;
    // Options of an export:
    std::optional<std::string> store = {};
    bool new_ids = false;
    bool restore_deleted = false;
    bool start = false;
    std::string key_env = {};
};
// Moves completed sessions into files, or some back. One of the first two is set.
struct ArchiveArgs {
    std::string completed_after = {};  // as written
    std::vector<std::string> restore = {};
    std::string directory = {};
    std::optional<std::string> store = {};
    std::string key_env = {};
    bool plain = false;
    bool all_projects = false;
    bool dry_run = false;
};
// Prints sessions as JSON lines.
struct ExportArgs {
    std::vector<std::string> sessions = {};  // empty: all of the project
    std::optional<std::string> store = {};
    bool all_projects = false;
    bool events = false;       // for reading, from a server
    std::string archive = {};  // the directory of one, instead of a store; empty: none
    std::string key_env = {};
};
struct CompactArgs {
    std::optional<std::string> store = {};
};
// Servers of two releases on one database.
struct UpgradeArgs {
    std::string store = {};
    bool finish = false;
};
struct RekeyArgs {
    std::string archive = {};  // the directory of one, instead of a store; empty: none
    std::optional<std::string> store = {};
    std::string key_env = {};
};
struct PathsArgs {};
struct StatusArgs {};
// Writes a first configuration and an example tool.
struct InitArgs {
    std::string folder = {};  // empty: where serve looks for the configuration
    bool yes = false;         // ask nothing
};
struct BenchArgs {
    int jobs = 8000;
    int rounds = 3;
    std::vector<int> connections = {1, 32, 64};
    std::int64_t dormant = 0;  // 0: not measured
    bool growth = false;
    std::vector<std::string> on = {};  // servers that run; empty: starts its own
    int history = 0;                   // bytes of text that each session has before it pauses
};

using Command =
    std::variant<ServeArgs, DemoArgs, PromptArgs, SessionsArgs, ShowArgs, TailArgs, PendingArgs,
                 WatchArgs, AgentsArgs, ToolsArgs, SubmitArgs, DecideArgs, ClaimArgs, AnswerArgs,
                 AskArgs, ReassignArgs, CancelArgs, MoveArgs, RelocateArgs, DeleteArgs, ForkArgs,
                 ExplainArgs, ArtifactArgs, DoctorArgs, VerifyArgs, ManArgs, CompletionArgs,
                 CandidatesArgs, ConfigArgs, TokenArgs, LinkArgs, PathsArgs, BenchArgs,
                 DeliveriesArgs, AuditArgs, TasksArgs, MailArgs, SentArgs, InboxArgs, ReleaseArgs,
                 AliasArgs, AcpArgs, McpArgs, ImportArgs, RetentionArgs, AttachArgs, TimelineArgs,
                 RulesArgs, HookArgs, BackupArgs, RestoreArgs, StatusArgs, InitArgs, ExportArgs,
                 CompactArgs, TriggerArgs, ListenArgs, LoginArgs, ContextArgs, DevArgs, ReloadArgs,
                 RedactArgs, UpgradeArgs, ArchiveArgs, RekeyArgs>;

struct Invocation {
    Global global;
    Command command;
};

// A text to print and the exit status, in place of a command (help, version, a usage error).
struct Notice {
    int exit = status::done;
    std::string text;
};

// Parses `words`, which do not contain the program's name.
[[nodiscard]] std::expected<Invocation, Notice> parse(std::vector<std::string> words,
                                                      std::string const& version);

// A description of the grammar, from which the manual page and shell completion are made.
struct OptionInfo {
    std::vector<std::string> names =
        {};                  // "-s", "--session"; a positional has one name without dashes
    std::string value = {};  // name of the value, "SESSION"; empty: a flag
    std::vector<std::string> choices = {};  // the only values allowed; empty: any
    std::string about = {};
    bool positional = false;
    bool required = false;
};
struct CommandInfo {
    std::string name = {};  // one word
    std::string about = {};
    std::vector<std::string> examples = {};  // complete command lines
    std::vector<OptionInfo> options = {};    // positionals among them, in their order
    std::vector<CommandInfo> commands = {};
};
// Describes the program itself; its options are those of every command. Leaves out what help hides.
[[nodiscard]] CommandInfo command_table();

}  // namespace dormouse::cli
