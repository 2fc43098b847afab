// Checks that no row of keys.cc expresses: derived members, and keys of one section that depend on
// each other.
#include "config/parts.h"

#include "config/members.h"

#include "base/text/text.h"
#include "base/url.h"
#include "session/event.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace dormouse::config {

namespace {

// A program with a slash in its name, and the folder to run it in, are relative to the file's
// folder; both must exist.
void check_program(Section const& section, std::vector<std::string>& command, std::string& cwd) {
    Reading const& reading = section.reading();
    if (!cwd.empty()) {
        cwd = reading.sibling(cwd);
        if (!reading.environment.is_folder(cwd))
            section.report("cwd", "is not a folder: " + cwd, "make it, or name another one");
    }
    if (section.node("command") == nullptr) return;
    if (command.empty() || command.front().empty()) {
        section.report("command", "names no program", "write for example [\"./deploy.sh\"]");
        return;
    }
    std::string& program = command.front();
    if (program.contains('/')) program = reading.sibling(program);
    if (!reading.environment.is_program(program)) {
        section.report("command", "names no program that can be run: " + program,
                       "name one in $PATH, or a file (as seen from the folder of this one) that "
                       "may be executed");
    }
}

void check_events(Section const& section, std::string_view key,
                  std::vector<std::string> const& types) {
    auto const known = session::event_types();
    for (std::string const& type : types) {
        if (std::ranges::find(known, type) != known.end()) continue;
        auto const near = nearest(type, known);
        section.report(key, "names " + shown(type) + ": event not found",
                       near.empty() ? "see docs/reference/events.md"
                                    : "did you mean \"" + std::string(near) + "\"?");
    }
}

// A secret of Standard Webhooks is base64 after its prefix; a part of it would sign with another
// key than the sender's.
void check_standard_secret(Section const& section, std::string_view key, Secret const& secret) {
    constexpr std::string_view prefix = "whsec_";
    if (!secret.value.starts_with(prefix)) return;
    auto const decoded = parse_base64(std::string_view(secret.value).substr(prefix.size()));
    if (decoded && !decoded->empty()) return;
    section.report(key,
                   "names " + secret.env +
                       ", whose value begins with whsec_ and is not base64 "
                       "after that",
                   "copy the secret whole, or, if it is not one of Standard Webhooks, use one "
                   "without that beginning");
}

void check_standard_secret(Section const& section, std::string_view key,
                           std::optional<Secret> const& secret) {
    if (secret) check_standard_secret(section, key, *secret);
}

}  // namespace

void finish(Section const& section, Server& out) {
    if (!out.remind_after) out.remind_after = out.remind_every;
    if (out.tls_cert.empty() == out.tls_key.empty()) return;
    bool const cert = out.tls_key.empty();
    section.report(cert ? "tls_cert" : "tls_key",
                   cert ? "is set without tls_key" : "is set without tls_cert",
                   std::string("name the file of ") +
                       (cert ? "its key in tls_key" : "its certificate in tls_cert"));
}

void finish(Section const& section, Limits& out) {
    if (out.calls_per_reply <= out.open_calls) return;
    section.report(section.given("calls_per_reply") ? "calls_per_reply" : "open_calls",
                   "does not fit: " + std::to_string(out.calls_per_reply) + " calls of a reply, " +
                       std::to_string(out.open_calls) + " open ones",
                   "let open_calls be no less than calls_per_reply");
}

std::string_view text(ModelKind kind) {
    constexpr std::string_view words[] = {"scripted",  "openai-chat", "openai-responses",
                                          "anthropic", "gemini",      "ollama"};
    return words[static_cast<std::size_t>(kind)];
}

namespace {

void check_prices(Section const& section) {
    bool const input = section.given("input_price");
    if (input) section.require("output_price", "a model with input_price has both");
    if (input) return;
    if (section.given("output_price"))
        section.require("input_price", "a model with output_price has both");
    else
        for (std::string_view const name : {"cache_read_price", "cache_write_price", "currency"})
            section.forbid(name, "has no meaning without input_price and output_price");
}

}  // namespace

void finish(Section const& section, Model& out) {
    check_prices(section);
    if (section.kind().empty()) return;
    if (out.kind != ModelKind::scripted)
        return section.require("model", "add the provider's name of the model");
    for (Key const* const key : keys_of("model")) {
        if (!has_word("id, kind, concurrency, input_price, output_price, cache_read_price, "
                      "cache_write_price, currency",
                      key->name))
            section.forbid(key->name,
                           "has no meaning for kind \"scripted\", which sends no requests");
    }
}

