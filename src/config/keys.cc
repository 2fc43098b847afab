#include "config/keys.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dormouse::config {

namespace {

constexpr std::int64_t second = 1'000;
constexpr std::int64_t day = 24 * 3'600 * second;
constexpr std::int64_t year = 366 * day;
constexpr std::int64_t text_max = 4'096;
constexpr std::int64_t prose_max = 262'144;
constexpr std::int64_t mib = 1'048'576;
constexpr std::int64_t many = 1'000'000;

constexpr std::array all_sections{
    std::string_view("server"),    std::string_view("store"),     std::string_view("limits"),
    std::string_view("retention"), std::string_view("model"),     std::string_view("agent"),
    std::string_view("tool"),      std::string_view("tool.poll"), std::string_view("gate")};

// section, name, kind, fallback, about, {min, max}, words, form, required, none
constexpr Key all[] = {
    {"server",
     "listen",
     Kind::text,
     "\"127.0.0.1:3676\"",
     "HOST:PORT to listen on; port 0 is any free one.",
     1,
     255,
     {},
     Form::address},
    {"server",
     "public_url",
     Kind::text,
     "",
     "The address under which people know the server; allowed as Host and Origin.",
     1,
     2'048,
     {},
     Form::url},
    {"server",
     "allowed_hosts",
     Kind::texts,
     "[]",
     "More values of the Host header to answer to.",
     1,
     255,
     {},
     Form::host},
    {"server",
     "allowed_origins",
     Kind::texts,
     "[]",
     "Origins of other pages that may call.",
     1,
     2'048,
     {},
     Form::origin},
    {"server", "demo", Kind::flag, "",
     "The demo agents: there while no agent is configured, or with true."},

    {"store", "url", Kind::word, "\"sqlite\"", "Where sessions are kept.", 0, 0, "sqlite, memory"},

    {"limits", "failed_auth_per_address_per_s", Kind::number, "10",
     "Requests without a valid token from one address; more are 429.", 1, many},
    {"limits", "connections", Kind::number, "10000", "Connections at once.", 1, many},
    {"limits", "header_bytes", Kind::number, "32768", "A request's head; longer ones are 431.",
     1'024, mib},
    {"limits", "header_time_limit", Kind::duration, "\"10s\"", "Until a whole head has come.", 100,
     3'600 * second},
    {"limits", "body_time_limit", Kind::duration, "\"60s\"", "Until a whole body has come.", 100,
     3'600 * second},
    {"limits", "idle_time_limit", Kind::duration, "\"75s\"",
     "A connection without a request is closed after it.", 100, day},
    {"limits", "heartbeat", Kind::duration, "\"15s\"",
     "An event stream that is silent for so long gets a comment.", 100, 3'600 * second},
    {"limits", "resident_sessions", Kind::number, "16384",
     "Sessions kept in memory (about 10 KB each); those at work come on top.", 1, many},
    {"limits", "prompt_bytes", Kind::number, "1048576", "A prompt's text; longer ones are 413.",
     1'024, mib},
    {"limits", "output_bytes", Kind::number, "1048576",
     "A tool's output or a result in the journal; longer ones are artifacts.", 1'024, mib},
    {"limits", "queued_prompts", Kind::number, "100",
     "Prompts that wait behind a session's open turn; more are 429.", 1, 100},
    {"limits", "open_calls", Kind::number, "10000", "Open tool calls of one session.", 1, 10'000},
    {"limits", "calls_per_reply", Kind::number, "1000", "Tool calls that one reply may ask for.", 1,
     1'000},
    {"limits", "progress_per_s", Kind::number, "10", "Progress reports of one call each second.", 1,
     10},
    {"limits", "progress_per_call", Kind::number, "10000", "Progress reports of one call in all.",
     1, 10'000},

    {"retention",
     "completed_after",
     Kind::duration,
     "\"none\"",
     "Sessions that were completed so long ago are deleted.",
     second,
     100 * year,
     {},
     Form::any,
     false,
     true},

    {"model", "id", Kind::text, "", "How agents name it.", 1, 64, {}, Form::id, true},
    {"model", "kind", Kind::word, "", "The protocol that the provider speaks.", 0, 0,
     "scripted, openai-chat, openai-responses, anthropic, gemini, ollama", Form::any, true},
    {"model", "model", Kind::text, "", "The provider's name for the model.", 1, 256},
    {"model",
     "base_url",
     Kind::text,
     "",
     "The provider's address, without a slash at its end.",
     1,
     2'048,
     {},
     Form::url},
    {"model",
     "api_key_env",
     Kind::text,
     "",
     "The environment variable that holds the key.",
     1,
     128,
     {},
     Form::variable},
    {"model", "timeout", Kind::duration, "\"10m\"", "One request may take so long.", second,
     3'600 * second},
    {"model", "retries", Kind::number, "4",
     "A step is asked again so often after failures that may pass.", 0, 4},
    {"model", "max_output_tokens", Kind::number, "", "The longest reply; the provider's own limit.",
     1, 10 * many},
    {"model", "context_tokens", Kind::number, "", "What the model can see at once.", 1, 100 * many},
    {"model", "headers", Kind::table, "",
     "More headers to send: name = \"text\" or { env, prefix }."},
    {"model", "concurrency", Kind::number, "8", "Requests at once; the others wait, oldest first.",
     1, 10'000},
    {"model", "extra", Kind::table, "", "More members of the request's body, sent as they stand."},

    {"agent", "id", Kind::text, "", "How sessions name it.", 1, 64, {}, Form::id, true},
    {"agent", "description", Kind::text, "", "What it is for, for people.", 0, text_max},
    {"agent", "model", Kind::text, "", "The id of a [[model]].", 1, 64, {}, Form::id, true},
    {"agent", "instructions", Kind::text, "", "What the model is told before anything else.", 0,
     prose_max},
    {"agent",
     "tools",
     Kind::texts,
     "[]",
     "Names of [[tool]] or built-in tools; * stands for any text.",
     1,
     64,
     {},
     Form::pattern},
    {"agent", "join", Kind::mixed, "\"all\"",
     "When the model is asked again: all, each, any or { quorum = 2 } of a step's calls settled."},
    {"agent", "tool_concurrency", Kind::number, "8", "Tools of one session that run at once.", 1,
     64},
    {"agent", "step_limit", Kind::number, "50", "Steps of one turn.", 1, 10'000},

    {"tool", "name", Kind::text, "", "How the model names it.", 1, 64, {}, Form::tool, true},
    {"tool", "kind", Kind::word, "", "A web service or a program.", 0, 0, "http, command",
     Form::any, true},
    {"tool", "description", Kind::text, "", "What it does, for the model.", 0, prose_max},
    {"tool",
     "url",
     Kind::text,
     "",
     "http: where; {input.NAME} as a whole path segment or query value.",
     1,
     2'048,
     {},
     Form::template_url},
    {"tool", "method", Kind::word, "\"POST\"", "http: the method.", 0, 0,
     "GET, POST, PUT, PATCH, DELETE"},
    {"tool", "headers", Kind::table, "", "http: headers: name = \"text\" or { env, prefix }."},
    {"tool", "body", Kind::text, "",
     "http: JSON with {\"$input\": \"/pointer\"} and {\"$call\": \"pendingID\"}.", 1, prose_max},
    {"tool", "later", Kind::word, "\"202\"",
     "Which answer means that the result comes later; command: never, else as it says.", 0, 0,
     "202, 2xx, never"},
    {"tool",
     "external_ref",
     Kind::text,
     "",
     "http: JSON pointer to the reference in the answer.",
     1,
     1'024,
     {},
     Form::pointer},
    {"tool",
     "secret_env",
     Kind::text,
     "",
     "http: the variable with the secret that requests are signed with (Standard Webhooks).",
     1,
     128,
     {},
     Form::variable},
    {"tool", "poll", Kind::table, "", "http: ask there until the result is ready."},
    {"tool", "command", Kind::texts, "", "command: the program and its arguments; no shell.", 0,
     text_max},
    {"tool", "cwd", Kind::text, "", "command: the folder to run in; the server's own.", 1,
     text_max},
    {"tool",
     "env_allow",
     Kind::texts,
     "[]",
     "command: environment variables that it gets.",
     1,
     128,
     {},
     Form::variables},
    {"tool", "crash", Kind::word, "\"never\"",
     "After a crash in mid-run: run again, ask a person, or never again.", 0, 0,
     "retry, ask, never"},
    {"tool",
     "timeout",
     Kind::duration,
     "\"24h\"",
     "How long its result may take to come.",
     second,
     10 * year,
     {},
     Form::any,
     false,
     true},
    {"tool", "time_limit", Kind::duration, "\"10m\"", "How long one attempt may run.", 100, day},
    {"tool", "estimated_duration", Kind::duration, "", "How long it usually takes, for people.", 1,
     10 * year},
    {"tool",
     "input_schema_file",
     Kind::text,
     "",
     "JSON Schema of its arguments.",
     1,
     text_max,
     {},
     Form::file},
    {"tool",
     "result_schema_file",
     Kind::text,
     "",
     "JSON Schema of its result.",
     1,
     text_max,
     {},
     Form::file},

    {"tool.poll",
     "url",
     Kind::text,
     "",
     "Where to ask, by GET.",
     1,
     2'048,
     {},
     Form::template_url,
     true},
    {"tool.poll", "every", Kind::duration, "\"30s\"", "The time between two questions.", second,
     day},
    {"tool.poll",
     "done",
     Kind::text,
     "",
     "JSON pointer to what is true when it is ready.",
     1,
     1'024,
     {},
     Form::pointer,
     true},
    {"tool.poll",
     "output",
     Kind::text,
     "",
     "JSON pointer to the result; the whole answer.",
     0,
     1'024,
     {},
     Form::pointer},

    {"gate",
     "id",
     Kind::text,
     "",
     "Names it in the journal; its patterns, when left out.",
     1,
     64,
     {},
     Form::id},
    {"gate",
     "tools",
     Kind::texts,
     "",
     "Names of tools; * stands for any text.",
     1,
     64,
     {},
     Form::pattern,
     true},
    {"gate",
     "ask",
     Kind::text,
     "",
     "The question, with {input.NAME}.",
     1,
     text_max,
     {},
     Form::any,
     true},
    {"gate", "answerers", Kind::texts, "[]",
     "Who may answer: names of tokens or role:…; empty: whoever may answer calls.", 1, 128},
    {"gate", "need", Kind::number, "1", "How many must agree.", 1, 100},
    {"gate",
     "timeout",
     Kind::duration,
     "\"none\"",
     "How long an answer may take.",
     second,
     10 * year,
     {},
     Form::any,
     false,
     true},
    {"gate", "on_expiry", Kind::text, "\"deny\"",
     "At the deadline: deny, tell (the model that nobody answered) or escalate:NAME (ask NAME).", 1,
     text_max},
    {"gate", "forbid_requester", Kind::flag, "false",
     "Whoever asked for the turn may not be who allows it."},
};

// Sections ("") and keys that later releases bring.
constexpr std::pair<std::string_view, std::string_view> later[] = {
    {"", "source"},
    {"", "notify"},
    {"", "webhook"},
    {"", "mcp"},
    {"server", "trusted_proxies"},
    {"server", "tls_cert"},
    {"server", "tls_key"},
    {"server", "metrics_listen"},
    {"store", "index"},
    {"limits", "submissions_per_token_per_s"},
    {"limits", "submissions_per_call_per_s"},
    {"limits", "inbox"},
    {"agent", "acp"},
    {"agent", "roots"},
    {"agent", "env_allow"},
    {"agent", "on_restart"},
    {"agent", "idle_stop"},
    {"agent", "sandbox"},
    {"agent", "run_as"},
};

}  // namespace

std::span<Key const> keys() { return all; }

std::vector<Key const*> keys_of(std::string_view section) {
    std::vector<Key const*> out;
    for (Key const& key : all) {
        if (key.section == section) out.push_back(&key);
    }
    return out;
}

Key const* find_key(std::string_view section, std::string_view name) {
    auto const* const at = std::ranges::find_if(
        all, [&](Key const& key) { return key.section == section && key.name == name; });
    return at == std::end(all) ? nullptr : at;
}

bool comes_later(std::string_view section, std::string_view name) {
    return std::ranges::find(later, std::pair(section, name)) != std::end(later);
}

bool is_list(std::string_view section) {
    return section == "model" || section == "agent" || section == "tool" || section == "gate";
}

std::string heading(std::string_view section) {
    if (section.empty()) return "the file";
    if (section == "tool.poll") return "poll of [[tool]]";
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

}  // namespace dormouse::config
