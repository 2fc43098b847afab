#pragma once
// What dormouse.toml says, as plain values. A Config that read_config() returned is whole: every
// reference has its target, every file was read, every variable of the environment was set.

#include <dormouse/json.h>
#include <dormouse/time.h>

#include "session/mail.h"
#include "session/vocabulary.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::config {

// A value from the environment. The file names the variable only; the value is never shown.
struct Secret {
    std::string env;
    std::string value;
    friend bool operator==(Secret const&, Secret const&) = default;
};

// A header to send. `env` names the variable that `value` came from (behind a prefix); empty: a
// constant.
struct Header {
    std::string name;
    std::string value;
    std::string env = {};
    friend bool operator==(Header const&, Header const&) = default;
};

struct Server {
    std::string listen = "127.0.0.1:3676";
    std::string public_url = {};  // without a slash at its end; empty: not known
    std::vector<std::string> allowed_hosts = {};
    std::vector<std::string> allowed_origins = {};
    // Networks whose X-Forwarded-For and X-Forwarded-Proto are believed: "10.0.0.0/8".
    std::vector<std::string> trusted_proxies = {};
    std::string tls_cert = {};        // PEM file; empty: plain HTTP
    std::string tls_key = {};         // set if and only if tls_cert is
    std::string metrics_listen = {};  // HOST:PORT where GET /metrics needs no token; empty: nowhere
    // Besides public addresses by https: host[:port] that webhooks may be sent to.
    std::vector<std::string> webhook_hosts = {};
    std::optional<bool> demo = {};  // nullopt: while no agent is configured
    // Whoever is asked and does not answer; nullopt: nobody is reminded unless a gate says so.
    std::optional<Duration> remind_after = {};
    std::optional<Duration> remind_every = {};
    friend bool operator==(Server const&, Server const&) = default;
};

struct Store {
    std::string url = "sqlite";  // or "memory"
    friend bool operator==(Store const&, Store const&) = default;
};