namespace {

// `~` is the home directory; a relative path is relative to the file's folder.
std::string root_of(Reading const& reading, std::string root) {
    if (root == "~" || root.starts_with("~/"))
        root = reading.environment.variable("HOME").value_or("") + root.substr(1);
    return reading.sibling(root);
}

Json read_options(Section const& section) {
    Node const* const node = section.node("session_options");
    if (!node) return {};
    for (Member const& member : *node->get<Node::Table>()) {
        if (!member.node.get<std::string>() && !member.node.get<bool>())
            section.report("session_options", "sets " + shown(member.name) + " to an invalid value",
                           "write a text, true or false");
    }
    return to_json(*node).value_or(Json());
}

void finish_external_agent(Section const& section, ExternalAgent& out) {
    out.options = read_options(section);
    for (std::string& root : out.roots) {
        root = root_of(section.reading(), std::move(root));
        if (!section.reading().environment.is_folder(root))
            section.report("roots", "names no folder: " + root, "make it, or name another one");
    }
    if (section.node("acp") && (out.command.empty() || out.command.front().empty()))
        section.report("acp", "names no program", "write for example [\"opencode\", \"acp\"]");
    for (std::string const& name : out.env_allow) {
        if (name.starts_with("DORMOUSE_"))
            section.report("env_allow", "names " + name + ", which no agent gets", "leave it out");
    }
}

}  // namespace

void finish(Section const& section, Agent& out) {
    if (section.kind() == "acp") return finish_external_agent(section, out.external);
    section.require("model", "name a [[model]], or an external agent with acp");
}

void finish(Section const& section, Tool& out) {
    if (section.text("timeout") == "none") out.timeout = Duration::max();
    if (out.input_schema.is_null()) out.input_schema = Json::trusted(R"({"type":"object"})");
    check_standard_secret(section, "webhook_secret_env", out.webhook_secret);
    check_standard_secret(section, "secret_env", out.http.secret);
    if (section.kind() == "http") section.require("url", "add the address of the web service");
    if (section.kind() != "command") return;
    section.require("command", "add the program and its arguments");
    out.command.later = out.http.later != Later::never;
    if (section.node("later") && out.command.later)
        section.report("later", "is for kind \"http\" unless it is \"never\"",
                       "leave it out: exit status 75 or descriptor 3 say \"later\"");
    check_program(section, out.command.command, out.command.cwd);
}

namespace {

// The grant client_credentials needs all three. For a sign-in, a client belongs to its issuer,
// unless its name is the address of its own metadata.
void finish_oauth(Section const& section, Mcp const& out) {
    bool const any =
        !out.issuer.empty() || !out.client_id.empty() || out.client_secret || !out.scopes.empty();
    if (!any) return;
    bool const own = !out.sign_in || out.client_secret ||
                     (!out.client_id.empty() && !out.client_id.starts_with("https://"));
    if (own) {
        section.require("issuer", "write the address of the authorization server");
        section.require("client_id", "write the client identifier that the provider has issued");
    }
    if (!out.sign_in)
        section.require("client_secret_env", "write the name of the variable with the secret");
    for (std::string const& scope : out.scopes) {
        if (scope.find_first_of(" \t\"\\") != std::string::npos)
            section.report("scopes", "names " + shown(scope) + ", which is not one scope",
                           "write each scope as a text of its own");
    }
}

}  // namespace

void finish(Section const& section, Mcp& out) {
    if (section.kind() == "url") return finish_oauth(section, out);
    section.require("command", "add the program and its arguments, or url for a server over HTTP");
    check_program(section, out.command, out.cwd);
}

void finish(Section const& section, Validator& out) {
    check_program(section, out.command, out.cwd);
}

namespace {

// Checks {input.NAME}, where NAME consists of letters, digits, _ . and -.
void check_question(Section const& section, std::string_view ask) {
    constexpr std::string_view start = "{input.";
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
    for (auto at = ask.find(start); at != ask.npos; at = ask.find(start, at + 1)) {
        auto const name = ask.substr(at + start.size());
        auto const end = name.find_first_not_of(letters);
        if (end != 0 && end != name.npos && name[end] == '}') continue;
        return section.report("ask", "has " + shown(ask.substr(at)) + ", which is not {input.NAME}",
                              "write for example {input.target}; its name is of letters, digits "
                              "and _ . -");
    }
}

void check_roles(Section const& section, std::string_view key,
                 std::vector<std::string> const& names) {
    constexpr std::string_view prefix = "role:";
    constexpr std::string_view roles[] = {"read", "answer", "operate", "admin"};
    for (std::string const& name : names) {
        if (!name.starts_with(prefix)) continue;
        std::string const role = name.substr(prefix.size());
        if (std::ranges::find(roles, role) != std::end(roles)) continue;
        auto const near = nearest(lower_case(role), roles);
        section.report(key, "names " + shown(name) + ": role not found",
                       near.empty() ? "write role:read, role:answer, role:operate or role:admin"
                                    : "did you mean \"role:" + std::string(near) + "\"?");
    }
}

// "escalate:alice,role:answer" → the answerers asked next.
void read_escalation(Section const& section, std::string_view names, Gate& out) {
    constexpr std::size_t names_max = 16;
    while (true) {
        auto const comma = std::min(names.find(','), names.size());
        std::string const name(names.substr(0, comma));
        bool const plain = std::ranges::all_of(
            name, [](unsigned char c) { return c > ' ' && c < 0x7F && c != '"'; });
        if (name.empty() || !plain)
            return section.report("on_expiry", "names no answerer after \"escalate:\"",
                                  "write escalate:NAME, or escalate:NAME,NAME");
        out.escalate_to.push_back(name);
        if (comma == names.size()) break;
        names.remove_prefix(comma + 1);
    }
    if (out.escalate_to.size() > names_max)
        section.report("on_expiry", "names more than 16", "name fewer, or a role");
    check_roles(section, "on_expiry", out.escalate_to);
    if (!out.timeout)
        section.report("on_expiry", "escalates at a deadline, but none is set",
                       "set timeout, for example \"4h\"");
}

void read_expiry(Section const& section, Gate& out) {
    constexpr std::string_view escalate = "escalate:";
    std::string const word = section.text("on_expiry");
    if (word.starts_with(escalate))
        return read_escalation(section, std::string_view(word).substr(escalate.size()), out);
    if (word == "tell") out.on_expiry = OnExpiry::tell;
    if (word.empty() || word == "deny" || word == "tell") return;
    section.report("on_expiry", "is " + shown(word),
                   "write \"deny\", \"tell\" or \"escalate:NAME\"");
}

}  // namespace

