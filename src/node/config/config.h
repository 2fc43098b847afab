#pragma once
// dormouse.toml as plain values. A Config returned by read_config() is complete: every reference
// has its target, every file was read, every environment variable was set.

#include <dormouse/json.h>
#include <dormouse/time.h>

#include "base/notify_kind.h"
#include "session/mail.h"
#include "session/vocabulary.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::config {

// A value from the environment. The file names only the variable; the value is never shown.
struct Secret {
    std::string env;
    std::string value;
    friend bool operator==(Secret const&, Secret const&) = default;
};

// A header to send. `env`: the variable that `value` came from (after a prefix); empty: a constant.
struct Header {
    std::string name;
    std::string value;
    std::string env = {};
    friend bool operator==(Header const&, Header const&) = default;
};

struct Server {
    std::string listen = "127.0.0.1:3676";
    std::string public_url = {};  // without a slash at its end; empty: unknown
    std::vector<std::string> allowed_hosts = {};
    std::vector<std::string> allowed_origins = {};
    // Networks whose X-Forwarded-For and X-Forwarded-Proto are trusted: "10.0.0.0/8".
    std::vector<std::string> trusted_proxies = {};
    std::string tls_cert = {};        // PEM file; empty: plain HTTP
    std::string tls_key = {};         // set if and only if tls_cert is
    std::string secrets_dir = {};     // folder whose files are variables; empty: none
    std::string metrics_listen = {};  // HOST:PORT where GET /metrics needs no token; empty: none
    // host[:port] to which webhooks may be sent besides public addresses by https.
    std::vector<std::string> webhook_hosts = {};
    // Contact for push services: "mailto:ops@example.org" or an https URL; empty: public_url.
    std::string push_contact = {};
    std::optional<bool> demo = {};  // nullopt: only while no agent is configured
    // Reminders for people who do not answer; nullopt: none unless a gate sets them.
    std::optional<Duration> remind_after = {};
    std::optional<Duration> remind_every = {};
    friend bool operator==(Server const&, Server const&) = default;
};

// The way in which servers with one database learn of changes by the others, besides polling it.
enum class StoreSignal : std::uint8_t { notify, poll, redis };

