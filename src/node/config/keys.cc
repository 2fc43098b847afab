#include "config/keys.h"

#include "config/rows.h"

namespace dormouse::config {

namespace rows {

constexpr Key server_rows[] = {
    text<&Server::listen>("listen", address, "HOST:PORT to listen on; port 0 is any free one."),
    text<&Server::public_url>(
        "public_url", url,
        "The address under which people know the server; allowed as Host and Origin.")
        .like("https://dm.example.org"),
    texts<&Server::allowed_hosts>("allowed_hosts", host,
                                  "More values of the Host header to answer to."),
    texts<&Server::allowed_origins>("allowed_origins", origin,
                                    "Origins of other pages that may call."),
    texts<&Server::trusted_proxies>(
        "trusted_proxies", network,
        "Addresses and networks (\"10.0.0.0/8\") whose X-Forwarded-For and -Proto are believed."),
    text<&Server::tls_cert>(
        "tls_cert", some_text,
        "PEM file of the certificate with its chain; the server then speaks TLS.")
        .like("server.pem"),
    text<&Server::tls_key>("tls_key", some_text,
                           "PEM file of the certificate's key. SIGHUP reads both files again.")
        .like("server.key"),
    text<&Server::metrics_listen>("metrics_listen", address,
                                  "HOST:PORT where GET /metrics needs no token.")
        .like("127.0.0.1:9464"),
    texts<&Server::webhook_hosts>(
        "webhook_hosts", host,
        "HOST[:PORT] that webhooks may go to although they are not public, also by http."),
    flag<&Server::demo>("demo",
                        "The demo agents: present while no agent is configured, or with true.")
        .like("true"),
    duration<&Server::remind_after>(
        "remind_after", {second, 10 * year},
        "What people are asked (approval, user_input, elicitation) has a reminded event after it.")
        .like("1h"),
    duration<&Server::remind_every>("remind_every", {second, 10 * year},
                                    "And each such time again, 100 times at most.")
        .like("1d"),
};

constexpr Key store_rows[] = {
    word<&Store::url>("url", "sqlite, memory", "Where sessions are kept."),
};

constexpr Key limits_rows[] = {
    number<&Limits::submissions_per_token_per_s>(
        "submissions_per_token_per_s", {1, many},
        "Outcomes and progress offered with one token, but from this machine; more are 429."),
    number<&Limits::submissions_per_call_per_s>("submissions_per_call_per_s", {1, many},
                                                "The same for one pending call."),
    number<&Limits::failed_auth_per_address_per_s>(
        "failed_auth_per_address_per_s", {1, many},
        "Requests without a valid token from one address; more are 429."),
    number<&Limits::connections>("connections", {1, many}, "Connections at once."),
    number<&Limits::connections_per_address>(
        "connections_per_address", {1, many},
        "Connections of one address (IPv6: one /64); not of this machine or a trusted proxy."),
    number<&Limits::buffer_bytes>("buffer_bytes", {16 * mib, 4'294'967'295},
                                  "Unfinished requests and unsent answers; without a valid token a "
                                  "tenth of it. Beyond: 503."),
    number<&Limits::header_bytes>("header_bytes", {1'024, mib},
                                  "A request's head; longer ones are 431."),
    duration<&Limits::header_time_limit>("header_time_limit", {100, hour},
                                         "Until a whole head has come."),
    duration<&Limits::body_time_limit>("body_time_limit", {100, hour},
                                       "Until a whole body has come."),
    duration<&Limits::idle_time_limit>(
        "idle_time_limit", {100, day},
        "A connection that waits for its next request is closed after it."),
    duration<&Limits::heartbeat>("heartbeat", {100, hour},
                                 "An event stream that is silent for so long gets a comment."),
    number<&Limits::resident_sessions>("resident_sessions", {1, many},
                                       "Sessions kept in memory; those at work come on top."),
    number<&Limits::resident_bytes>(
        "resident_bytes", {mib, 4'000'000'000},
        "What these take in memory, about; beyond it the longest idle ones are released."),
    number<&Limits::validators_at_once>("validators_at_once", {1, 1'000},
                                        "Validators of results that run at once."),
    number<&Limits::validators_waiting>("validators_waiting", {0, 100'000},
                                        "Results that wait for their validator; more are 503."),
    number<&Limits::prompt_bytes>("prompt_bytes", {1'024, mib},
                                  "A prompt's text; longer ones are 413."),
    number<&Limits::output_bytes>(
        "output_bytes", {1'024, mib},
        "A tool's output or a result in the journal; longer ones are artifacts."),
    number<&Limits::queued_prompts>(
        "queued_prompts", {1, 100},
        "Prompts that wait behind a session's open turn; more are 429."),
    number<&Limits::open_calls>("open_calls", {1, 10'000}, "Open tool calls of one session."),
    number<&Limits::calls_per_reply>("calls_per_reply", {1, 1'000},
                                     "Tool calls that one reply may ask for."),
    number<&Limits::progress_per_s>("progress_per_s", {1, 10},
                                    "Progress reports of one call each second."),
    number<&Limits::progress_per_call>("progress_per_call", {1, 10'000},
                                       "Progress reports of one call in all."),
};

constexpr Key retention_rows[] = {
    duration_or_none<&Retention::completed_after>(
        "completed_after", {second, 100 * year}, "Completed sessions older than this are deleted."),
    number<&Retention::messages_per_session>("messages_per_session", {100, 16'777'215},
                                             "Maximum messages per session; the oldest 10 % are "
                                             "deleted when exceeded. Unset: unlimited.")
        .like("1000"),
    duration_or_none<&Retention::message_age>(
        "message_age", {second, 100 * year},
        "Turns that ended longer ago than this are deleted; the newest turn stays."),
    number<&Retention::session_bytes>("session_bytes", {65'536, 4'000'000'000},
                                      "Maximum bytes of a session's journal; the oldest 10 % are "
                                      "deleted when exceeded. Unset: unlimited.")
        .like("67108864"),
    duration_or_none<&Retention::audit_after>("audit_after", {second, 100 * year},
                                              "Audit lines older than this are removed."),
    duration_or_none<&Retention::dead_deliveries_after>(
        "dead_deliveries_after", {second, 100 * year},
        "Webhooks given up longer ago than this are forgotten."),
};

constexpr Key project_rows[] = {
    text<&Project::id>("id", id, "The project's id.").needed(),
    word<&Project::mail, &session::MailPolicy::usual>(
        "mail", "wake, steer, inbox",
        "Default delivery mode: wake an idle receiver, leave it in the inbox, or also wake one "
        "that waits."),
    flag<&Project::mail, &session::MailPolicy::tells_the_parent>(
        "mail_tells_parent", "The parent of a session hears of mail that comes to it."),
    texts<&Project::mail_to>("mail_to", id, "Other projects to which its sessions may write mail.")
        .like(R"(["ops"])"),
};

constexpr Key model_rows[] = {
    text<&Model::id>("id", id, "How agents name it.").needed(),
    word<&Model::kind>("kind", "scripted, openai-chat, openai-responses, anthropic, gemini, ollama",
                       "The protocol that the provider speaks.")
        .needed(),
    text<&Model::model>("model", some_text.sized(1, 256), "The provider's name for the model.")
        .like("gpt-4.1-mini"),
    text<&Model::base_url>("base_url", url, "The provider's address, without a slash at its end.")
        .like("https://api.openai.com/v1"),
    text<&Model::api_key>("api_key_env", variable, "The environment variable that holds the key.")
        .like("OPENAI_API_KEY"),
    duration<&Model::timeout>("timeout", {second, hour}, "One request may take so long."),
    number<&Model::retries>("retries", {0, 4},
                            "A step is asked again so often after failures that may pass."),
    number<&Model::max_output_tokens>("max_output_tokens", {1, 10 * many},
                                      "The longest reply; the provider's own limit.")
        .like("4096"),
    number<&Model::context_tokens>("context_tokens", {1, 100 * many},
                                   "What the model can see at once.")
        .like("128000"),
    flag<&Model::images>("images", "The model sees images; else it gets their names."),
    flag<&Model::files>(
        "files", "The model reads PDFs and such; else it gets their names. Text it always reads.")
        .like("true"),
    table<&Model::headers>("headers", "More headers to send: name = \"text\" or { env, prefix }.")
        .like(R"({ X-Team = "ops", X-Key = { env = "TEAM_KEY", prefix = "Key " } })"),
    number<&Model::concurrency>("concurrency", {1, 10'000},
                                "Requests at once; the others wait, oldest first."),
    table<&Model::extra>("extra", "More members of the request's body, sent as they stand.")
        .like("{ temperature = 0.2 }"),
};

constexpr Key agent_rows[] = {
    text<&Agent::id>("id", id, "How sessions name it.").needed(),
    text<&Agent::description>("description", any_text, "What it is for, for people.")
        .like("Ships releases."),
    texts<&Agent::tools>(
        "tools", pattern,
        "Names of [[tool]] or built-in tools, or agent:NAME for an agent; * matches any text.")
        .like(R"(["deploy", "lint_*", "ask_human"])"),
};

constexpr Key agent_model_rows[] = {
    text<&Agent::model>("model", id, "The id of a [[model]].").like("main"),
    text<&Agent::instructions>("instructions", prose, "What the model reads before anything else.")
        .like("Deploy what you are asked to, and say what came of it."),
    mixed<&Agent::join>("join",
                        "When the model is asked again: all, each, any or { quorum = 2 } of a "
                        "step's calls settled."),
    number<&Agent::tool_concurrency>("tool_concurrency", {1, 64},
                                     "Tools of one session that run at once."),
    number<&Agent::step_limit>("step_limit", {1, 10'000}, "Steps of one turn."),
};

constexpr Key agent_acp_rows[] = {
    texts<&Agent::program, &AgentProgram::command>(
        "acp", any_text,
        "Instead of a model an external agent: its program and arguments; or opencode, claude, "
        "gemini.")
        .shown_as("")
        .like(R"(["opencode", "acp"])"),
    texts<&Agent::program, &AgentProgram::roots>(
        "roots", some_text, "The folders in which its sessions may work; the folder of this file.")
        .shown_as("")
        .like(R"(["~/src"])"),
    texts<&Agent::program, &AgentProgram::env_allow>("env_allow", variables,
                                                     "Environment variables that it gets.")
        .like(R"(["OPENAI_API_KEY"])"),
    word<&Agent::program, &AgentProgram::on_restart>(
        "on_restart", "resume, ask",
        "When it died in mid-turn it is started again, or a person is asked."),
    text<&Agent::program, &AgentProgram::auth_method>(
        "auth_method", some_text.sized(1, 128),
        "It signs in by this one of its logins, which must need nobody.")
        .like("api-key"),
    text<&Agent::program, &AgentProgram::mode>("session_mode", some_text.sized(1, 128),
                                               "The mode of its sessions (ACP).")
        .like("plan"),
    table("session_options", "Options of its sessions (ACP): name = \"text\" or true.")
        .like(R"({ model = "sonnet" })"),
    word<&Agent::program, &AgentProgram::files>(
        "files", "none, read, write",
        "What it may ask Dormouse to do with text files in its session's folder."),
    flag<&Agent::program, &AgentProgram::terminals>(
        "terminals", "It may ask Dormouse to run commands in its session's folder."),
    word<&Agent::program, &AgentProgram::sandbox>(
        "sandbox", "none, bwrap",
        "bwrap lets it write in its session's folder and its own state only."),
    text<&Agent::program, &AgentProgram::run_as>(
        "run_as", id.sized(1, 32), "The user that it runs as; for a server that runs as root.")
        .like("agents"),
    duration<&Agent::program, &AgentProgram::idle_stop>(
        "idle_stop", {second, day}, "It is stopped when its session was idle for so long."),
    number<&Agent::program, &AgentProgram::history_tokens>(
        "history_tokens", {100, many}, "How much of the history it gets when it has lost it."),
};

constexpr Key tool_rows[] = {
    text<&Tool::name>("name", tool_name, "How the model names it.").needed(),
    word<&Tool::kind>("kind", "http, command", "A web service or a program.").needed(),
    text<&Tool::description>("description", prose, "What it does, for the model.")
        .like("Deploys a branch; the result comes when the workflow has ended."),
};

constexpr Key tool_http_rows[] = {
    text<&Tool::http, &HttpTool::url>(
        "url", template_url, "The address; {input.NAME} as a whole path segment or query value.")
        .like("https://api.github.com/repos/o/r/actions/workflows/"
              "deploy.yml/dispatches"),
    word<&Tool::http, &HttpTool::method>("method", "GET, POST, PUT, PATCH, DELETE", "The method."),
    table<&Tool::http, &HttpTool::headers>("headers",
                                           "Headers: name = \"text\" or { env, prefix }.")
        .like(R"({ Authorization = { env = "GH_TOKEN", prefix = "Bearer " } })"),
    text<&Tool::http, &HttpTool::body>(
        "body", prose.sized(1, 262'144),
        "JSON with {\"$input\": \"/pointer\"} and {\"$call\": \"pendingID\"}.")
        .like(R"('''{"ref": {"$input": "/ref"}, )"
              R"("inputs": {"pendingID": {"$call": "pendingID"}}}''')"),
    text<&Tool::http, &HttpTool::external_ref>("external_ref", pointer,
                                               "JSON pointer to the reference in the answer.")
        .like("/id"),
    text<&Tool::http, &HttpTool::secret>(
        "secret_env", variable,
        "The variable with the secret that requests are signed with (Standard Webhooks).")
        .like("DEPLOY_SECRET"),
    table<&Tool::http, &HttpTool::poll>("poll", "Ask there until the result is ready."),
};

constexpr Key tool_command_rows[] = {
    texts<&Tool::command, &CommandTool::command>("command", any_text,
                                                 "The program and its arguments; no shell.")
        .shown_as("")
        .like(R"(["./lint.sh", "--all"])"),
    text<&Tool::command, &CommandTool::cwd>("cwd", some_text,
                                            "The folder to run in; the server's own.")
        .like("."),
    texts<&Tool::command, &CommandTool::env_allow>("env_allow", variables,
                                                   "Environment variables that it gets.")
        .like(R"(["LANG"])"),
};

constexpr Key tool_more_rows[] = {
    word<&Tool::http, &HttpTool::later>(
        "later", "202, 2xx, never",
        "Which answer means that the result comes later; command: never, else as it says.")
        .like("2xx"),
    word<&Tool::crash>("crash", "retry, ask, never",
                       "After a crash in mid-run: run again, ask a person, or never again."),
    duration_or_none<&Tool::timeout>("timeout", {second, 10 * year},
                                     "How long its result may take to come.")
        .shown_as("\"24h\""),
    duration<&Tool::time_limit>("time_limit", {100, day}, "How long one attempt may run."),
    duration<&Tool::estimated>("estimated_duration", {1, 10 * year},
                               "How long it normally takes, for people.")
        .like("5m"),
    duration<&Tool::warn_before>("warn_before", {second, 10 * year},
                                 "So long before its result is due a deadline_near event comes.")
        .like("1h"),
    text<&Tool::webhook_url>("webhook_url", url,
                             "Gets the outcome of each of its calls that waited.")
        .like("https://ci.example.org/done"),
    text<&Tool::webhook_secret>("webhook_secret_env", variable,
                                "The variable with the secret that signs its webhooks, both ways.")
        .like("DEPLOY_WEBHOOK_SECRET"),
    text<&Tool::input_schema>("input_schema_file", file, "JSON Schema of its arguments.")
        .like("deploy.in.json"),
    text<&Tool::result_schema>("result_schema_file", file, "JSON Schema of its result.")
        .like("deploy.out.json"),
    table<&Tool::validator>("validator", "A program that checks results before they are taken."),
};

constexpr Key poll_rows[] = {
    text<&Poll::url>("url", template_url, "Where to ask, by GET.")
        .needed()
        .like("https://api.github.com/repos/o/r/actions/runs/{call.externalRef}"),
    duration<&Poll::every>("every", {second, day}, "The time between two questions."),
    text<&Poll::done>("done", pointer, "JSON pointer to what is true when it is ready.")
        .needed()
        .like("/conclusion"),
    text<&Poll::output>("output", pointer.sized(0, 1'024),
                        "JSON pointer to the result; the whole answer.")
        .like("''"),
};

constexpr Key validator_rows[] = {
    texts<&Validator::command>("command", any_text, "The program and its arguments; no shell.")
        .needed()
        .like(R"(["./check-deploy.py"])"),
    text<&Validator::cwd>("cwd", some_text, "The folder to run in; the server's own.").like("."),
    texts<&Validator::env_allow>("env_allow", variables, "Environment variables that it gets."),
    duration<&Validator::time_limit>("time_limit", {100, 60 * second},
                                     "How long one check may run."),
};

constexpr Key gate_rows[] = {
    text<&Gate::id>("id", id, "Names it in the journal; its patterns, when left out."),
    texts<&Gate::tools>("tools", pattern, "Names of tools; * matches any text.")
        .needed()
        .like(R"(["deploy", "lint_*"])"),
    text<&Gate::ask>("ask", some_text, "The question, with {input.NAME}.")
        .needed()
        .like("Deploy {input.ref}?"),
    texts<&Gate::answerers>(
        "answerers", some_text.sized(1, 128),
        "Who may answer: names of tokens or role:…; empty: everybody who may answer calls.")
        .like(R"(["alice", "role:answer"])"),
    number<&Gate::need>("need", {1, 100}, "How many must agree."),
    duration_or_none<&Gate::timeout>("timeout", {second, 10 * year}, "How long an answer may take.")
        .like("24h"),
    text(
        "on_expiry", some_text,
        "At the deadline: deny, tell (the model that nobody answered) or escalate:NAME (ask NAME).")
        .shown_as("\"deny\"")
        .like("escalate:bob"),
    flag<&Gate::forbid_requester>("forbid_requester",
                                  "The requester may not approve their own request."),
    duration<&Gate::warn_before>("warn_before", {second, 10 * year},
                                 "So long before the deadline a deadline_near event comes.")
        .like("1h"),
    duration<&Gate::remind_after>("remind_after", {second, 10 * year},
                                  "A reminded event comes after it; else as [server] says.")
        .like("1h"),
    duration<&Gate::remind_every>("remind_every", {second, 10 * year}, "And each such time again.")
        .like("1d"),
};

constexpr Key source_rows[] = {
    text<&Source::id>("id", id, "Names it: POST /async-tool/webhook/ID; default: also without.")
        .needed(),
    word<&Source::kind>("kind", "standard, hmac, github, slack", "How its deliveries are signed.")
        .needed(),
    texts<&Source::secrets>("secrets_env", variables,
                            "Variables of the environment with the secrets; none is set: 404.")
        .needed()
        .like(R"(["DORMOUSE_CI", "DORMOUSE_CI_OLD"])"),
    text<&Source::project>("project", id, "The project whose calls it settles."),
    texts<&Source::tools>("tools", pattern,
                          "The tools whose calls it settles; * matches any text; empty: all.")
        .like(R"(["deploy"])"),
    text<&Source::pending>(
        "pending", pointer,
        "JSON pointer to the pendingID; /pendingID unless external_ref is given.")
        .like("/pendingID"),
    text<&Source::external_ref>("external_ref", pointer,
                                "JSON pointer to what the call's externalRef is.")
        .like("/run/id"),
    text<&Source::output>("output", pointer,
                          "JSON pointer to the output; left out: a body as for /async-tool/result.")
        .like("/run/output"),
    text<&Source::error>("error", pointer,
                         "JSON pointer to what is an error when it is there and not null.")
        .like("/run/error"),
    text<&Source::title>("title", pointer, "JSON pointer to the result's title.").like("/run/name"),
    table<&Source::when>(
        "when", "JSON pointers and the values that must be there; other payloads are ignored.")
        .like(R"({ "/action" = "completed" })"),
};

constexpr Key webhook_rows[] = {
    text<&Webhook::url>("url", url, "Where the events go, by https.")
        .needed()
        .like("https://ops.example.org/events"),
    text<&Webhook::secret>("secret_env", variable,
                           "The variable with the secret that signs them (Standard Webhooks).")
        .needed()
        .like("EVENTS_SECRET"),
    texts<&Webhook::events>("events", some_text.sized(1, 64), "The types of the events.")
        .needed()
        .like(R"(["call_paused", "turn_ended"])"),
    text<&Webhook::project>("project", id, "Of this project only.").like("default"),
};

constexpr Key notify_rows[] = {
    word<&Notify::kind>("kind", "slack, webhook, command", "How people are notified.").needed(),
};

constexpr Key notify_url_rows[] = {
    text<&Notify::url>("url_env", variable, "The variable with the address.").like("SLACK_URL"),
};

constexpr Key notify_command_rows[] = {
    texts<&Notify::command>("command", any_text,
                            "The program and its arguments; it gets the notification as JSON.")
        .shown_as("")
        .like(R"(["./tell.sh"])"),
};

constexpr Key notify_more_rows[] = {
    texts<&Notify::on>("on", some_text.sized(1, 64), "The types of the events to send."),
    texts<&Notify::reasons>("reasons", some_text.sized(1, 64),
                            "Of calls that wait for these only."),
};

constexpr auto all = joined(
    of("server", server_rows), of("store", store_rows), of("limits", limits_rows),
    of("retention", retention_rows), of("project", project_rows), of("model", model_rows),
    of("agent", agent_rows), of("agent", agent_model_rows, "model"),
    of("agent", agent_acp_rows, "acp"), of("tool", tool_rows), of("tool", tool_http_rows, "http"),
    of("tool", tool_command_rows, "command"), of("tool", tool_more_rows),
    of("tool.poll", poll_rows), of("tool.validator", validator_rows), of("gate", gate_rows),
    of("source", source_rows), of("webhook", webhook_rows), of("notify", notify_rows),
    of("notify", notify_url_rows, "slack, webhook"), of("notify", notify_command_rows, "command"),
    of("notify", notify_more_rows));

}  // namespace rows

namespace {

constexpr std::string_view all_sections[] = {
    "server", "store",     "limits",         "retention", "project", "model",   "agent",
    "tool",   "tool.poll", "tool.validator", "gate",      "source",  "webhook", "notify"};
constexpr std::string_view tables[] = {"server", "store", "limits", "retention"};

// Sections ("") and keys that later releases bring.
constexpr std::pair<std::string_view, std::string_view> later[] = {
    {"", "mcp"},
    {"store", "index"},
    {"limits", "inbox"},
};

}  // namespace

std::span<Key const> keys() { return rows::all; }

std::vector<Key const*> keys_of(std::string_view section) {
    std::vector<Key const*> out;
    for (Key const& key : rows::all) {
        if (key.section == section) out.push_back(&key);
    }
    return out;
}

Key const* find_key(std::string_view section, std::string_view name) {
    auto const* const at = std::ranges::find_if(
        rows::all, [&](Key const& key) { return key.section == section && key.name == name; });
    return at == rows::all.end() ? nullptr : at;
}

std::string default_of(Key const& key) {
    if (key.shown) return std::string(*key.shown);
    return key.required || !key.initial ? std::string() : key.initial(key);
}

std::string meaning(Key const& key) {
    return (key.only.empty() ? "" : std::string(key.only) + ": ") + std::string(key.about);
}

bool comes_later(std::string_view section, std::string_view name) {
    return std::ranges::find(later, std::pair(section, name)) != std::end(later);
}

bool is_list(std::string_view section) {
    return !is_part_of_tool(section) && std::ranges::find(tables, section) == std::end(tables);
}

bool is_part_of_tool(std::string_view section) { return section.starts_with("tool."); }

std::string heading(std::string_view section) {
    if (section.empty()) return "the file";
    if (is_part_of_tool(section)) return std::string(section.substr(5)) + " of [[tool]]";
    std::string const name(section);
    return is_list(section) ? "[[" + name + "]]" : "[" + name + "]";
}

std::span<std::string_view const> sections() { return all_sections; }

std::vector<std::string> split_words(std::string_view words) {
    std::vector<std::string> out;
    while (!words.empty()) {
        auto const end = std::min(words.find(", "), words.size());
        out.emplace_back(words.substr(0, end));
        words.remove_prefix(std::min(end + 2, words.size()));
    }
    return out;
}

bool has_word(std::string_view words, std::string_view word) {
    auto const all = split_words(words);
    return std::ranges::find(all, word) != all.end();
}

}  // namespace dormouse::config
