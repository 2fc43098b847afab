// Commands that settle calls and move sessions: result, error, progress, approve, deny, claim,
// cancel, resume, retry, end, move, delete, fork.

#include "base/url.h"
#include "cli/client/resolve.h"
#include "cli/commands/follow.h"
#include "cli/commands/pick.h"

#include "base/text/text.h"

#include <algorithm>
#include <istream>
#include <ostream>
#include <string_view>
#include <utility>

namespace dormouse::cli {
namespace {

Outcome<Json> text_value(std::string const& text) {
    if (!valid_utf8(text)) return failure(status::usage, "the text is not valid UTF-8");
    return Json::trusted(json::quote(text));
}

// Returns the value of the flags; text becomes a JSON string.
Outcome<Json> submitted_value(Context const& context, SubmitArgs const& args) {
    if (args.json_value) return json_argument("--json-value", *args.json_value);
    auto text = args.file ? file_text(*args.file) : text_or_input(context, args.text.value_or(""));
    if (!text) return std::unexpected(text.error());
    if (args.file && args.file->ends_with(".json")) return json_argument(*args.file, *text);
    return text_value(*text);
}

Outcome<Json> submission_body(Context const& context, SubmitArgs const& args,
                              std::string const& id) {
    auto const value = submitted_value(context, args);
    if (!value) return std::unexpected(value.error());
    json::Writer body;
    body.begin_object().member("pendingID", id);
    if (args.kind == SubmitArgs::Kind::progress) {
        body.member("payload", *value);
        if (!args.key.empty()) body.member("key", args.key);
        return body.end_object().json();
    }
    if (args.kind == SubmitArgs::Kind::error)
        return body.member("error", *value).end_object().json();
    body.key("result").begin_object();
    if (!args.title.empty()) body.member("title", args.title);
    body.member("output", *value);
    if (!args.metadata.empty()) {
        auto const metadata = json_argument("--metadata", args.metadata);
        if (!metadata) return std::unexpected(metadata.error());
        body.member("metadata", *metadata);
    }
    return body.end_object().end_object().json();
}

std::string_view route(SubmitArgs::Kind kind) {
    switch (kind) {
        case SubmitArgs::Kind::result: return "/async-tool/result";
        case SubmitArgs::Kind::error: return "/async-tool/error";
        case SubmitArgs::Kind::progress: return "/async-tool/progress";
    }
    return {};
}

// The rule of an approval with --session or --always.
Outcome<void> write_rule(DecideArgs const& args, json::Writer& body) {
    bool const rule = args.session || args.always;
    if (!rule && (!args.match.empty() || !args.lifetime.empty())) {
        return failure(status::usage, "--match and --for are about later calls",
                       "Add --session or --always.");
    }
    if (!rule) return {};
    body.key("rule").begin_object().member("scope", args.always ? "project" : "session");
    if (!args.lifetime.empty()) {
        auto const lifetime = milliseconds("--for", args.lifetime);
        if (!lifetime) return std::unexpected(lifetime.error());
        body.member("forMs", *lifetime);
    }
    if (!args.match.empty()) {
        body.key("match").begin_array();
        for (std::string const& name : args.match) body.value(name);
        body.end_array();
    }
    body.end_object();
    return {};
}

Outcome<Json> decision_body(DecideArgs const& args, std::string const& id, json::View call) {
    json::Writer body;
    body.begin_object().member("pendingID", id).member("approved", args.approved);
    if (auto const digest = call["inputDigest"].string()) body.member("inputDigest", *digest);
    if (!args.reason.empty()) body.member("reason", args.reason);
    for (auto const& [name, text] :
         {std::pair("arguments", args.arguments), std::pair("content", args.content)}) {
        if (text.empty()) continue;
        auto const value = json_argument(std::string("--") + name, text);
        if (!value) return std::unexpected(value.error());
        body.member(name, *value);
    }
    if (auto const rule = write_rule(args, body); !rule) return std::unexpected(rule.error());
    return body.end_object().json();
}

Outcome<int> cancel_session(Context const& context, Client& client, std::string const& id,
                            CancelArgs const& args) {
    json::Writer body;
    body.begin_object().member(args.all ? "all" : "turn", true);
    if (!args.reason.empty()) body.member("reason", args.reason);
    auto const reply = client.post("/api/sessions/" + id + "/cancel", body.end_object().json());
    if (!reply) return std::unexpected(reply.error());
    context.show(reply->body, session_text(json::View(reply->body), context.now(), context.style));
    return status::done;
}

// Asks for confirmation; a script must pass --yes.
Outcome<bool> sure(Context const& context, std::string const& session) {
    if (!context.may_ask) {
        return failure(status::usage, "delete asks for confirmation, but there is no terminal",
                       "To delete without confirmation: --yes.");
    }
    context.err << "Delete " << session << " with its whole history, for good? [y/N] "
                << std::flush;
    std::string answer;
    std::getline(context.in, answer);
    return answer == "y" || answer == "Y" || answer == "yes";
}

}  // namespace

namespace {

// Runs `settle(client, id)`, which posts what settles the call and shows the reply; then follows
// the turn.
template <class Settle>
Outcome<int> settle_call(Context const& context, std::string const& which,
                         std::string const& written_wait, Offered offered, Settle settle) {
    auto const wait = wait_option(written_wait);
    if (!wait) return std::unexpected(wait.error());
    TurnWait turn(*wait);
    auto found = connect_to_pending(context, which, offered, turn.interrupt_fd());
    if (!found) return std::unexpected(found.error());
    auto& [client, id] = *found;
    if (auto const noted = turn.before_call(client, id); !noted)
        return std::unexpected(noted.error());
    if (auto const done = settle(client, id); !done) return std::unexpected(done.error());
    return turn.follow(context, client);
}

Outcome<void> submit(Context const& context, SubmitArgs const& args, Client& client,
                     std::string const& id) {
    auto const body = submission_body(context, args, id);
    if (!body) return std::unexpected(body.error());
    auto const reply = client.post(std::string(route(args.kind)), *body);
    if (!reply) return std::unexpected(reply.error());
    bool const progress = args.kind == SubmitArgs::Kind::progress;
    context.show(reply->body, progress ? "noted\n" : submission_text(json::View(reply->body)));
    return {};
}

// A call that was chosen from a list is shown whole before it is decided.
Outcome<void> confirm_choice(Context const& context, DecideArgs const& args, json::View call) {
    if (!args.id.empty()) return {};
    context.err << pending_text(call, context.now(), context.style);
    if (confirmed(context, args.approved ? "Approve this?" : "Deny this?")) return {};
    return failure(status::interrupted, "nothing was decided");
}

Outcome<void> decide(Context const& context, DecideArgs const& args, Client& client,
                     std::string const& id) {
    auto const call = client.get("/async-tool/pending/" + id);
    if (!call) return std::unexpected(call.error());
    json::View const shown(call->body);
    if (auto const sure = confirm_choice(context, args, shown); !sure)
        return std::unexpected(sure.error());
    auto const body = decision_body(args, id, shown);
    if (!body) return std::unexpected(body.error());
    auto const reply = client.post("/async-tool/decision", *body);
    if (!reply) return std::unexpected(reply.error());
    std::string what = plain(shown["tool"]) + " ";
    if (json::View const edited = json::View(*body)["arguments"]; edited.exists())
        what += plain(edited) + " instead of ";
    what = escape_for_terminal(what + plain(shown["input"]));
    context.show(reply->body, (args.approved ? "approve " : "deny ") + what + ": " +
                                  submission_text(json::View(reply->body)));
    return {};
}

}  // namespace

namespace {

std::string example_of(SubmitArgs::Kind kind) {
    switch (kind) {
        case SubmitArgs::Kind::error: return "dormouse error CALL 'the build failed'";
        case SubmitArgs::Kind::progress: return "dormouse progress CALL 'half done'";
        default: return "dormouse result CALL 'it is live'";
    }
}

}  // namespace

Outcome<int> execute(Context const& context, SubmitArgs const& given) {
    SubmitArgs args = given;
    bool const other = args.json_value || args.file;
    if (!other) take_text_alone(context, args.id, args.text);
    if (!other && !args.text)
        return failure(status::usage, "give the value: TEXT, --json-value JSON or --file FILE",
                       "For example: " + example_of(args.kind) + ".");
    return settle_call(
        context, args.id, args.wait, Offered::all,
        [&](Client& client, std::string const& id) { return submit(context, args, client, id); });
}

Outcome<int> execute(Context const& context, DecideArgs const& args) {
    return settle_call(
        context, args.id, args.wait, Offered::approvals,
        [&](Client& client, std::string const& id) { return decide(context, args, client, id); });
}

Outcome<int> execute(Context const& context, CancelArgs const& args) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    auto const id = args.id.empty() ? pick_call(context, *client, Offered::all)
                                    : resolve_either(*client, context.global.project, args.id);
    if (!id) return std::unexpected(id.error());
    if (!id->starts_with("pnd_")) return cancel_session(context, *client, *id, args);
    if (args.all)
        return failure(status::usage, "--all is for sessions", "Name the session instead.");
    std::string const why = args.reason.empty() ? "" : "?reason=" + percent_encode(args.reason);
    auto const reply = client->remove("/async-tool/pending/" + *id + why);
    if (!reply) return std::unexpected(reply.error());
    context.show(reply->body, submission_text(json::View(reply->body)));
    return status::done;
}

