#include "config/keys.h"

#include "config/rows/archive_rows.h"
#include "config/rows/backup_rows.h"
#include "config/rows/budget_rows.h"
#include "config/rows/limits_rows.h"
#include "config/rows/mcp_rows.h"
#include "config/rows/people_rows.h"
#include "config/rows/rows.h"
#include "config/rows/store_rows.h"
#include "config/rows/telemetry_rows.h"

namespace dormouse::config {

namespace rows {

constexpr Key server_rows[] = {
    text<&Server::listen>("listen", address, "HOST:PORT to listen on; port 0 is any free one.")
        .at_restart(),
    text<&Server::public_url>("public_url", url,
                              "The server's public URL; its host is allowed as Host and Origin.")
        .like("https://dm.example.org")
        .at_restart(),
    texts<&Server::allowed_hosts>("allowed_hosts", host,
                                  "More values of the Host header to accept."),
    texts<&Server::allowed_origins>("allowed_origins", origin,
                                    "Origins of other web pages that may call."),
    texts<&Server::trusted_proxies>(
        "trusted_proxies", network,
        "Addresses and networks (\"10.0.0.0/8\") whose X-Forwarded-For and -Proto are trusted.")
        .at_restart(),
    text<&Server::tls_cert>("tls_cert", some_text,
                            "PEM file of the certificate with its chain; the server then uses TLS.")
        .like("server.pem")
        .at_restart(),
    text<&Server::tls_key>("tls_key", some_text,
                           "PEM file of the certificate's key. A reload reads both files again.")
        .like("server.key")
        .at_restart(),
    text<&Server::secrets_dir>(
        "secrets_dir", some_text,
        "Folder: each file of it is a variable with its name, read at start and by each reload.")
        .like("secrets")
        .at_restart(),
    text<&Server::metrics_listen>("metrics_listen", address,
                                  "HOST:PORT where GET /metrics needs no token.")
        .like("127.0.0.1:9464")
        .at_restart(),
    texts<&Server::webhook_hosts>(
        "webhook_hosts", host,
        "HOST[:PORT] to which webhooks may be sent although it is not public, also by http."),
    text<&Server::push_contact>("push_contact", contact,
                                "Whom push services may ask about notifications of kind web-push: "
                                "\"mailto:\" and an address, or an https URL; default: public_url.")
        .like("mailto:ops@example.org")
        .at_restart(),
    flag<&Server::demo>("demo", "Adds the demo agents; default: only while no agent is configured.")
        .like("true"),
    duration<&Server::remind_after>(
        "remind_after", {second, 10 * year},
        "Time until a reminded event for a question to people (approval, user_input, elicitation).")
        .like("1h"),
    duration<&Server::remind_every>("remind_every", {second, 10 * year},
                                    "Interval of further reminded events; at most 100.")
        .like("1d"),
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
        "Turns that ended longer ago than this are deleted; the newest turn is kept."),
    number<&Retention::session_bytes>("session_bytes", {65'536, 4'000'000'000},
                                      "Maximum bytes of a session's journal; the oldest 10 % are "
                                      "deleted when exceeded. Unset: unlimited.")
        .like("67108864"),
    duration_or_none<&Retention::audit_after>("audit_after", {second, 100 * year},
                                              "Audit lines older than this are removed."),
    duration_or_none<&Retention::dead_deliveries_after>(
        "dead_deliveries_after", {second, 100 * year},
        "Failed webhook deliveries older than this are deleted."),
};

constexpr Key project_rows[] = {
    text<&Project::id>("id", id, "The project's id.").needed(),
    word<&Project::mail, &session::MailPolicy::default_wake>(
        "mail", "wake, steer, inbox",
        "Default delivery mode: wake an idle receiver, leave it in the inbox, or also wake one "
        "that waits."),
    flag<&Project::mail, &session::MailPolicy::notifies_parent>(
        "mail_notifies_parent", "The parent of a session is notified of mail to it."),
    texts<&Project::mail_to>("mail_to", id, "Other projects to which its sessions may send mail.")
        .like(R"(["ops"])"),
};

constexpr Key model_rows[] = {
    text<&Model::id>("id", id, "Name of the model in [[agent]].").needed(),
    word<&Model::kind>("kind", "scripted, openai-chat, openai-responses, anthropic, gemini, ollama",
                       "The protocol of the provider.")
        .needed(),
    text<&Model::model>("model", some_text.sized(1, 256), "The provider's name for the model.")
        .like("gpt-4.1-mini"),
    text<&Model::base_url>("base_url", url, "The provider's address, without a slash at its end.")
        .like("https://api.openai.com/v1"),
    text<&Model::api_key>("api_key_env", variable, "The environment variable that holds the key.")
        .like("OPENAI_API_KEY"),
    duration<&Model::timeout>("timeout", {second, hour}, "Time limit for one request."),
    number<&Model::retries>("retries", {0, 4}, "Retries of one step after temporary failures."),
    number<&Model::max_output_tokens>("max_output_tokens", {1, 10 * many},
                                      "Maximum tokens of a reply; default: the provider's limit.")
        .like("4096"),
    number<&Model::context_tokens>("context_tokens", {1, 100 * many},
                                   "The model's context window in tokens.")
        .like("128000"),
    flag<&Model::images>("images", "The model sees images; otherwise it gets their names."),
    flag<&Model::files>(
        "files",
        "The model reads files such as PDFs; otherwise it gets their names. It always reads text.")
        .like("true"),
    table<&Model::headers>("headers", "More headers to send: name = \"text\" or { env, prefix }.")
        .like(R"({ X-Team = "ops", X-Key = { env = "TEAM_KEY", prefix = "Key " } })"),
    number<&Model::concurrency>("concurrency", {1, 10'000},
                                "Requests at once; the others wait, oldest first."),
    table<&Model::extra>("extra", "More members of the request's body, sent unchanged.")
        .like("{ temperature = 0.2 }"),
    price<&Model::input_price>("input_price", "Price of a million input tokens.").like("3"),
    price<&Model::output_price>("output_price", "Price of a million output tokens.").like("15"),
    price<&Model::cache_read_price>(
        "cache_read_price",
        "The same of input read from the provider's cache; default: input_price.")
        .like("0.3"),
    price<&Model::cache_write_price>(
        "cache_write_price",
        "The same of input written to the provider's cache; default: input_price.")
        .like("3.75"),
    text<&Model::currency>("currency", currency, "The currency of its prices (ISO 4217)."),
};

constexpr Key agent_rows[] = {
    text<&Agent::id>("id", id, "Name of the agent in sessions.").needed(),
    text<&Agent::description>("description", any_text, "Purpose of the agent, for people.")
        .like("Ships releases."),
    texts<&Agent::tools>(
        "tools", pattern,
        "Names of [[tool]] or built-in tools, or agent:NAME for an agent; * matches any text.")
        .like(R"(["deploy", "lint_*", "ask_human"])"),
};

constexpr Key agent_model_rows[] = {
    text<&Agent::model>("model", id, "The id of a [[model]].").like("main"),
    text<&Agent::instructions>("instructions", prose, "First text that the model reads.")
        .like("Deploy what is requested, and report the outcome."),
    mixed<&Agent::join>("join",
                        "When the model is asked again: all, each, any or { quorum = 2 } of a "
                        "step's calls settled."),
    number<&Agent::tool_concurrency>("tool_concurrency", {1, 64},
                                     "Tools of one session that run at once."),
    number<&Agent::step_limit>("step_limit", {1, 10'000}, "Steps of one turn."),
};

constexpr Key agent_acp_rows[] = {
    texts<&Agent::external, &ExternalAgent::command>(
        "acp", any_text,
        "An external agent instead of a model: its program and arguments; or opencode, claude, "
        "gemini.")
        .shown_as("")
        .like(R"(["opencode", "acp"])"),
    texts<&Agent::external, &ExternalAgent::roots>(
        "roots", some_text,
        "Folders in which its sessions may work; default: the folder of this file.")
        .shown_as("")
        .like(R"(["~/src"])"),
    texts<&Agent::external, &ExternalAgent::env_allow>("env_allow", variables,
                                                       "Environment variables that it gets.")
        .like(R"(["OPENAI_API_KEY"])"),
    word<&Agent::external, &ExternalAgent::on_restart>(
        "on_restart", "resume, ask",
        "After it ended during a turn: start it again, or ask a person."),
    text<&Agent::external, &ExternalAgent::auth_method>(
        "auth_method", some_text.sized(1, 128),
        "The login method that it uses; it must not need a person.")
        .like("api-key"),
    text<&Agent::external, &ExternalAgent::mode>("session_mode", some_text.sized(1, 128),
                                                 "The mode of its sessions (ACP).")
        .like("plan"),
    table("session_options", "Options of its sessions (ACP): name = \"text\" or true.")
        .like(R"({ model = "sonnet" })"),
    word<&Agent::external, &ExternalAgent::files>(
        "files", "none, read, write",
        "Operations on text files in its session's folder that it may request from Dormouse."),
    flag<&Agent::external, &ExternalAgent::terminals>(
        "terminals", "Allows it to ask Dormouse to run commands in its session's folder."),
    word<&Agent::external, &ExternalAgent::sandbox>(
        "sandbox", "none, bwrap",
        "With bwrap it can write only in its session's folder and its own state."),
    text<&Agent::external, &ExternalAgent::run_as>(
        "run_as", id.sized(1, 32), "The user that it runs as; for a server that runs as root.")
        .like("agents"),
    flag<&Agent::external, &ExternalAgent::shared_folder>(
        "shared_folder",
        "The files of its sessions are on all machines: several servers may share the database."),
    duration<&Agent::external, &ExternalAgent::idle_stop>(
        "idle_stop", {second, day}, "Idle time of its session after which it is stopped."),
    number<&Agent::external, &ExternalAgent::history_tokens>(
        "history_tokens", {100, many}, "Tokens of history that it gets after it lost its own."),
};

constexpr Key tool_rows[] = {
    text<&Tool::name>("name", tool_name, "Name of the tool for the model.").needed(),
    word<&Tool::kind>("kind", "http, command", "A web service or a program.").needed(),
    text<&Tool::description>("description", prose, "Description of the tool for the model.")
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
    table<&Tool::http, &HttpTool::poll>("poll", "A URL to poll until the result is ready."),
};

constexpr Key tool_command_rows[] = {
    texts<&Tool::command, &CommandTool::command>("command", any_text,
                                                 "The program and its arguments; no shell.")
        .shown_as("")
        .like(R"(["./lint.sh", "--all"])"),
    text<&Tool::command, &CommandTool::cwd>("cwd", some_text,
                                            "The folder to run in; default: the server's.")
        .like("."),
    texts<&Tool::command, &CommandTool::env_allow>("env_allow", variables,
                                                   "Environment variables that it gets.")
        .like(R"(["LANG"])"),
};

constexpr Key tool_more_rows[] = {
    word<&Tool::http, &HttpTool::later>("later", "202, 2xx, never",
                                        "Which answers mean that the result comes later; for a "
                                        "command: never, or if it reports so.")
        .like("2xx"),
    word<&Tool::crash>("crash", "retry, ask, never",
                       "After a crash during a run: run again, ask a person, or do not run again."),
    duration_or_none<&Tool::timeout>("timeout", {second, 10 * year}, "Maximum wait for its result.")
        .shown_as("\"24h\""),
    duration<&Tool::time_limit>("time_limit", {100, day}, "Time limit of one attempt."),
    duration<&Tool::estimated>("estimated_duration", {1, 10 * year}, "Normal duration, for people.")
        .like("5m"),
    duration<&Tool::warn_before>("warn_before", {second, 10 * year},
                                 "Time before its deadline at which a deadline_near event comes.")
        .like("1h"),
    text<&Tool::webhook_url>("webhook_url", url,
                             "URL that receives the outcome of each call that waited.")
        .like("https://ci.example.org/done"),
    text<&Tool::webhook_secret>(
        "webhook_secret_env", variable,
        "The variable with the secret that signs and verifies its webhooks.")
        .like("DEPLOY_WEBHOOK_SECRET"),
    text<&Tool::input_schema>("input_schema_file", file, "JSON Schema of its arguments.")
        .like("deploy.in.json"),
    text<&Tool::result_schema>("result_schema_file", file, "JSON Schema of its result.")
        .like("deploy.out.json"),
    table<&Tool::validator>("validator", "A program that checks results before they are accepted."),
};

constexpr Key poll_rows[] = {
    text<&Poll::url>("url", template_url, "The URL to poll, with GET.")
        .needed()
        .like("https://api.github.com/repos/o/r/actions/runs/{call.externalRef}"),
    duration<&Poll::every>("every", {second, day}, "The interval between polls."),
    text<&Poll::done>("done", pointer,
                      "JSON pointer to a value that is true when the result is ready.")
        .needed()
        .like("/conclusion"),
    text<&Poll::output>("output", pointer.sized(0, 1'024),
                        "JSON pointer to the result; default: the whole answer.")
        .like("''"),
};

constexpr Key validator_rows[] = {
    texts<&Validator::command>("command", any_text, "The program and its arguments; no shell.")
        .needed()
        .like(R"(["./check-deploy.py"])"),
    text<&Validator::cwd>("cwd", some_text, "The folder to run in; default: the server's.")
        .like("."),
    texts<&Validator::env_allow>("env_allow", variables, "Environment variables that it gets."),
    duration<&Validator::time_limit>("time_limit", {100, 60 * second}, "Time limit of one check."),
};

constexpr Key gate_rows[] = {
    text<&Gate::id>("id", id, "Its name in the journal; default: its patterns."),
    texts<&Gate::tools>("tools", pattern, "Names of tools; * matches any text.")
        .needed()
        .like(R"(["deploy", "lint_*"])"),
    text<&Gate::ask>("ask", some_text, "The question, with {input.NAME}.")
        .needed()
        .like("Deploy {input.ref}?"),
    table<&Gate::when>(
        "when", "Ask only if all these arguments fit: a value, or equals, pattern, min, max.")
        .like(R"({ "/env" = "production", "/count" = { min = 10 } })"),
    flag<&Gate::always_ask>("always_ask",
                            "People are asked about each call: no standing rule answers."),
    texts<&Gate::answerers>(
        "answerers", some_text.sized(1, 128),
        "People who may answer: names of tokens or role:…; empty: anyone who may answer calls.")
        .like(R"(["alice", "role:answer"])"),
    number<&Gate::need>("need", {1, 100}, "Number of people who must agree."),
    duration_or_none<&Gate::timeout>("timeout", {second, 10 * year}, "Maximum wait for an answer.")
        .like("24h"),
    text("on_expiry", some_text,
         "At the deadline: deny, tell (the model that there was no answer) or escalate:NAME (ask "
         "NAME).")
        .shown_as("\"deny\"")
        .like("escalate:bob"),
    flag<&Gate::forbid_requester>("forbid_requester",
                                  "The requester may not approve their own request."),
    duration<&Gate::warn_before>("warn_before", {second, 10 * year},
                                 "Time before the deadline at which a deadline_near event comes.")
        .like("1h"),
    duration<&Gate::remind_after>("remind_after", {second, 10 * year},
                                  "Time until a reminded event; default: that of [server].")
        .like("1h"),
    duration<&Gate::remind_every>("remind_every", {second, 10 * year},
                                  "Interval of further reminded events.")
        .like("1d"),
};

constexpr Key source_rows[] = {
    text<&Source::id>("id", id,
                      "Its name in POST /async-tool/webhook/ID; \"default\" also without an id.")
        .needed(),
    word<&Source::kind>("kind", "standard, hmac, github, slack",
                        "Signature scheme of its deliveries.")
        .needed(),
    texts<&Source::secrets>(
        "secrets_env", variables,
        "Environment variables with the secrets; if none is set, requests get 404.")
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
    text<&Source::external_ref>("external_ref", pointer, "JSON pointer to the call's externalRef.")
        .like("/run/id"),
    text<&Source::output>("output", pointer,
                          "JSON pointer to the output; default: a body as for /async-tool/result.")
        .like("/run/output"),
    text<&Source::error>("error", pointer, "JSON pointer to an error; ignored if missing or null.")
        .like("/run/error"),
    text<&Source::title>("title", pointer, "JSON pointer to the result's title.").like("/run/name"),
    table<&Source::when>("when",
                         "JSON pointers and the values required there; other payloads are ignored.")
        .like(R"({ "/action" = "completed" })"),
};

constexpr Key webhook_rows[] = {
    text<&Webhook::url>("url", url, "The https URL that receives the events.")
        .needed()
        .like("https://ops.example.org/events"),
    text<&Webhook::secret>("secret_env", variable,
                           "The variable with the secret that signs them (Standard Webhooks).")
        .needed()
        .like("EVENTS_SECRET"),
    texts<&Webhook::events>("events", some_text.sized(1, 64), "The types of the events.")
        .needed()
        .like(R"(["call_paused", "turn_ended"])"),
    text<&Webhook::project>("project", id, "Only events of this project.").like("default"),
};

constexpr Key notify_rows[] = {
    word<&Notify::kind>(
        "kind",
        "slack, webhook, command, slack-bot, discord, telegram, teams, ntfy, email, "
        "web-push",
        "How people are notified.")
        .needed(),
};

constexpr Key notify_url_rows[] = {
    text<&Notify::url>(
        "url_env", variable,
        "The variable with the address: an incoming webhook of the service, or an ntfy topic.")
        .like("SLACK_URL"),
};

constexpr Key notify_token_rows[] = {
    text<&Notify::token>("token_env", variable,
                         "The variable with the bot's token, or with an access token of ntfy.")
        .like("SLACK_BOT_TOKEN"),
};

constexpr Key notify_bot_rows[] = {
    text<&Notify::channel>("channel", some_text.sized(1, 128), "The id of the channel or chat.")
        .like("C0123456789"),
    text<&Notify::api_url>("api_url", url,
                           "The address of the service's API; default: the service's own.")
        .like("https://slack.com/api"),
};

constexpr Key notify_signing_rows[] = {
    text<&Notify::signing_secret>(
        "signing_secret_env", variable,
        "The variable with the app's signing secret; with it messages have buttons that decide.")
        .like("SLACK_SIGNING_SECRET"),
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
                            "Only calls that wait for these reasons."),
};

constexpr Key notify_to_rows[] = {
    texts<&Notify::to>("to", id,
                       "Names of people, for e-mail of [[user]]s with an address; default: all who "
                       "may answer the call."),
};

constexpr Key email_rows[] = {
    text<&Email::server>("server", host, "HOST:PORT of the SMTP server that takes the mail.")
        .like("mail.example.org:587"),
    word<&Email::tls>("tls", "starttls, tls, none",
                      "Encryption of the connection; none only on this machine."),
    text<&Email::from>("from", email, "The sender's address.").like("dormouse@example.org"),
    text<&Email::user>("user", some_text.sized(1, 256), "The name to log in with.")
        .like("dormouse"),
    text<&Email::password>("password_env", variable, "The variable with its password.")
        .like("SMTP_PASSWORD"),
};

constexpr auto all = joined(
    of("server", server_rows), at_restart(of("store", store_rows)), of("limits", limits_rows),
    of("retention", retention_rows), at_restart(of("email", email_rows)),
    at_restart(of("oidc", oidc_rows)), at_restart(of("telemetry", telemetry_rows)),
    at_restart(of("backup", backup_rows)), of("archive", archive_rows), of("project", project_rows),
    of("model", model_rows), of("agent", agent_rows), of("agent", agent_model_rows, "model"),
    of("agent", agent_acp_rows, "acp"), of("tool", tool_rows), of("tool", tool_http_rows, "http"),
    of("tool", tool_command_rows, "command"), of("tool", tool_more_rows),
    of("tool.poll", poll_rows), of("tool.validator", validator_rows), of("mcp", mcp_rows),
    of("mcp", mcp_command_rows, "command"), of("mcp", mcp_url_rows, "url"),
    of("mcp", mcp_more_rows), of("gate", gate_rows), of("budget", budget_rows),
    of("source", source_rows), of("webhook", webhook_rows), of("notify", notify_rows),
    of("notify", notify_url_rows, "slack, webhook, discord, teams, ntfy"),
    of("notify", notify_token_rows, "slack-bot, telegram, ntfy"),
    of("notify", notify_bot_rows, "slack-bot, telegram"),
    of("notify", notify_signing_rows, "slack-bot"), of("notify", notify_command_rows, "command"),
    of("notify", notify_to_rows, "email, web-push"), of("notify", notify_more_rows),
    of("user", user_rows));

}  // namespace rows

namespace {

constexpr std::string_view all_sections[] = {
    "server",  "store",   "limits", "retention", "email",  "oidc",      "telemetry",      "backup",
    "archive", "project", "model",  "agent",     "tool",   "tool.poll", "tool.validator", "mcp",
    "gate",    "budget",  "source", "webhook",   "notify", "user"};
constexpr std::string_view tables[] = {"server", "store",     "limits", "retention", "email",
                                       "oidc",   "telemetry", "backup", "archive"};

// Sections ("") and keys of later releases.
constexpr std::pair<std::string_view, std::string_view> later[] = {
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
