// prompt: sends a text and follows its turn until it ends or sleeps.

#include <dormouse/id.h>

#include "base/media.h"
#include "base/text/text.h"
#include "base/url.h"
#include "cli/client/interrupts.h"
#include "cli/client/resolve.h"
#include "cli/commands/commands.h"
#include "cli/render/story.h"

#include <algorithm>
#include <ostream>
#include <vector>

namespace dormouse::cli {
namespace {

// Follows the turn of an accepted prompt through the event stream.
class Follower {
public:
    Follower(Context const& context, Client& client, std::string session, json::View accepted)
        : context_(context),
          client_(client),
          session_(std::move(session)),
          turn_(accepted["turnID"].string_or("")),
          seq_(accepted["seq"].integer_or(1)),
          after_(seq_ - 1),
          story_(turn_, context.global.json ? Style{} : context.style) {}

    [[nodiscard]] Outcome<int> follow();

private:
    // Ends a line of streamed text.
    [[nodiscard]] std::string close() {
        return context_.global.json ? std::string() : story_.end_line();
    }
    // Reads the session. If it sleeps or has stopped, notes its newest event; everything up to it
    // is printed first.
    [[nodiscard]] Outcome<void> poll();
    [[nodiscard]] Client::Stream take(SseEvent const& event);
    // Reads the stream until the turn ends or the session sleeps or stops.
    [[nodiscard]] Outcome<void> read();
    [[nodiscard]] Outcome<int> report_end();
    [[nodiscard]] Outcome<int> has_stopped() const;
    // Returns the commands that settle what waits; empty when nothing waits any more.
    [[nodiscard]] Outcome<std::string> what_waits() const;
    [[nodiscard]] Outcome<int> show_turn(int exit) const;
    [[nodiscard]] Outcome<Json> turn() const;

    Context const& context_;
    Client& client_;
    std::string session_;
    std::string turn_;
    std::int64_t seq_;    // the newest known event; at first the one that recorded the prompt
    std::int64_t after_;  // the newest printed event
    TurnStory story_;
    std::int64_t rests_at_ = 0;  // event at which the session sleeps or has stopped; 0: it works
    std::string stopped_;        // "error" or "paused": the session continues only on a command
    std::string finish_;
    std::optional<Failure> failed_;
};

Outcome<void> Follower::poll() {
    auto const reply = client_.get("/api/sessions/" + session_);
    if (!reply) return std::unexpected(reply.error());
    json::View const session(reply->body);
    bool const sleeps = session["activity"]["type"].string_or("") == "waiting_async";
    auto const state = session["status"].string_or("");
    stopped_ = state == "error" || state == "paused" ? state : std::string();
    rests_at_ = sleeps || !stopped_.empty() ? session["seq"].integer_or(0) : 0;
    return {};
}

Client::Stream Follower::take(SseEvent const& event) {
    auto const checked = json::check(event.data);
    if (!checked) return Client::Stream::go_on;
    json::View const view(*checked);
    auto const line = story_.on_event(event.name, view);
    if (!context_.global.json) context_.out << line.text << std::flush;
    after_ = view["seq"].integer_or(after_);  // a frame that is no event has no seq
    seq_ = std::max(seq_, after_);
    if (line.finish) {
        finish_ = *line.finish;
        return Client::Stream::stop;
    }
    if (line.may_sleep && after_ >= seq_ && after_ > rests_at_) {
        if (auto const polled = poll(); !polled) {
            failed_ = polled.error();
            return Client::Stream::stop;
        }
    }
    return rests_at_ != 0 && after_ >= rests_at_ ? Client::Stream::stop : Client::Stream::go_on;
}

Outcome<void> Follower::read() {
    auto const read =
        client_.events("/api/sessions/" + session_ + "/events", std::to_string(after_),
                       [this](SseEvent const& event) { return take(event); });
    if (!read) return read;
    if (failed_) return std::unexpected(*failed_);
    return {};
}

Outcome<int> Follower::follow() {
    for (;;) {
        // The prompt may wait behind a turn that sleeps, and no event would arrive: poll() finds
        // that.
        auto step = poll();
        if (step && (rests_at_ == 0 || after_ < rests_at_)) step = read();
        if (!step && step.error().exit == status::interrupted) {
            context_.out << close() << std::flush;
            context_.err << (context_.may_ask ? "\n" : "")  // ends the line of the terminal's ^C
                         << "interrupted; the turn continues: dormouse tail " << session_
                         << context_.flags() << '\n';
            return status::interrupted;
        }
        if (!step) {
            if (step.error().exit != status::unread) context_.out << close() << std::flush;
            return std::unexpected(step.error());
        }
        if (!finish_.empty()) return report_end();
        context_.out << close();
        if (!stopped_.empty()) return has_stopped();
        auto const waits = what_waits();
        if (!waits) return std::unexpected(waits.error());
        if (waits->empty()) continue;  // settled meanwhile: the turn continues
        if (!context_.global.json) context_.out << *waits << std::flush;
        return show_turn(status::sleeps);
    }
}

Outcome<Json> Follower::turn() const {
    auto const target = "/api/sessions/" + session_ + "/turns?limit=200";
    Json found;
    std::string cursor;
    do {
        auto const reply =
            client_.get(target + (cursor.empty() ? "" : "&cursor=" + percent_encode(cursor)));
        if (!reply) return std::unexpected(reply.error());
        json::View const page(reply->body);
        page["items"].elements([&](json::View turn) {
            if (turn["id"].string_or("") == turn_) found = turn.copy();
        });
        cursor = page["next"].string_or("");
    } while (found.is_null() && !cursor.empty());
    return found;
}

Outcome<int> Follower::show_turn(int exit) const {
    if (!context_.global.json) return exit;
    auto const object = turn();
    if (!object) return std::unexpected(object.error());
    context_.show(*object, "");
    return exit;
}

Outcome<int> Follower::report_end() {
    if (finish_ == "cancelled") return show_turn(status::gone);
    return show_turn(finish_ == "stop" || finish_ == "length" ? status::done : status::failed);
}

Outcome<int> Follower::has_stopped() const {
    bool const failed = stopped_ == "error";
    if (auto const shown = show_turn(status::failed); !shown) return shown;
    auto const why = why_stopped(client_, session_, seq_);
    return failure(failed ? status::failed : status::sleeps,
                   (failed ? "the session is in error" : "the session is paused") +
                       (why.empty() ? "" : ": " + why),
                   (failed ? "Retry it: dormouse retry " : "Resume it: dormouse resume ") +
                       session_ + context_.flags());
}

Outcome<std::string> Follower::what_waits() const {
    auto const reply = client_.get("/async-tool/pending?limit=200&sessionID=" + session_);
    if (!reply) return std::unexpected(reply.error());
    std::string text;
    json::View(reply->body)["items"].elements([&](json::View call) {  // newest first
        text.insert(0, how_to_settle(call, wall_clock(), context_.flags(), context_.style));
    });
    return text;
}

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
    if (text->empty() && args.files.empty())
        return failure(status::usage, "the text must not be empty");
    if (!valid_utf8(*text)) return failure(status::usage, "the text is not valid UTF-8");
    auto message = message_of(args, *text);
    if (!message) return std::unexpected(message.error());
    auto client = context.connect(interrupts.fd());
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
    return Follower(context, *client, *session, json::View(accepted->body)).follow();
}

}  // namespace dormouse::cli