Outcome<int> execute(Context const& context, ClaimArgs const& args) {
    auto const hold_ms = milliseconds("--for", args.hold);
    if (!hold_ms) return std::unexpected(hold_ms.error());
    auto found = connect_to_pending(context, args.id);
    if (!found) return std::unexpected(found.error());
    auto& [client, id] = *found;
    json::Writer body;
    body.begin_object().member("forMs", args.release ? 0 : *hold_ms).end_object();
    auto const reply = client.post("/async-tool/pending/" + id + "/claim", body.json());
    if (!reply) return std::unexpected(reply.error());
    json::View const call(reply->body);
    auto const what = escape_for_terminal(plain(call["tool"]) + " " + plain(call["input"]));
    context.show(reply->body, args.release ? "gave " + what + " back\n"
                                           : "claimed " + what + " for " + args.hold + "\n");
    return status::done;
}

Outcome<int> execute(Context const& context, DeleteArgs const& args) {
    auto found = connect_to_session(context, args.session);
    if (!found) return std::unexpected(found.error());
    auto& [client, id] = *found;
    auto const yes = args.yes ? Outcome<bool>(true) : sure(context, id);
    if (!yes) return std::unexpected(yes.error());
    if (!*yes) return failure(status::failed, "not deleted");
    auto const reply = client.remove("/api/sessions/" + id);
    if (!reply) return std::unexpected(reply.error());
    if (!context.global.json) context.out << "deleted " << id << '\n';
    return status::done;
}

