#include "config/example.h"

#include "config/keys.h"

#include <algorithm>
#include <set>

namespace dormouse::config {

namespace {

// One table of the example. The first table of a section shows all its keys except those of other
// kinds; further tables show only the keys of their kind.
struct Sample {
    std::string_view section;
    std::string_view kind = {};   // see Key::only
    std::string_view name = {};   // its id or name
    std::string_view prose = {};  // comment above it
    std::string_view more = {};   // TOML text after it
};

constexpr std::string_view head =
    R"(# Configuration of Dormouse. Everything below is a comment: take the # in front of a
# key away to set it. [server], [store], [limits] and [retention] show the defaults, where there are
# any; the sections with two brackets are examples, and each may appear more than once.
#
#   dormouse config check      says what is wrong in this file, or what the server would have
#   dormouse config keys       lists every key
#
# Durations are a number and ms, s, m, h or d ("24h"). Secrets do not belong here: name the
# variable of the environment that holds them. Files are relative to the folder of this one.
)";

constexpr std::string_view other_models =
    R"(
# The other kinds want less or more: Anthropic's always limits a reply, Ollama has no key.
#[[model]]
#id = "responses"
#kind = "openai-responses"
#model = "gpt-5-mini"
#api_key_env = "OPENAI_API_KEY"

#[[model]]
#id = "claude"
#kind = "anthropic"
#model = "claude-sonnet-4-5"
#api_key_env = "ANTHROPIC_API_KEY"
#max_output_tokens = 8192

#[[model]]
#id = "gemini"
#kind = "gemini"
#model = "gemini-2.5-flash"
#api_key_env = "GEMINI_API_KEY"

#[[model]]
#id = "local"
#kind = "ollama"
#model = "qwen3"
)";

constexpr Sample samples[] = {
    {.section = "server",
     .prose = "Beyond loopback the server needs tls_cert and tls_key, or a proxy that is named in "
              "trusted_proxies, or --insecure."},
    {.section = "store",
     .prose =
         "\"sqlite\" keeps sessions in the data directory, \"memory\" forgets them at the end. "
         "A password of PostgreSQL is in the variable of url_env or in PGPASSFILE."},
    {.section = "limits"},
    {.section = "retention", .prose = "Unless one of these is set, sessions are kept."},
    {.section = "email",
     .prose = "The server that takes e-mail: notifications of kind email, and sign-in links."},
    {.section = "oidc",
     .name = "Example ID",
     .prose = "The OpenID provider at which people sign in to the web page."},
    {.section = "telemetry",
     .prose = "OpenTelemetry: traces of turns, requests to models, tools and webhooks."},
    {.section = "backup",
     .prose = "A continuous copy of the data directory, in a directory or an S3-compatible object "
              "store; dormouse restore --at TIME restores it."},
    {.section = "archive",
     .prose = "Completed sessions are moved into compressed files, which dormouse show --archive "
              "reads."},
    {.section = "project", .name = "default", .prose = "Settings for the sessions of one project."},
    {.section = "model", .kind = "openai-chat", .name = "main", .more = other_models},
    {.section = "agent", .kind = "model", .name = "ops"},
    {.section = "agent",
     .kind = "acp",
     .name = "coder",
     .prose = "An external agent, which speaks ACP. opencode, claude and gemini need no entry when "
              "they are installed."},
    {.section = "tool", .kind = "http", .name = "deploy", .prose = "A tool that is a web service."},
    {.section = "tool.poll",
     .prose = "For services that cannot call back. {call.externalRef}, {call.pendingID}, "
              "{call.callID} and {call.sessionID} are those of the call."},
    {.section = "tool.validator",
     .prose = "It gets JSON on its standard input; exit status 0: the result fits; 1: it does not, "
              "and standard output says why."},
    {.section = "tool",
     .kind = "command",
     .name = "lint_tree",
     .prose = "A tool that is a program: arguments as JSON on its standard input, result on its "
              "standard output."},
    {.section = "mcp",
     .kind = "command",
     .name = "files",
     .prose = "An MCP server that is a program. Agents name its tools mcp:files:*."},
    {.section = "mcp", .kind = "url", .name = "issues", .prose = "An MCP server over HTTP."},
    {.section = "gate", .name = "deploys", .prose = "People are asked before these tools run."},
    {.section = "budget",
     .prose = "At one of these amounts a session pauses and asks people: raise it, or end the "
              "turn."},
    {.section = "source",
     .kind = "standard",
     .name = "ci",
     .prose = "Who may send results as signed webhooks, to POST /async-tool/webhook/ci."},
    {.section = "webhook",
     .prose = "Session events as signed webhooks (Standard Webhooks), sent until they are taken."},
    {.section = "notify",
     .kind = "slack",
     .prose = "A notification to people that something waits for them, with a link to "
              "PUBLIC_URL/a/PENDINGID."},
    {.section = "notify",
     .kind = "slack-bot",
     .prose = "The same by a bot of Slack; its messages change when the call is decided."},
    {.section = "notify",
     .kind = "email",
     .prose = "The same by e-mail, with a link that works once and signs its reader in."},
    {.section = "notify",
     .kind = "web-push",
     .prose = "The same to the browsers in which people switched it on, in /you of the web page."},
    {.section = "notify", .kind = "command", .prose = "The same by a program of your own."},
    {.section = "user",
     .name = "alice",
     .prose = "A person: who they are in other services, and what they may do."},
};

// Writes `text` as a comment with lines of up to 100 columns.
std::string comment(std::string_view text) {
    constexpr std::size_t width = 98;
    std::string out;
    while (!text.empty()) {
        std::size_t end = text.size() <= width ? text.size() : text.rfind(' ', width);
        out += "# " + std::string(text.substr(0, end)) + "\n";
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

std::string explained(Key const& key) {
    std::string out(key.about);
    if (!key.words.empty()) out += " One of: " + std::string(key.words);
    if (key.none) out += " \"none\": no limit.";
    return comment(out);
}

std::string value_of(Key const& key, Sample const& sample) {
    std::string_view value = key.example;
    if (key.name == "kind") value = sample.kind;
    if (key.name == "id" || key.name == "name") value = sample.name;
    if (value.empty()) return default_of(key);
    bool const is_text =
        key.kind == Kind::text || key.kind == Kind::word || key.kind == Kind::duration;
    return is_text && !value.starts_with('\'') ? "\"" + std::string(value) + "\""
                                               : std::string(value);
}

std::string table_of(Sample const& sample, bool first) {
    std::string out = sample.prose.empty() ? "" : comment(sample.prose);
    bool const list = is_list(sample.section);
    out += (list ? "#[[" : "#[") + std::string(sample.section) + (list ? "]]\n" : "]\n");
    for (Key const* const key : keys_of(sample.section)) {
        bool const of_kind = key->only.empty() || has_word(key->only, sample.kind);
        if (!of_kind || (!first && key->only.empty() && !key->required)) continue;
        if (key->kind == Kind::table && key->example.empty()) continue;  // has its own heading
        if (first || !key->required) out += explained(*key);
        out += "#" + std::string(key->name) + " = " + value_of(*key, sample) + "\n";
    }
    return out + std::string(sample.more);
}

}  // namespace

std::string example() {
    std::string out(head);
    std::set<std::string_view> shown;
    for (Sample const& sample : samples) {
        if (!is_part_of_tool(sample.section)) out += "\n";
        out += table_of(sample, shown.insert(sample.section).second);
    }
    return out;
}

}  // namespace dormouse::config