struct Limits {
    std::uint32_t submissions_per_token_per_s = 1'000;
    std::uint32_t submissions_per_call_per_s = 200;
    std::uint32_t failed_auth_per_address_per_s = 10;
    std::uint32_t connections = 10'000;
    std::uint32_t connections_per_address = 1'000;
    std::uint32_t buffer_bytes = std::uint32_t{256} << 20;
    std::uint32_t header_bytes = 32'768;
    Duration header_time_limit{10'000};
    Duration body_time_limit{60'000};
    Duration idle_time_limit{75'000};
    Duration heartbeat{15'000};
    std::uint32_t resident_sessions = 16'384;
    std::uint32_t resident_bytes = 268'435'456;
    std::uint32_t validators_at_once = 8;
    std::uint32_t validators_waiting = 1'000;
    std::uint32_t prompt_bytes = 1'048'576;
    std::uint32_t output_bytes = 1'048'576;
    std::uint32_t queued_prompts = 100;
    std::uint32_t open_calls = 10'000;
    std::uint32_t calls_per_reply = 1'000;
    std::uint32_t progress_per_s = 10;
    std::uint32_t progress_per_call = 10'000;
    friend bool operator==(Limits const&, Limits const&) = default;
};

struct Retention {
    std::optional<Duration> completed_after = {};  // nullopt: completed sessions are kept
    std::optional<Duration> audit_after = {};      // nullopt: all lines of the audit are kept
    std::optional<Duration> dead_deliveries_after = std::chrono::days(30);  // nullopt: are kept
    // Of each session; nullopt: all are kept.
    std::optional<std::uint32_t> messages_per_session = {};
    std::optional<Duration> message_age = {};
    std::optional<std::uint32_t> session_bytes = {};  // of its journal
    friend bool operator==(Retention const&, Retention const&) = default;
};

enum class ModelKind : std::uint8_t {
    scripted,
    openai_chat,
    openai_responses,
    anthropic,
    gemini,
    ollama
};
[[nodiscard]] std::string_view text(ModelKind kind);

struct Model {
    std::string id;
    ModelKind kind = ModelKind::scripted;
    std::string model = {};     // the provider's name for it; empty for scripted only
    std::string base_url = {};  // empty: the kind's own
    std::optional<Secret> api_key = {};
    Duration timeout{600'000};  // of one request
    std::uint32_t retries = 4;  // of one step, after failures that may pass
    std::optional<std::uint32_t> max_output_tokens = {};
    std::optional<std::uint32_t> context_tokens = {};
    bool images = true;              // the model sees them
    std::optional<bool> files = {};  // nullopt: as is usual for the kind and its provider
    std::vector<Header> headers = {};
    std::uint32_t concurrency = 8;  // requests at once; the others wait, oldest first
    Json extra = {};                // an object whose members are sent along, or null
    std::uint32_t line = 0;         // of its heading
    friend bool operator==(Model const&, Model const&) = default;
};

enum class ProgramFiles : std::uint8_t { none, read, write };

// One that speaks ACP, in the place of a model.
struct AgentProgram {
    std::vector<std::string> command = {};  // empty: there is none
    std::vector<std::string> roots = {};    // absolute; empty: the folder of the file
    std::vector<std::string> env_allow = {};
    session::OnRestart on_restart = session::OnRestart::resume;
    std::string auth_method = {};  // empty: none
    std::string mode = {};         // empty: its own
    Json options = {};             // an object of texts and truths, or null
    // What it may ask of us in the folder of its session.
    ProgramFiles files = ProgramFiles::none;
    bool terminals = false;
    bool sandbox = false;     // by bwrap
    std::string run_as = {};  // a user; empty: the server's
    Duration idle_stop{600'000};
    std::uint32_t history_tokens = 16'000;
    // Its processes are one user's, whatever project they work for, and see each other.
    [[nodiscard]] bool shares_a_user() const { return !command.empty() && !sandbox; }
    // That user is the server's: it can read and write all that the server can.
    [[nodiscard]] bool is_unconfined() const { return shares_a_user() && run_as.empty(); }
    friend bool operator==(AgentProgram const&, AgentProgram const&) = default;
};

struct Agent {
    std::string id;
    std::string description = {};
    std::string model = {};  // the id of a Model
    std::string instructions = {};
    std::vector<std::string> tools = {};  // names, patterns resolved, in the order of the file
    session::Join join = {};
    std::uint32_t tool_concurrency = 8;
    std::uint32_t step_limit = 50;
    AgentProgram program = {};
    std::uint32_t line = 0;  // of its heading
    friend bool operator==(Agent const&, Agent const&) = default;
};

enum class ToolKind : std::uint8_t { http, command };
// What an HTTP tool's answer means "later": only 202, every 2xx, or none.
enum class Later : std::uint8_t { only_202, any_2xx, never };

// Asks elsewhere until the result is there, for results that nobody can push.
struct Poll {
    std::string url;
    Duration every{30'000};
    std::string done = {};    // JSON pointer into the answer: a value that is true when it is done
    std::string output = {};  // JSON pointer to the result; empty: the whole answer
    friend bool operator==(Poll const&, Poll const&) = default;
};

struct HttpTool {
    std::string method = "POST";
    std::string url = {};  // with {input.NAME} as whole path segments or query values
    std::vector<Header> headers = {};
    Json body = {};  // a template; null: the standard body
    Later later = Later::only_202;
    std::string external_ref = {};  // JSON pointer into the answer
    std::optional<Secret> secret = {};
    std::optional<Poll> poll = {};
    friend bool operator==(HttpTool const&, HttpTool const&) = default;
};

struct CommandTool {
    std::vector<std::string> command = {};  // the program and its arguments; no shell
    std::string cwd = {};                   // absolute; empty: the server's own
    std::vector<std::string> env_allow = {};
    bool later = true;  // its result may come after it has ended
    friend bool operator==(CommandTool const&, CommandTool const&) = default;
};

// Checks results before they are taken.
struct Validator {
    std::vector<std::string> command = {};  // the program and its arguments; no shell
    std::string cwd = {};                   // absolute; empty: the server's own
    std::vector<std::string> env_allow = {};
    Duration time_limit{10'000};
    friend bool operator==(Validator const&, Validator const&) = default;
};

struct Tool {
    std::string name;
    ToolKind kind = ToolKind::http;
    std::string description = {};
    Json input_schema = {};   // {"type":"object"} when no file is named
    Json result_schema = {};  // null: any result
    std::optional<Validator> validator = {};
    session::CrashPolicy crash = session::CrashPolicy::never;
    // Of a pause; nullopt: the reason's own default; Duration::max(): none.
    std::optional<Duration> timeout = {};
    Duration time_limit{600'000};  // of one attempt
    std::optional<Duration> estimated = {};
    std::optional<Duration> warn_before = {};   // of a deadline
    std::string webhook_url = {};               // told when a pause of it ends
    std::optional<Secret> webhook_secret = {};  // signs webhooks about its pauses, both ways
    HttpTool http = {};                         // when kind is http
    CommandTool command = {};                   // when kind is command
    std::uint32_t line = 0;                     // of its heading
    friend bool operator==(Tool const&, Tool const&) = default;
};

enum class OnExpiry : std::uint8_t { deny, tell };

struct Gate {
    std::string id;  // names it in the journal; its patterns joined when the file gives none
    std::vector<std::string> tools = {};  // names and patterns ("write_*")
    std::string ask = {};                 // text with {input.NAME}
    std::vector<std::string> answerers = {};
    std::uint32_t need = 1;
    std::optional<Duration> timeout = {};       // nullopt: none
    OnExpiry on_expiry = OnExpiry::deny;        // when nobody else is to be asked
    std::vector<std::string> escalate_to = {};  // asked at the deadline, for as long again
    bool forbid_requester = false;
    std::optional<Duration> warn_before = {};  // of the deadline
    std::optional<Duration> remind_after = {};
    std::optional<Duration> remind_every = {};
    std::uint32_t line = 0;  // of its heading
    friend bool operator==(Gate const&, Gate const&) = default;
};

enum class SourceKind : std::uint8_t { standard, hmac, github, slack };

// Who may send webhooks, and what they mean.
struct Source {
    std::string id;
    SourceKind kind = SourceKind::standard;
    std::vector<Secret> secrets = {};  // those that are set; none: the source is not there
    std::string project = "default";
    std::vector<std::string> tools = {};  // names, patterns resolved; empty: all
    std::string pending = {};             // JSON pointers into the payload, as is all below
    std::string external_ref = {};
    std::string output = {};
    std::string error = {};
    std::string title = {};
    std::vector<std::pair<std::string, std::string>> when = {};  // what must stand there
    std::uint32_t line = 0;                                      // of its heading
    friend bool operator==(Source const&, Source const&) = default;
};

// Session events that are sent out.
struct Webhook {
    std::string url;
    std::optional<Secret> secret = {};
    std::vector<std::string> events = {};  // their types
    std::string project = {};              // empty: of all
    std::uint32_t line = 0;                // of its heading
    friend bool operator==(Webhook const&, Webhook const&) = default;
};

enum class NotifyKind : std::uint8_t { slack, webhook, command };

// How people are told that something waits for them.
struct Notify {
    NotifyKind kind = NotifyKind::slack;
    std::optional<Secret> url = {};         // slack, webhook
    std::vector<std::string> command = {};  // the program and its arguments; no shell
    std::vector<std::string> on = {"call_paused", "gate_asked", "agent_asked", "in_doubt",
                                   "reminded"};
    std::vector<session::PauseReason> reasons = {session::PauseReason::approval,
                                                 session::PauseReason::user_input,
                                                 session::PauseReason::elicitation};
    std::uint32_t line = 0;  // of its heading
    friend bool operator==(Notify const&, Notify const&) = default;
};

// What holds for the sessions of one project.
struct Project {
    std::string id;
    session::MailPolicy mail = {};
    std::vector<std::string> mail_to = {};  // other projects to which its sessions may write
    std::uint32_t line = 0;                 // of its heading
    friend bool operator==(Project const&, Project const&) = default;
};

struct Config {
    std::string file = {};  // where it was read; empty: there was none
    Server server = {};
    Store store = {};
    Limits limits = {};
    Retention retention = {};
    std::vector<Project> projects = {};
    std::vector<Model> models = {};
    std::vector<Agent> agents = {};
    std::vector<Tool> tools = {};
    std::vector<Gate> gates = {};
    std::vector<Source> sources = {};
    std::vector<Webhook> webhooks = {};
    std::vector<Notify> notifies = {};
    friend bool operator==(Config const&, Config const&) = default;

    [[nodiscard]] bool has_demo() const { return server.demo.value_or(agents.empty()); }
};

}  // namespace dormouse::config
