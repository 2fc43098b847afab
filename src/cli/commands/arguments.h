#pragma once
// The command line as values. parse() is pure; CLI11 is named by arguments.cc and spelling.cc only.

#include <dormouse/time.h>

#include "cli/client/settings.h"
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
    std::string config;  // --config; empty: look for one
    bool no_config = false;
};
struct DemoArgs {
    bool keep = false;  // the data directory stays
};
struct PromptArgs {
    std::string text;                // "-": standard input
    std::vector<std::string> files;  // images and files to send along
    std::string session;
    bool last = false;
    bool fresh = false;
    std::string agent = {};  // of a new session; empty: demo, or the only one
    std::string when;
    std::string answers;
    bool no_follow = false;
    bool reopen = false;
};
struct SessionsArgs {
    int limit = 20;
    bool all = false;
};
struct ShowArgs {
    std::string id;  // of a session or a pending call
};
struct TailArgs {
    std::string session;
    std::uint64_t after = 0;
    bool no_follow = false;
};
struct PendingArgs {
    std::string session;
    std::string tool;
    std::string status;
    std::string reason;  // a reason of the API, or "timer" or "in_doubt"
    int limit = 50;
};
// All that waits, as it changes, until Ctrl-C.
struct WatchArgs {
    std::string session = {};
    std::string tool = {};
    bool all = false;         // timers too
    Duration interval{1000};  // between two looks
};
// Background tasks of a session.
struct TasksArgs {
    std::string session;         // whose tasks; empty: `task` alone is meant
    std::string start;           // a prompt: begins one …
    std::string agent = "demo";  // … of this agent
    std::string description = {};
    bool fork = false;  // it begins with what was said in the session
    bool tree = false;  // with the tasks of tasks
    std::string task;   // one that is there; whole ids
    enum class What : std::uint8_t { output, resume, cancel, clear } what = What::output;
    std::string message = {};  // resume
    std::string reason = {};   // cancel
    std::string wait = "0s";   // output: how long at most, as written
};
struct AgentsArgs {};
struct ToolsArgs {};
// An outcome or progress for a pending call. Exactly one of text, json_value and file.
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
};
struct DecideArgs {
    bool approved = false;
    std::string id = {};
    std::string reason = {};
    std::string arguments = {};  // JSON
    std::string content = {};    // JSON
};
struct ClaimArgs {
    std::string id;
    std::string hold = "60s";  // number and unit, as written
    bool release = false;
};
struct CancelArgs {
    std::string id;  // of a session or a pending call
    bool all = false;
    std::string reason = {};
};
// resume, retry and end: POST …/{id}/<move>.
struct MoveArgs {
    std::string move;
    std::string session;
};
struct DeleteArgs {
    std::string session;
    bool yes = false;  // do not ask
};
struct ForkArgs {
    std::string session;
    std::uint64_t seq = 0;
    std::string title;
};
struct MailArgs {
    std::string to;    // an alias or a session; "*": everybody
    std::string text;  // "-": standard input
    std::string from;
    std::string reply_to;
    bool resume = false;
    bool quiet = false;
    std::string ttl;  // as written; empty: none
};
// What was sent: by a session, one mail (mail_…), or, when empty, what hangs in the project.
struct SentArgs {
    std::string what;
    int limit = 50;
};
struct InboxArgs {
    std::string session;
    std::uint64_t after = 0;
    int limit = 50;
    bool held = false;
};
struct ReleaseArgs {
    std::string mail;
};
struct AliasArgs {
    std::string session;  // empty: list them
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
    bool check = false;
};
// Sessions that were completed long ago.
struct RetentionArgs {
    std::string audit_after = {};
    std::string dead_deliveries_after = {};
    std::string completed_after = {};  // empty: as the server is configured
    // Of each session: with one of these its oldest turns go, and no session.
    std::int64_t messages = 0;    // 0: not by their number
    std::string older_than = {};  // as written; empty: not by their age
    std::string bytes = {};       // as written, 10MiB; empty: not by the size of the journal
    std::string session = {};     // with one of those, of this session; empty: of all
    bool dry_run = false;
};
// What is sent out; with `retry` or `forget`, that delivery.
struct DeliveriesArgs {
    std::string state = {};
    int limit = 50;
    std::string retry = {};
    std::string forget = {};
};
struct VerifyArgs {};
struct ManArgs {};
struct CompletionArgs {
    std::string shell;
};
// What a shell that completes asks: the ids of a kind that begin so. Silent when it cannot tell.
struct CandidatesArgs {
    std::string kind;
    std::string beginning;
};
struct ConfigArgs {
    std::string what;
    std::string path;
};
// Whom something lets in, and what for.
struct AccessArgs {
    std::string name = {};
    std::string role = {};
    std::vector<std::string> projects = {};
    std::vector<std::string> agents = {};
    std::string ttl = {};  // number and unit, as written; empty: the server's own
};
struct TokenArgs {
    std::string what;  // create, list or revoke
    AccessArgs access;
};
struct LinkArgs {
    AccessArgs access;
    bool qr = false;
};
// As an agent of an editor, on standard input and output.
struct AcpArgs {
    std::string agent = {};  // of new sessions; empty: the only one
};
// A session's tools for the program that is its agent, on standard input and output.
struct McpArgs {
    std::string session = {};
};
// The own screen of the program that is a session's agent.
struct AttachArgs {
    std::string session = {};
};
// Sessions that another program has kept.
struct ImportArgs {
    std::string path = {};
    std::string agent = {};  // that goes on with them
    bool dry_run = false;
};
struct PathsArgs {};
struct BenchArgs {
    int jobs = 8000;
    int rounds = 3;
    std::vector<int> connections = {1, 32, 64};
    std::int64_t dormant = 0;  // 0: not measured
    bool growth = false;
};