void finish(Section const& section, Gate& out) {
    if (!out.remind_after) out.remind_after = out.remind_every;
    check_question(section, out.ask);
    check_roles(section, "answerers", out.answerers);
    read_expiry(section, out);
    if (section.node("tools") && out.tools.empty())
        section.report("tools", "is empty", "name the tools that this gate guards");
    for (std::string const& tool : out.tools) {
        if (!section.given("id")) out.id += (out.id.empty() ? "" : ",") + tool;
    }
}

void finish(Section const& section, Budget& out) {
    check_roles(section, "answerers", out.answerers);
    constexpr std::string_view amounts[] = {"tokens", "cost", "steps", "wall_time"};
    if (std::ranges::none_of(amounts, [&](auto const name) { return section.given(name); }))
        section.require("tokens", "add an amount: tokens, cost, steps or wall_time");
    if (out.cost && out.cost->micros == 0)
        section.report("cost", "is 0", "write a number greater than 0");
    if (!section.given("cost")) section.forbid("currency", "has no meaning without cost");
    if (!out.timeout) section.forbid("warn_before", "has no meaning without timeout");
    if (out.per == session::BudgetPer::project_day)
        section.forbid("agents",
                       "has no meaning with per = \"project_day\", which counts all agents");
}

void finish(Section const& section, Source& out) {
    if (out.kind != SourceKind::standard) return;
    for (Secret const& secret : out.secrets) check_standard_secret(section, "secrets_env", secret);
}

void finish(Section const& section, Webhook& out) {
    check_events(section, "events", out.events);
    check_standard_secret(section, "secret_env", out.secret);
}

namespace {

// A bot writes to a channel by the service's API.
void finish_bot(Section const& section, Notify& out) {
    bool const slack = out.kind == NotifyKind::slack_bot;
    section.require("token_env", "name the variable with the bot's token");
    section.require("channel", slack ? "write the channel's id" : "write the chat's id");
    if (out.api_url.empty())
        out.api_url = slack ? "https://slack.com/api" : "https://api.telegram.org";
}

}  // namespace

void finish(Section const& section, Notify& out) {
    check_events(section, "on", out.on);
    if (section.kind().empty()) return;
    if (out.kind == NotifyKind::slack_bot || out.kind == NotifyKind::telegram)
        return finish_bot(section, out);
    if (out.kind == NotifyKind::email || out.kind == NotifyKind::web_push) return;
    if (out.kind != NotifyKind::command)
        return section.require("url_env", "name the variable with the address");
    section.require("command", "add the program and its arguments");
    if (section.node("command") == nullptr) return;
    bool const named = !out.command.empty() && !out.command.front().empty();
    if (named && out.command.front().contains('/'))
        out.command.front() = section.reading().sibling(out.command.front());
    if (named && section.reading().environment.is_program(out.command.front())) return;
    section.report("command", "names no program that can be run",
                   "write for example [\"./tell.sh\"], a file that may be executed");
}

void finish(Section const& section, Email& out) {
    if (out.server.empty()) return;
    section.require("from", "write the sender's address");
    auto const url = parse_url("http://" + out.server);
    if (url && !url->port)
        section.report("server", "has no port",
                       "write HOST:PORT, for example \"" + out.server + ":587\"");
    if (out.tls == MailTls::none && url && !url->is_loopback())
        section.report("tls", "is \"none\", and the server is on another machine",
                       "write \"starttls\" or \"tls\"");
}

}  // namespace dormouse::config
