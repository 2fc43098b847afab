#pragma once
// One function for each command: parsed arguments in, exit status out. They print through Context
// and reach the server through its client.

#include "cli/client/client.h"
#include "cli/client/saved/settings.h"
#include "cli/commands/arguments/arguments.h"
#include "cli/render/render.h"

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::cli {

struct Screen {
    std::size_t columns = 80;
    std::size_t rows = 24;
};

// The objects that a command may use. They outlive it.
struct Context {
    Global const& global;
    Environment const& env;
    Programs const& programs;
    std::istream& in;
    std::ostream& out;
    std::ostream& err;
    Style style = {};
    std::size_t columns = 0;  // width of the terminal; 0: not a terminal
    // The size of the terminal now; empty: print lines only.
    std::function<Screen()> screen = {};
    bool may_ask = false;  // a person can answer questions
    int output_fd = -1;    // the descriptor behind `out`; -1: unknown
    // Names the terminal (last_list.h); empty: lists are not numbered.
    std::string terminal = {};
    // Why the server to use is unknown; nullopt: it is known.
    std::optional<Failure> no_server = {};
    // Set by the replies of the server that connect() connects to.
    std::shared_ptr<ServerClock> clock = std::make_shared<ServerClock>();

    [[nodiscard]] Outcome<Client> connect(int interrupt_fd = -1,
                                          std::optional<Duration> time_limit = {}) const;
    [[nodiscard]] std::string flags() const { return repeated_flags(global); }
    // The number of the next line of a list; 0: lists are not numbered.
    [[nodiscard]] std::size_t first_line(std::vector<std::string> const& before = {}) const {
        return terminal.empty() ? 0 : before.size() + 1;
    }
    // Remembers what the lines of a list mean, if they are numbered.
    void remember(std::vector<std::string> const& ids) const;
    [[nodiscard]] AsJson as_json() const {
        return {global.json, global.json && !global.text_errors};
    }
    [[nodiscard]] Time now() const { return clock->now(); }
    // Prints the value `json` with --json, else `text`.
    void show(Json const& json, std::string const& text) const;
};

// Returns `text`, or standard input for "-" without its last line break.
[[nodiscard]] Outcome<std::string> text_or_input(Context const& context, std::string const& text);
// Reads a whole file. Fails with usage.
inline constexpr std::size_t file_bytes_max = std::size_t{64} << 20;
[[nodiscard]] Outcome<std::string> file_text(std::string const& path,
                                             std::size_t bytes_max = file_bytes_max);
// Returns a message part with the file's bytes; its type follows from the file's name.
inline constexpr std::size_t sent_file_bytes_max = std::size_t{5} << 20;
[[nodiscard]] Outcome<std::string> file_part(std::string const& path);
// Writes a message part for each file into the open array of `out`.
[[nodiscard]] Outcome<void> write_files(json::Writer& out, std::vector<std::string> const& paths);
// Reads the stored events after `after`, in their order, a page at a time.
[[nodiscard]] Outcome<int> stored_events(Client& client, std::string const& target,
                                         std::uint64_t after,
                                         std::function<void(json::View event)> const& each);
// A connected client and the full id of the call or session that a command names.
struct Found {
    Client client;
    std::string id;
};
// The calls that a person chooses from.
enum class Offered : std::uint8_t { all, approvals };
// An empty id lets a person choose.
[[nodiscard]] Outcome<Found> connect_to_pending(Context const& context, std::string const& id,
                                                Offered offered = Offered::all,
                                                int interrupt_fd = -1);
[[nodiscard]] Outcome<Found> connect_to_session(Context const& context, std::string const& id,
                                                int interrupt_fd = -1);
// Lets a person choose among those that can be retried.
[[nodiscard]] Outcome<Found> connect_to_failed_session(Context const& context,
                                                       std::string const& id, int interrupt_fd);
// On a terminal, where the call may be omitted: a word alone that is no id is the text.
void take_text_alone(Context const& context, std::string& id, std::optional<std::string>& text);
// Parses "90s" as milliseconds. Fails with usage.
[[nodiscard]] Outcome<std::uint64_t> milliseconds(std::string_view flag, std::string_view text);
// Parses the JSON of a flag. Fails with usage.
[[nodiscard]] Outcome<Json> json_argument(std::string_view flag, std::string_view text);

[[nodiscard]] Outcome<int> execute(Context const& context, ServeArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, DemoArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, PromptArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, SessionsArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, ShowArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, TailArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, TimelineArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, PendingArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, DeliveriesArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, AuditArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, WatchArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, TasksArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, AgentsArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, ToolsArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, SubmitArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, DecideArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, ClaimArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, AnswerArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, AskArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, HookArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, ReassignArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, CancelArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, MoveArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, DeleteArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, RelocateArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, ForkArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, ExplainArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, ArtifactArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, DoctorArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, RetentionArgs const& args);
[[nodiscard]] Outcome<int> cut_messages(Context const& context, RetentionArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, RedactArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, VerifyArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, BackupArgs const& args);
// backup --now
[[nodiscard]] Outcome<int> copy_now(Context const& context);
[[nodiscard]] Outcome<int> execute(Context const& context, RestoreArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, CompactArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, UpgradeArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, ArchiveArgs const& args);
// archive.cc: of an archive.
[[nodiscard]] Outcome<int> list_archived(Context const& context, SessionsArgs const& args);
[[nodiscard]] Outcome<int> show_archived(Context const& context, ShowArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, RekeyArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, ManArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, CompletionArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, CandidatesArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, ConfigArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, TokenArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, LinkArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, RulesArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, AttachArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, PathsArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, StatusArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, InitArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, BenchArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, MailArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, SentArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, InboxArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, ReleaseArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, ReloadArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, AliasArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, AcpArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, McpArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, ImportArgs const& args);
// import_running.cc: the server that uses the store an import names: --server, or the one that
// works on the data directory; nullopt: there is none.
[[nodiscard]] std::optional<std::string> working_server(Context const& context,
                                                        std::string const& directory);
// A client of that server.
[[nodiscard]] Outcome<Client> connect_to(Context const& context, std::string const& url);
// Sends an export to the server.
[[nodiscard]] Outcome<int> import_running(Context const& context, std::string const& url,
                                          ImportArgs const& args);
[[nodiscard]] Outcome<int> import_running(Context const& context, std::string const& url,
                                          ImportArgs const& args, std::istream& in);
// import_files.cc: `import files DIR`. `agent`: empty: each session's own.
[[nodiscard]] Outcome<int> import_files(Context const& context, std::string const& folder,
                                        std::string const& agent, bool dry_run);
[[nodiscard]] Outcome<int> execute(Context const& context, ExportArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, TriggerArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, ListenArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, DevArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, LoginArgs const& args);
[[nodiscard]] Outcome<int> execute(Context const& context, ContextArgs const& args);

// Runs the command, prints its failure, if any, and returns the exit status.
[[nodiscard]] int execute(Context const& context, Command const& command);

}  // namespace dormouse::cli