using Command =
    std::variant<ServeArgs, DemoArgs, PromptArgs, SessionsArgs, ShowArgs, TailArgs, PendingArgs,
                 WatchArgs, AgentsArgs, ToolsArgs, SubmitArgs, DecideArgs, ClaimArgs, CancelArgs,
                 MoveArgs, DeleteArgs, ForkArgs, ExplainArgs, ArtifactArgs, DoctorArgs, VerifyArgs,
                 ManArgs, CompletionArgs, CandidatesArgs, ConfigArgs, TokenArgs, LinkArgs,
                 PathsArgs, BenchArgs, DeliveriesArgs, TasksArgs, MailArgs, SentArgs, InboxArgs,
                 ReleaseArgs, AliasArgs, AcpArgs, McpArgs, ImportArgs, RetentionArgs, AttachArgs>;

struct Invocation {
    Global global;
    Command command;
};

// Not a command to run: a text to print and the status to end with (help, version, a mistake).
struct Notice {
    int exit = status::done;
    std::string text;
};

// `words` without the program's name.
[[nodiscard]] std::expected<Invocation, Notice> parse(std::vector<std::string> words,
                                                      std::string const& version);

// The grammar as it is told to people: the manual page and shell completion are made from it.
struct OptionInfo {
    std::vector<std::string> names = {};    // "-s", "--session"; a positional has its one bare name
    std::string value = {};                 // what it takes, "SESSION"; empty: a flag
    std::vector<std::string> choices = {};  // when only these words will do
    std::string about = {};
    bool positional = false;
    bool required = false;
};
struct CommandInfo {
    std::string name = {};  // one word
    std::string about = {};
    std::vector<std::string> examples = {};  // lines as one types them
    std::vector<OptionInfo> options = {};    // positionals among them, in their order
    std::vector<CommandInfo> commands = {};
};
// The program itself: its options are those of every command. Without what is hidden from help.
[[nodiscard]] CommandInfo command_table();

}  // namespace dormouse::cli
