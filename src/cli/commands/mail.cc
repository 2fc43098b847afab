// Mail between sessions: mail, inbox, sent, release, alias.

#include "base/url.h"
#include "cli/client/resolve.h"
#include "cli/commands/commands.h"

#include "base/text/text.h"

#include <ostream>

namespace dormouse::cli {
namespace {

std::string delivery_line(json::View delivery) {
    std::string line = plain(delivery["to"]) + ": " + plain(delivery["status"]);
    if (auto const why = delivery["reason"].string()) line += " (" + *why + ")";
    return escape_for_terminal(line) + "\n";
}

std::string mail_text(json::View mail) {
    auto const from = mail["from"];
    std::string const who = from["alias"].string_or(
        from["sessionID"].string_or(plain(mail["by"]["type"]) + ":" + plain(mail["by"]["name"])));
    std::string line = plain(mail["number"]) + "  " + plain(mail["id"]) + "  from " + who + "  " +
                       plain(mail["status"]);
    if (auto const why = mail["reason"].string()) line += " (" + *why + ")";
    return escape_for_terminal(line) + "\n    " + escape_for_terminal(plain(mail["text"])) + "\n";
}

std::string aliases_text(json::View list) {
    std::string out;
    list["items"].elements([&](json::View session) {
        auto const alias = session["alias"].string();
        if (!alias) return;
        out += escape_for_terminal(*alias + "  " + plain(session["id"]) + "  " +
                                   plain(session["status"]) + "  " +
                                   plain(session["activity"]["type"])) +
               "\n";
    });
    return out.empty() ? "no session has an alias\n" : out;
}

Outcome<Json> mail_body(Context const& context, MailArgs const& args) {
    auto const text = text_or_input(context, args.text);
    if (!text) return std::unexpected(text.error());
    json::Writer body;
    body.begin_object();
    if (!args.from.empty()) body.member("from", args.from);
    if (args.to != "*") body.member("to", args.to);
    body.member("text", *text);
    if (!args.reply_to.empty()) body.member("replyTo", args.reply_to);
    if (args.resume || args.quiet) body.member("resume", args.resume);
    if (!args.ttl.empty()) {
        auto const ttl = milliseconds("--ttl", args.ttl);
        if (!ttl) return std::unexpected(ttl.error());
        body.member("ttl", *ttl);
    }
    return body.end_object().json();
}

std::string side_text(json::View side) {
    return side["alias"].string_or(side["sessionID"].string_or("a person"));
}

std::string sent_text(json::View mail) {
    std::string line = plain(mail["id"]) + "  from " + side_text(mail["from"]);
    if (mail["to"].exists()) line += " to " + side_text(mail["to"]);
    if (auto const status = mail["status"].string()) line += "  " + *status;
    if (auto const count = mail["receivers"].integer()) {
        line += "  to " + std::to_string(*count);
        if (auto const failed = mail["failed"].integer_or(0); failed > 0)
            line += ", failed " + std::to_string(failed);
    }
    std::string out =
        escape_for_terminal(line) + "\n    " + escape_for_terminal(plain(mail["text"])) + "\n";
    mail["receivers"].elements([&](json::View delivery) {
        std::string one = "  " + delivery["alias"].string_or(plain(delivery["sessionID"])) + ": " +
                          plain(delivery["status"]);
        if (auto const why = delivery["reason"].string()) one += " (" + *why + ")";
        out += escape_for_terminal(one) + "\n";
    });
    return out;
}

}  // namespace

Outcome<int> execute(Context const& context, SentArgs const& args) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    std::string const limit = "limit=" + std::to_string(args.limit);
    std::string target =
        "/api/mail?project=" + percent_encode(context.global.project) + "&" + limit;
    if (args.what.starts_with("mail_")) {
        target = "/api/mail/" + percent_encode(args.what) + "?" + limit;
    } else if (!args.what.empty()) {
        auto const id = resolve_session(*client, context.global.project, args.what);
        if (!id) return std::unexpected(id.error());
        target = "/api/mail?sessionID=" + *id + "&" + limit;
    }
    auto const reply = client->get(target);
    if (!reply) return std::unexpected(reply.error());
    json::View const found(reply->body);
    std::string text = found["items"].exists() ? "" : sent_text(found);
    found["items"].elements([&](json::View mail) { text += sent_text(mail); });
    context.show(reply->body, text.empty() ? "nothing\n" : text);
    return status::done;
}

Outcome<int> execute(Context const& context, MailArgs const& args) {
    auto const body = mail_body(context, args);
    if (!body) return std::unexpected(body.error());
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    auto const reply = client->post("/api/mail?project=" + percent_encode(context.global.project),
                                    *body, Keyed::yes);
    if (!reply) return std::unexpected(reply.error());
    std::string text;
    bool failed = false;
    json::View(reply->body)["receivers"].elements([&](json::View delivery) {
        text += delivery_line(delivery);
        failed = failed || plain(delivery["status"]) == "failed";
    });
    context.show(reply->body, text);
    return failed ? status::failed : status::done;
}

Outcome<int> execute(Context const& context, InboxArgs const& args) {
    auto found = connect_to_session(context, args.session);
    if (!found) return std::unexpected(found.error());
    auto& [client, id] = *found;
    auto target = "/api/sessions/" + id + "/inbox?limit=" + std::to_string(args.limit);
    if (args.after != 0) target += "&after=" + std::to_string(args.after);
    if (args.quarantined) target += "&status=quarantined";
    auto const reply = client.get(target);
    if (!reply) return std::unexpected(reply.error());
    std::string text;
    json::View(reply->body)["items"].elements([&](json::View mail) { text += mail_text(mail); });
    context.show(reply->body, text.empty() ? "no mail\n" : text);
    return status::done;
}

namespace {

Outcome<int> release_copy(Context const& context, Client& client) {
    auto const reply = client.post("/api/release", Json::trusted("{}"));
    if (!reply) return std::unexpected(reply.error());
    bool const held = json::View(reply->body)["released"].boolean_or(false);
    context.show(reply->body,
                 held ? "released: outstanding work starts\n" : "this server does not hold\n");
    return status::done;
}

}  // namespace

Outcome<int> execute(Context const& context, ReleaseArgs const& args) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    if (args.mail.empty()) return release_copy(context, *client);
    auto const reply =
        client->post("/api/mail/" + percent_encode(args.mail) + "/release", Json::trusted("{}"));
    if (!reply) return std::unexpected(reply.error());
    bool const any = json::View(reply->body)["released"].integer_or(0) > 0;
    context.show(reply->body, any ? "released\n" : "it is not quarantined\n");
    return status::done;
}

Outcome<int> execute(Context const& context, AliasArgs const& args) {
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    if (args.session.empty()) {
        auto const list = client->get("/api/projects/" + percent_encode(context.global.project) +
                                      "/sessions?alias=*&limit=200");
        if (!list) return std::unexpected(list.error());
        context.show(list->body, aliases_text(json::View(list->body)));
        return status::done;
    }
    auto const id = resolve_session(*client, context.global.project, args.session);
    if (!id) return std::unexpected(id.error());
    if (args.alias.empty() && !args.remove) {
        return failure(status::usage, "which alias?",
                       "dormouse alias SESSION NAME, or --remove to give it back.");
    }
    json::Writer body;
    body.begin_object().member("alias", args.alias).end_object();
    auto const reply = client->patch("/api/sessions/" + *id, body.json());
    if (!reply) return std::unexpected(reply.error());
    context.show(reply->body, session_text(json::View(reply->body), context.now(), context.style));
    return status::done;
}

}  // namespace dormouse::cli
