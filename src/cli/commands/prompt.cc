// prompt: sends a text and follows its turn until it ends or sleeps (follow.h).

#include <dormouse/id.h>

#include "base/media.h"
#include "base/text/text.h"
#include "base/url.h"
#include "cli/client/resolve.h"
#include "cli/commands/follow.h"

#include <algorithm>
#include <ostream>
#include <vector>

namespace dormouse::cli {
namespace {

Outcome<std::string> make_session(Context const& context, Client& client,
                                  std::string const& agent) {
    json::Writer body;
    body.begin_object().member("agentID", agent).end_object();
    auto const target = "/api/projects/" + percent_encode(context.global.project) + "/sessions";
    auto const reply = client.post(target, body.json(), Keyed::yes);
    if (!reply) return std::unexpected(reply.error());
    return json::View(reply->body)["id"].string_or("");
}

// Tells a new user who has opencode but names no agent that the demo's script answers.
void mention_demo(Context const& context, Client& client) {
    auto const reply = client.get("/api/agents");
    if (!reply) return;
    std::string others;
    json::View(reply->body)["items"].elements([&](json::View one) {
        bool const usable = one["available"].boolean_or(true);
        std::string const id = one["id"].string_or("");
        if (usable && !id.starts_with("demo")) others += (others.empty() ? "" : ", ") + id;
    });
    if (others.empty()) return;
    context.err
        << "dormouse prompt: the agent is \"demo\", which follows a script. There are also: "
        << escape_for_terminal(others) << "; name one with --agent.\n";
}

// Without a name uses demo, or else the only agent of the server.
Outcome<std::string> new_session(Context const& context, Client& client, std::string const& agent) {
    auto made = make_session(context, client, agent.empty() ? "demo" : agent);
    if (made && agent.empty() && context.may_ask) mention_demo(context, client);
    if (made || !agent.empty() || code_of(made.error()) != "bad_value") return made;
    auto const reply = client.get("/api/agents");
    if (!reply) return std::unexpected(reply.error());
    std::vector<std::string> names;
    json::View(reply->body)["items"].elements([&](json::View one) {
        if (one["available"].boolean_or(true)) names.push_back(one["id"].string_or(""));
    });
    if (names.size() == 1) return make_session(context, client, names.front());
    std::string all;
    for (auto const& name : names) all += (all.empty() ? "" : ", ") + name;
    return failure(status::usage,
                   names.empty() ? "the server has no agent" : "which agent? There are " + all,
                   names.empty() ? "Configure one: docs/how-to/first-agent.md."
                                 : "Name one: --agent " + shell_word(names.front()) + ".");
}

Outcome<std::string> session_of(Context const& context, Client& client, PromptArgs const& args) {
    if (!args.session.empty()) return resolve_session(client, context.global.project, args.session);
    if (!args.last) return new_session(context, client, args.agent);
    auto const url = server_url(context.global, context.env);
    auto const last = last_session(data_directory(context.global, context.env), url);
    if (SessionId::parse(last)) return {last};
    return failure(status::not_found, "no session was prompted before on " + url,
                   "Start one: dormouse prompt 'TEXT'. Or name one: -s SESSION.");
}

// Writes {"text": …} or {"parts": …} and leaves the object open.
Outcome<json::Writer> message_of(PromptArgs const& args, std::string const& text) {
    json::Writer body;
    body.begin_object();
    if (args.files.empty()) {
        body.member("text", text);
        return body;
    }
    body.key("parts").begin_array();
    if (!text.empty()) body.begin_object().member("text", text).end_object();
    if (auto const written = write_files(body, args.files); !written)
        return std::unexpected(written.error());
    body.end_array();
    return body;
}

Outcome<Reply> send(Client& client, PromptArgs const& args, std::string const& session,
                    json::Writer body, std::string const& answers) {
    if (!args.when.empty()) body.member("when", args.when);
    if (!answers.empty()) body.member("answers", answers);
    if (args.reopen) body.member("reopen", true);
    body.end_object();
    return client.post("/api/sessions/" + session + "/prompt", body.json(), Keyed::yes);
}

}  // namespace

Outcome<std::string> file_part(std::string const& path) {
    auto const bytes = file_text(path, sent_file_bytes_max);
    if (!bytes) return std::unexpected(bytes.error());
    std::string const name = path.substr(path.rfind('/') + 1);
    if (bytes->empty()) return failure(status::usage, "the file " + path + " is empty");
    if (!is_file_name(name) || !valid_utf8(name))
        return failure(status::usage, "the name of the file " + path + " cannot be sent");
    std::string_view const mime = media_type_of_file(name);
    bool const image = mime.starts_with("image/") && mime != "image/svg+xml";
    if (image && image_type(*bytes) != mime)
        return failure(status::usage, "the file " + path + " is no " + std::string(mime));
    json::Writer out;
    out.begin_object().member("type", image ? "image" : "file").member("mime", mime);
    auto const* const data = reinterpret_cast<std::uint8_t const*>(bytes->data());
    out.member("name", name).member("data", base64({data, bytes->size()})).end_object();
    return out.take();
}

Outcome<void> write_files(json::Writer& out, std::vector<std::string> const& paths) {
    for (std::string const& path : paths) {
        auto const part = file_part(path);
        if (!part) return std::unexpected(part.error());
        out.raw(*part);
    }
    return {};
}

Outcome<int> execute(Context const& context, PromptArgs const& args) {
    auto const text = text_or_input(context, args.text);  // Ctrl-C ends the read
    Interrupts const interrupts;
    if (!text) return std::unexpected(text.error());
    auto const wait = wait_option(args.wait);
    if (!wait) return std::unexpected(wait.error());
    Patience const patience(interrupts, wait->limit);
    if (text->empty() && args.files.empty())
        return failure(status::usage, "the text must not be empty");
    if (!valid_utf8(*text)) return failure(status::usage, "the text is not valid UTF-8");
    auto message = message_of(args, *text);
    if (!message) return std::unexpected(message.error());
    auto client = context.connect(patience.fd());
    if (!client) return std::unexpected(client.error());
    auto const session = session_of(context, *client, args);
    if (!session) return std::unexpected(session.error());
    std::string answers;
    if (!args.answers.empty()) {
        auto const id = resolve_pending(*client, context.global.project, args.answers);
        if (!id) return std::unexpected(id.error());
        answers = *id;
    }
    auto const accepted = send(*client, args, *session, *std::move(message), answers);
    if (!accepted) return std::unexpected(accepted.error());
    remember_session(data_directory(context.global, context.env),
                     server_url(context.global, context.env), *session);
    if (args.no_follow) {
        context.show(accepted->body, *session + "\n");
        return status::done;
    }
    if (!context.global.json)
        context.out << context.style(Paint::dim, *session) << '\n' << std::flush;
    if (auto const behind = json::View(accepted->body)["queuedBehind"].string();
        behind && !context.global.json) {
        context.out << context.style(Paint::dim, "queued behind " + escape_for_terminal(*behind))
                    << '\n'
                    << std::flush;
    }
    auto const seq = json::View(accepted->body)["seq"].integer_or(1);
    return follow_turn(context, *client, patience,
                       {.session = *session,
                        .turn = json::View(accepted->body)["turnID"].string_or(""),
                        .seq = seq,
                        .after = seq - 1,
                        .through_sleeps = wait->given});
}

}  // namespace dormouse::cli