struct Store {
    std::string url = "sqlite";             // "memory", or of a PostgreSQL database
    std::optional<Secret> secret_url = {};  // instead of `url`; it may contain a password
    StoreSignal signal = StoreSignal::notify;
    std::string signal_url = {};               // of a Redis server; empty: not named
    std::optional<Secret> secret_signal = {};  // instead of `signal_url`; may contain a password
    std::string node = {};  // of this server among those that share the database; empty: not named
    // Master keys that encrypt contents; nullopt: they are not encrypted.
    std::optional<Secret> encryption_key = {};
    std::vector<std::string> indexes = {};    // "files", or the address of a Redis server
    std::optional<Secret> secret_index = {};  // one more address; it may contain a password
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
    Duration resident_time{10'000};
    std::uint32_t validators_at_once = 8;
    std::uint32_t validators_waiting = 1'000;
    std::uint32_t prompt_bytes = 1'048'576;
    std::uint32_t output_bytes = 1'048'576;
    std::uint32_t queued_prompts = 100;
    std::uint32_t open_calls = 10'000;
    std::uint32_t waiting_calls = 10'000;
    std::uint32_t calls_per_reply = 1'000;
    std::uint32_t progress_per_s = 10;
    std::uint32_t progress_per_call = 10'000;
    friend bool operator==(Limits const&, Limits const&) = default;
};

struct Retention {
    std::optional<Duration> completed_after = {};  // nullopt: completed sessions are kept
    std::optional<Duration> audit_after = {};      // nullopt: all audit lines are kept
    // nullopt: they are kept
    std::optional<Duration> dead_deliveries_after = std::chrono::days(30);
    // Limits for each session; nullopt: none.
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

// The price of a million tokens, in millionths of the model's currency.
struct Price {
    std::int64_t micros = 0;
    friend bool operator==(Price const&, Price const&) = default;
};

struct Model {
    std::string id;
    ModelKind kind = ModelKind::scripted;
    std::string model = {};     // the provider's name for it; empty only for scripted
    std::string base_url = {};  // empty: that of the kind
    std::optional<Secret> api_key = {};
    Duration timeout{600'000};  // of one request
    std::uint32_t retries = 4;  // of one step, after temporary failures
    std::optional<std::uint32_t> max_output_tokens = {};
    std::optional<std::uint32_t> context_tokens = {};
    bool images = true;              // the model sees images
    std::optional<bool> files = {};  // nullopt: the default of the kind and its provider
    std::vector<Header> headers = {};
    std::uint32_t concurrency = 8;  // requests at once; others wait, oldest first
    Json extra = {};                // an object whose members are added to the request, or null
    // The input and the output price are set together, and the others with them.
    std::optional<Price> input_price = {};
    std::optional<Price> output_price = {};
    std::optional<Price> cache_read_price = {};
    std::optional<Price> cache_write_price = {};
    std::string currency = "USD";
    std::uint32_t line = 0;  // of its heading
    friend bool operator==(Model const&, Model const&) = default;
};

enum class ExternalFiles : std::uint8_t { none, read, write };

// An external agent (ACP), used instead of a model.
struct ExternalAgent {
    std::vector<std::string> command = {};  // empty: not an external agent
    std::vector<std::string> roots = {};    // absolute; empty: the file's folder
    std::vector<std::string> env_allow = {};
    session::OnRestart on_restart = session::OnRestart::resume;
    std::string auth_method = {};  // empty: none
    std::string mode = {};         // empty: the agent's default
    Json options = {};             // an object of strings and booleans, or null
    // The operations that it may request in its session's folder.
    ExternalFiles files = ExternalFiles::none;
    bool terminals = false;
    bool sandbox = false;     // with bwrap
    std::string run_as = {};  // a user; empty: the server's
    // The files of its sessions are on all machines whose servers share a database.
    bool shared_folder = false;
    Duration idle_stop{600'000};
    std::uint32_t history_tokens = 16'000;
    // Its processes share a user for all projects, and can access each other.
    [[nodiscard]] bool shares_a_user() const { return !command.empty() && !sandbox; }
    // Its processes have the server's user: they can read and write all that the server can.
    [[nodiscard]] bool is_unconfined() const { return shares_a_user() && run_as.empty(); }
    friend bool operator==(ExternalAgent const&, ExternalAgent const&) = default;
};

struct Agent {
    std::string id;
    std::string description = {};
    std::string model = {};  // id of a Model
    std::string instructions = {};
    // Names, after resolving patterns, in the order of the file. Patterns of the tools of MCP
    // servers stay: only the servers know them.
    std::vector<std::string> tools = {};
    session::Join join = {};
    std::uint32_t tool_concurrency = 8;
    std::uint32_t step_limit = 50;
    ExternalAgent external = {};
    std::uint32_t line = 0;  // of its heading
    friend bool operator==(Agent const&, Agent const&) = default;
};

enum class ToolKind : std::uint8_t { http, command };
// The answers of an HTTP tool that mean that the result comes later: only 202, every 2xx, or none.
enum class Later : std::uint8_t { only_202, any_2xx, never };

// Asks a URL until the result is ready, for services that cannot call back.
struct Poll {
    std::string url;
    Duration every{30'000};
    std::string done = {};    // JSON pointer into the answer: true when the result is ready
    std::string output = {};  // JSON pointer to the result; empty: the whole answer
    friend bool operator==(Poll const&, Poll const&) = default;
};

struct HttpTool {
    std::string method = "POST";
    std::string url = {};  // with {input.NAME} as whole path segments or query values
    std::vector<Header> headers = {};
    Json body = {};  // a template; null: the default body
    Later later = Later::only_202;
    std::string external_ref = {};  // JSON pointer into the answer
    std::optional<Secret> secret = {};
    std::optional<Poll> poll = {};
    friend bool operator==(HttpTool const&, HttpTool const&) = default;
};

struct CommandTool {
    std::vector<std::string> command = {};  // program and arguments; no shell
    std::string cwd = {};                   // absolute; empty: the server's
    std::vector<std::string> env_allow = {};
    bool later = true;  // the result may come after the program has ended
    friend bool operator==(CommandTool const&, CommandTool const&) = default;
};

// A program that checks results before they are accepted.
struct Validator {
    std::vector<std::string> command = {};  // program and arguments; no shell
    std::string cwd = {};                   // absolute; empty: the server's
    std::vector<std::string> env_allow = {};
    Duration time_limit{10'000};
    friend bool operator==(Validator const&, Validator const&) = default;
};

struct Tool {
    std::string name;
    ToolKind kind = ToolKind::http;
    std::string description = {};
    Json input_schema = {};   // {"type":"object"} if no file is named
    Json result_schema = {};  // null: any result
    std::optional<Validator> validator = {};
    session::CrashPolicy crash = session::CrashPolicy::never;
    // Deadline of a pause; nullopt: the default of its reason; Duration::max(): none.
    std::optional<Duration> timeout = {};
    Duration time_limit{600'000};  // of one attempt
    std::optional<Duration> estimated = {};
    std::optional<Duration> warn_before = {};   // before a deadline
    std::string webhook_url = {};               // notified when a pause of it ends
    std::optional<Secret> webhook_secret = {};  // signs and verifies webhooks about its pauses
    HttpTool http = {};                         // if kind is http
    CommandTool command = {};                   // if kind is command
    std::uint32_t line = 0;                     // of its heading
    friend bool operator==(Tool const&, Tool const&) = default;
};

// The tools of an MCP server for which people are asked: those that may destroy something, all, or
// none.
enum class McpAsk : std::uint8_t { destructive, all, none };
enum class McpSampling : std::uint8_t { refuse, ask };

// A foreign MCP server, whose tools agents get as mcp:NAME:TOOL.
struct Mcp {
    std::string name;
    std::vector<std::string> command = {};  // program and arguments; no shell. Empty: url is set
    std::string cwd = {};                   // absolute; empty: the server's
    std::vector<std::string> env_allow = {};
    std::string url = {};  // streamable HTTP
    std::vector<Header> headers = {};
    std::string issuer = {};  // OAuth; empty: none
    std::string client_id = {};
    std::optional<Secret> client_secret = {};
    std::vector<std::string> scopes = {};
    bool sign_in = false;  // a person signs in, instead of this client by itself
    McpAsk ask = McpAsk::destructive;
    McpSampling sampling = McpSampling::refuse;
    Duration time_limit{600'000};       // of one call
    Duration task_limit{86'400'000};    // of a call that has become a task
    Duration answer_limit{86'400'000};  // for a person to answer a question of the server
    Duration start_limit{30'000};       // until it has listed its tools
    std::uint32_t message_bytes = 1'048'576;
    std::uint32_t line = 0;  // of its heading
    friend bool operator==(Mcp const&, Mcp const&) = default;
};

enum class OnExpiry : std::uint8_t { deny, tell };

// A condition on an argument of a call. At least one member besides `pointer` is set.
struct Condition {
    std::string pointer;                      // JSON pointer into the arguments
    Json equals = {};                         // a text, number or truth value; null: not set
    std::optional<std::string> pattern = {};  // of a text
    std::optional<double> min = {}, max = {};
    friend bool operator==(Condition const&, Condition const&) = default;
};

struct Gate {
    std::string id;  // its name in the journal; if the file has none, its patterns joined
    std::vector<std::string> tools = {};  // names and patterns ("write_*")
    std::vector<Condition> when = {};     // asks only if all hold; empty: always
    std::string ask = {};                 // a text with {input.NAME}
    bool always_ask = false;              // no standing rule answers it
    std::vector<std::string> answerers = {};
    std::uint32_t need = 1;
    std::optional<Duration> timeout = {};       // nullopt: none
    OnExpiry on_expiry = OnExpiry::deny;        // if nobody is left to ask
    std::vector<std::string> escalate_to = {};  // asked at the deadline, for the same time again
    bool forbid_requester = false;
    std::optional<Duration> warn_before = {};  // before the deadline
    std::optional<Duration> remind_after = {};
    std::optional<Duration> remind_every = {};
    std::uint32_t line = 0;  // of its heading
    friend bool operator==(Gate const&, Gate const&) = default;
};

// Limits of what agents use. At a limit the session asks people before its next step.
struct Budget {
    session::BudgetPer per = session::BudgetPer::turn;
    std::vector<std::string> agents = {};    // empty: all
    std::vector<std::string> projects = {};  // empty: all
    // At least one of these four is set.
    std::optional<std::uint32_t> tokens = {};
    std::optional<Price> cost = {};
    std::optional<std::uint32_t> steps = {};
    std::optional<Duration> wall_time = {};
    std::string currency = "USD";  // of `cost`
    std::vector<std::string> answerers = {};
    std::optional<Duration> timeout = {};  // nullopt: none
    std::optional<Duration> warn_before = {};
    std::uint32_t line = 0;  // of its heading
    friend bool operator==(Budget const&, Budget const&) = default;
};

enum class SourceKind : std::uint8_t { standard, hmac, github, slack };

// A sender of webhooks, and how to read them.
struct Source {
    std::string id;
    SourceKind kind = SourceKind::standard;
    std::vector<Secret> secrets = {};  // those that are set; if none is, the source is unknown
    std::string project = "default";
    std::vector<std::string> tools = {};  // names, after resolving patterns; empty: all
    std::string pending = {};             // this and those below: JSON pointers into the payload
    std::string external_ref = {};
    std::string output = {};
    std::string error = {};
    std::string title = {};
    std::vector<std::pair<std::string, std::string>> when = {};  // pointers and required values
    std::uint32_t line = 0;                                      // of its heading
    friend bool operator==(Source const&, Source const&) = default;
};

// Session events to send as webhooks.
struct Webhook {
    std::string url;
    std::optional<Secret> secret = {};
    std::vector<std::string> events = {};  // their types
    std::string project = {};              // empty: all projects
    std::uint32_t line = 0;                // of its heading
    friend bool operator==(Webhook const&, Webhook const&) = default;
};

// A way to notify people.
struct Notify {
    NotifyKind kind = NotifyKind::slack;
    std::optional<Secret> url = {};             // slack, webhook, discord, teams, ntfy
    std::vector<std::string> command = {};      // program and arguments; no shell
    std::optional<Secret> token = {};           // slack_bot, telegram, ntfy
    std::string channel = {};                   // slack_bot, telegram
    std::optional<Secret> signing_secret = {};  // slack_bot: verifies presses of buttons
    std::string api_url = {};                   // empty: the service's own
    // email: names of users; web_push: of people. Empty: all.
    std::vector<std::string> to = {};
    std::vector<std::string> on = {"call_paused", "gate_asked", "agent_asked",   "in_doubt",
                                   "reassigned",  "reminded",   "budget_reached"};
    std::vector<session::PauseReason> reasons = {
        session::PauseReason::approval, session::PauseReason::user_input,
        session::PauseReason::elicitation, session::PauseReason::budget};
    std::uint32_t line = 0;  // of its heading
    friend bool operator==(Notify const&, Notify const&) = default;
};

enum class MailTls : std::uint8_t { starttls, tls, none };

// The server that takes e-mail.
struct Email {
    std::string server = {};  // HOST:PORT; empty: no e-mail is sent
    MailTls tls = MailTls::starttls;
    std::string from = {};
    std::string user = {};  // empty: no login
    std::optional<Secret> password = {};
    friend bool operator==(Email const&, Email const&) = default;
};

// The rights of the members of a group.
struct OidcRole {
    std::string group;
    std::string role = "read";
    std::vector<std::string> projects = {};  // empty: all
    friend bool operator==(OidcRole const&, OidcRole const&) = default;
};

// The OpenID provider at which people sign in.
struct Oidc {
    std::string issuer = {};  // empty: none
    std::string name = "single sign-on";
    std::string client_id = {};
    std::optional<Secret> client_secret = {};  // nullopt: a public client
    std::vector<std::string> scopes = {"openid", "profile", "email"};
    std::string groups_claim = "groups";
    std::string name_claim = "preferred_username";
    std::vector<OidcRole> roles = {};
    Duration session_length{8 * 3'600'000};
    friend bool operator==(Oidc const&, Oidc const&) = default;
};

// A person who signs in and answers.
struct User {
    std::string name;  // of their tokens and links, in receipts and in the audit
    std::string role = "answer";
    std::vector<std::string> projects = {};  // empty: all
    std::string email = {};
    std::string slack = {};         // their member id
    std::string oidc_subject = {};  // at the issuer of [oidc]
    std::uint32_t line = 0;         // of its heading
    friend bool operator==(User const&, User const&) = default;
};

// Settings for the sessions of one project.
struct Project {
    std::string id;
    session::MailPolicy mail = {};
    std::vector<std::string> mail_to = {};  // other projects to which its sessions may send mail
    std::uint32_t line = 0;                 // of its heading
    friend bool operator==(Project const&, Project const&) = default;
};

// The collector to which traces are sent, and which traces are.
struct Telemetry {
    std::string endpoint = {};  // of an OTLP/HTTP collector; empty: nothing is sent
    std::vector<Header> headers = {};
    std::string service = "dormouse";
    std::uint32_t sampling_percent = 100;  // of turns
    bool content = false;                  // spans hold arguments and texts
    std::uint32_t queue_spans = 8'192;
    std::uint32_t queue_bytes = 8U << 20U;
    friend bool operator==(Telemetry const&, Telemetry const&) = default;
};

// The continuous copy of the data directory.
struct Backup {
    std::string to = {};        // a directory, or s3://BUCKET/PREFIX; empty: none
    std::string endpoint = {};  // of the object store; empty: that of AWS for the region
    std::string region = "us-east-1";
    std::optional<Secret> access_key = {};
    std::optional<Secret> secret_key = {};
    std::string key_file = {};  // encrypts the copy; empty: it is not encrypted
    Duration interval{10'000};
    Duration base_every{24 * 3'600'000};
    Duration keep{7 * 24 * 3'600'000};
    friend bool operator==(Backup const&, Backup const&) = default;
};

struct Archive {
    std::string to = {};  // a directory; empty: nothing is archived
    Duration completed_after{90 * 24 * 3'600'000LL};
    Duration interval{24 * 3'600'000};
    std::uint32_t sessions_per_sweep = 10'000;
    friend bool operator==(Archive const&, Archive const&) = default;
};

struct Config {
    std::string file = {};  // the file that was read; empty: none
    Server server = {};
    Store store = {};
    Limits limits = {};
    Retention retention = {};
    Email email = {};
    Oidc oidc = {};
    Telemetry telemetry = {};
    Backup backup = {};
    Archive archive = {};
    std::vector<Project> projects = {};
    std::vector<Model> models = {};
    std::vector<Agent> agents = {};
    std::vector<Tool> tools = {};
    std::vector<Mcp> mcps = {};
    std::vector<Gate> gates = {};
    std::vector<Budget> budgets = {};
    std::vector<Source> sources = {};
    std::vector<Webhook> webhooks = {};
    std::vector<Notify> notifies = {};
    std::vector<User> users = {};
    friend bool operator==(Config const&, Config const&) = default;

    [[nodiscard]] bool has_demo() const { return server.demo.value_or(agents.empty()); }
};

}  // namespace dormouse::config
