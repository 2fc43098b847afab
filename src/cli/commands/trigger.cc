// trigger, listen: test webhooks of a source, signed with its secret from the configuration.

#include "cli/client/resolve.h"
#include "cli/commands/commands.h"
#include "cli/commands/pick.h"

#include "base/text/text.h"

#include <filesystem>
#include <ostream>
#include <utility>
#include <vector>

namespace dormouse::cli {
namespace {

constexpr Duration forward_limit{15'000};

Outcome<SignedDelivery> signed_by(Context const& context, SampleOptions const& options) {
    auto made = context.programs.sign(options);
    if (made) return *std::move(made);
    std::string what;
    for (std::string const& mistake : made.error()) what += (what.empty() ? "" : "\n") + mistake;
    return failure(status::usage, std::move(what),
                   "The configuration is the one that serve uses, or --config FILE.");
}

// The configuration of the server, if that is a file here; else the one that serve would use.
std::string config_of(Context const& context, Client& client, std::string const& named) {
    std::error_code ignored;
    auto const used = named.empty() ? client.get("/api/config") : Outcome<Reply>(Reply());
    if (named.empty() && used) {
        auto file = json::View(used->body)["file"].string_or("");
        if (!file.empty() && std::filesystem::exists(file, ignored)) return file;
    }
    return find_config(config_places(named, context.env));
}

Outcome<std::string> whole_body(Context const& context, std::string const& file) {
    if (file == "-") return text_or_input(context, file);
    return file_text(file, std::size_t{1} << 20);
}

Outcome<void> write_outcome(Context const& context, TriggerArgs const& args,
                            SampleOptions& options) {
    options.error = args.error;
    if (args.json_value) {
        auto const value = json_argument("--json-value", *args.json_value);
        if (!value) return std::unexpected(value.error());
        options.output = value->text();
        return {};
    }
    auto const text = text_or_input(context, args.text.value_or("sample"));
    if (!text) return std::unexpected(text.error());
    if (!valid_utf8(*text) || !valid_utf8(args.error.value_or("")))
        return failure(status::usage, "the text is not valid UTF-8");
    options.output = json::quote(*text);
    return {};
}

// Names the call, by its id and by its externalRef.
Outcome<void> name_call(Context const& context, Client& client, std::string const& given, bool own,
                        SampleOptions& options) {
    if (given.empty() && !context.may_ask)
        return failure(status::usage, "trigger needs a call or a body",
                       "Name a call that waits (dormouse pending), or give --body FILE.");
    auto id = given.empty() ? pick_call(context, client, Offered::all)
                            : resolve_pending(client, context.global.project, given);
    if (!id) return std::unexpected(id.error());
    auto const call = client.get("/async-tool/pending/" + *id);
    if (!call) return std::unexpected(call.error());
    options.pending = *std::move(id);
    options.reference = json::View(call->body)["externalRef"].string_or("");
    if (own) options.tool = json::View(call->body)["tool"].string_or("");
    if (options.press) options.press->digest = json::View(call->body)["inputDigest"].string_or("");
    return {};
}

std::string header_lines(std::vector<std::pair<std::string, std::string>> const& headers) {
    std::string out;
    for (auto const& [name, value] : headers) out.append(name).append(": ").append(value) += '\n';
    return out;
}

std::string request_text(Context const& context, SignedDelivery const& delivery) {
    std::string out = "POST " + server_url(context.global, context.env) + delivery.target + "\n";
    out += header_lines(delivery.headers);
    return escape_for_terminal(out + "\n" + delivery.body, true) + "\n";
}

Json request_json(Context const& context, SignedDelivery const& delivery) {
    json::Writer out;
    out.begin_object().member("method", "POST");
    out.member("url", server_url(context.global, context.env) + delivery.target);
    out.key("headers").begin_object();
    for (auto const& [name, value] : delivery.headers) out.member(name, value);
    return out.end_object().member("body", delivery.body).end_object().json();
}

// Returns the answer of the server for the sender of the webhook.
ListenOptions::Answer listen_answer(Outcome<Reply> const& reply) {
    if (reply) return {reply->status, std::string(reply->body.text())};
    json::View const problem(reply.error().problem);
    constexpr int bad_gateway = 502;
    if (problem["status"].exists())
        return {static_cast<int>(problem["status"].integer_or(bad_gateway)),
                std::string(problem.raw())};
    json::Writer out;
    out.begin_object().member("status", bad_gateway).member("title", reply.error().what);
    return {bad_gateway, out.end_object().take()};
}

constexpr std::size_t body_shown = 2'000;

// Returns what arrived as text for people: cut, and without control characters.
std::string arrived_text(std::string const& body) {
    std::string const start = body.substr(0, body_shown);
    std::string out =
        "  " + std::to_string(body.size()) + " bytes\n  " + escape_for_terminal(start, true) + "\n";
    if (start.size() < body.size())
        out += "  … and " + std::to_string(body.size() - start.size()) + " bytes more\n";
    return out;
}

// "14:03:05  200  applied", the headers of the request to the server, and what arrived.
void print_delivery(Context const& context, std::string const& headers, std::string const& body,
                    Outcome<Reply> const& reply) {
    auto const time = clock_text(to_ms(wall_clock()));
    auto const answer = listen_answer(reply);
    if (context.global.json) {
        context.show(Json::trusted(answer.body), "");
        return;
    }
    auto const paint = reply ? Paint::green : Paint::red;
    context.out << context.style(Paint::dim, time) << "  "
                << context.style(paint, std::to_string(answer.status)) << "  "
                << (reply ? submission_text(json::View(reply->body))
                          : escape_for_terminal(reply.error().what) + "\n")
                << context.style(Paint::dim, headers + arrived_text(body)) << std::flush;
}

// "  webhook-id: msg_…", one a line.
std::string shown_headers(SignedDelivery const& delivery) {
    std::string out;
    for (auto const& header : delivery.headers)
        out += "  " + escape_for_terminal(header_lines({header}), true);
    return out;
}

// Slack gets an empty answer, so the server is asked what became of the call.
Outcome<int> show_pressed(Context const& context, Client& client, std::string const& pending) {
    auto const call = client.get("/async-tool/pending/" + pending);
    if (!call) return std::unexpected(call.error());
    json::View const shown(call->body);
    context.show(call->body, pending_text(shown, context.now(), context.style));
    if (shown["status"].string_or("") != "waiting") return status::done;
    return failure(status::failed, "the call still waits",
                   "Others must agree, or that person may not decide it: Slack shows them why.");
}

Outcome<void> read_button(TriggerArgs const& args, SampleOptions& options) {
    if (args.button.empty()) return {};
    if (args.source != "slack")
        return failure(status::usage, "--button is about messages in Slack",
                       "Write: dormouse trigger slack CALL --button " + args.button + ".");
    options.press = SamplePress{.user = args.as, .approves = args.button == "approve"};
    return {};
}

// With --own the first word is the call, and the second its output.
Outcome<TriggerArgs> words_in_order(TriggerArgs args) {
    if (!args.own && args.source.empty())
        return failure(status::usage, "trigger needs a source",
                       "Name a [[source]] of the configuration, or a call with --own.");
    if (!args.own) return args;
    bool const more = args.text || (!args.call.empty() && (args.json_value || args.error));
    if (more) return failure(status::usage, "--own takes a call, and one output");
    if (!args.call.empty()) args.text = args.call;
    args.call = std::exchange(args.source, {});
    return args;
}

// The source is looked up before the call, so that the first wrong word is named first.
Outcome<void> check_source(Context const& context, TriggerArgs const& args, SampleOptions options) {
    if (args.own || options.press) return {};
    options.only_source = true;
    if (auto const known = signed_by(context, options); !known)
        return std::unexpected(known.error());
    return {};
}

}  // namespace

Outcome<int> execute(Context const& context, TriggerArgs const& given) {
    auto const ordered = words_in_order(given);
    if (!ordered) return std::unexpected(ordered.error());
    TriggerArgs const& args = *ordered;
    auto client = context.connect();
    if (!client) return std::unexpected(client.error());
    SampleOptions options{.config = config_of(context, *client, args.config),
                          .source = args.source,
                          .secret_env = args.secret_env};
    if (auto const read = read_button(args, options); !read) return std::unexpected(read.error());
    if (auto const known = check_source(context, args, options); !known)
        return std::unexpected(known.error());
    if (args.body.empty()) {
        if (auto const named = name_call(context, *client, args.call, args.own, options); !named)
            return std::unexpected(named.error());
        if (auto const written = write_outcome(context, args, options); !written)
            return std::unexpected(written.error());
    } else {
        auto body = whole_body(context, args.body);
        if (!body) return std::unexpected(body.error());
        options.body = *std::move(body);
    }
    auto const delivery = signed_by(context, options);
    if (!delivery) return std::unexpected(delivery.error());
    if (args.print) {
        context.show(request_json(context, *delivery), request_text(context, *delivery));
        return status::done;
    }
    auto const reply = client->deliver(delivery->target, delivery->headers, delivery->body);
    if (!reply) return std::unexpected(reply.error());
    if (options.press) return show_pressed(context, *client, options.pending);
    context.show(reply->body, submission_text(json::View(reply->body)));
    return status::done;
}

Outcome<int> execute(Context const& context, ListenArgs const& args) {
    auto client = context.connect(-1, forward_limit);
    if (!client) return std::unexpected(client.error());
    SampleOptions options{
        .config = config_of(context, *client, args.config), .source = args.source, .body = "{}"};
    if (auto const works = signed_by(context, options); !works)
        return std::unexpected(works.error());
    ListenOptions listening{.port = args.port,
                            .path = "/" + random_key(),
                            .json = context.as_json(),
                            .ready = {},
                            .take = {}};
    listening.ready = [&](std::string const& url) {
        context.err << "Each POST to this address is signed for source "
                    << escape_for_terminal(args.source) << " and forwarded to "
                    << escape_for_terminal(server_url(context.global, context.env))
                    << "; Ctrl-C ends it.\n"
                    << std::flush;
        context.out << url << '\n' << std::flush;
    };
    listening.take = [&](std::string const& body) {
        options.body = body;
        auto const delivery = signed_by(context, options);
        auto const reply =
            delivery ? client->deliver(delivery->target, delivery->headers, delivery->body)
                     : Outcome<Reply>(std::unexpected(delivery.error()));
        print_delivery(context, delivery ? shown_headers(*delivery) : "", body, reply);
        return listen_answer(reply);
    };
    return context.programs.listen(listening);
}

}  // namespace dormouse::cli