Outcome<int> execute(Context const& context, MoveArgs const& args) {
    auto const wait = wait_option(args.wait);
    if (!wait) return std::unexpected(wait.error());
    TurnWait turn(*wait);
    auto found = args.move == "retry"
                     ? connect_to_failed_session(context, args.session, turn.interrupt_fd())
                     : connect_to_session(context, args.session, turn.interrupt_fd());
    if (!found) return std::unexpected(found.error());
    auto& [client, id] = *found;
    if (auto const noted = turn.before_session(client, id); !noted)
        return std::unexpected(noted.error());
    auto const reply = client.post("/api/sessions/" + id + "/" + args.move, Json::trusted("{}"));
    if (!reply) return std::unexpected(reply.error());
    json::View const moved(reply->body);
    context.show(reply->body, session_text(moved, context.now(), context.style));
    return turn.follow(context, client, moved["activity"]["turnID"].string_or(""));
}

Outcome<int> execute(Context const& context, RelocateArgs const& args) {
    auto found = connect_to_session(context, args.session);
    if (!found) return std::unexpected(found.error());
    auto& [client, id] = *found;
    Json const body = json::Writer().begin_object().member("node", args.to).end_object().json();
    auto const reply = client.patch("/api/sessions/" + id, body);
    if (!reply) return std::unexpected(reply.error());
    context.show(reply->body, session_text(json::View(reply->body), context.now(), context.style));
    return status::done;
}

Outcome<int> execute(Context const& context, ForkArgs const& args) {
    auto found = connect_to_session(context, args.session);
    if (!found) return std::unexpected(found.error());
    auto& [client, id] = *found;
    auto seq = args.seq;
    if (seq == 0) {
        auto const session = client.get("/api/sessions/" + id);
        if (!session) return std::unexpected(session.error());
        seq = static_cast<std::uint64_t>(json::View(session->body)["seq"].integer_or(0));
    }
    json::Writer body;
    body.begin_object().member("seq", seq);
    if (!args.title.empty()) body.member("title", args.title);
    auto const reply =
        client.post("/api/sessions/" + id + "/fork", body.end_object().json(), Keyed::yes);
    if (!reply) return std::unexpected(reply.error());
    context.show(reply->body, session_text(json::View(reply->body), context.now(), context.style));
    return status::done;
}

}  // namespace dormouse::cli
