// ask: a call without an agent. Standard output gets the answer, standard error everything else;
// the exit status says how the call ended.

#include "base/url.h"
#include "cli/client/interrupts.h"
#include "cli/client/resolve.h"
#include "cli/commands/asked.h"
#include "cli/commands/commands.h"
#include "cli/render/render_question.h"

#include "base/text/text.h"

#include <algorithm>
#include <ostream>
#include <utility>

namespace dormouse::cli {
namespace {

constexpr int sends_max = 5;

// Writes KEY=TEXT or KEY:=JSON as a member.
Outcome<void> write_argument(json::Writer& out, std::string const& written) {
    auto const equals = written.find('=');
    if (equals == std::string::npos || equals == 0 || written.starts_with(":="))
        return failure(status::usage, "--argument must be KEY=TEXT or KEY:=JSON: " + written);
    std::string const value = written.substr(equals + 1);
    if (written[equals - 1] != ':') {
        out.member(written.substr(0, equals), value);
        return {};
    }
    auto const json = json_argument("--argument " + written.substr(0, equals - 1), value);
    if (!json) return std::unexpected(json.error());
    out.member(written.substr(0, equals - 1), *json);
    return {};
}

Outcome<void> write_time(json::Writer& out, std::string_view member, std::string_view flag,
                         std::string const& written) {
    if (written.empty()) return {};
    auto const ms = milliseconds(flag, written);
    if (!ms) return std::unexpected(ms.error());
    out.member(member, *ms);
    return {};
}

Outcome<void> write_shape(json::Writer& out, AskArgs const& args) {
    out.member("kind", args.approve ? "approval" : "answer");
    if (!args.choices.empty()) {
        out.key("choices").begin_array();
        for (std::string const& title : args.choices)
            out.begin_object().member("title", title).end_object();
        out.end_array();
    }
    if (args.schema.empty()) return {};
    auto const text = file_text(args.schema);
    if (!text) return std::unexpected(text.error());
    auto const schema = json_argument(args.schema, *text);
    if (!schema) return std::unexpected(schema.error());
    out.member("schema", *schema);
    return {};
}

Outcome<void> write_arguments(json::Writer& out, AskArgs const& args) {
    if (args.arguments.empty()) return {};
    out.key("arguments").begin_object();
    for (std::string const& written : args.arguments) {
        if (auto const done = write_argument(out, written); !done) return done;
    }
    out.end_object();
    return {};
}

bool all_utf8(AskArgs const& args, std::string const& question) {
    std::vector<std::string> texts{question, args.tool};
    for (auto const* const list : {&args.choices, &args.arguments, &args.by})
        texts.insert(texts.end(), list->begin(), list->end());
    return std::ranges::all_of(texts, [](std::string const& text) { return valid_utf8(text); });
}

Outcome<Json> body_of(Context const& context, AskArgs const& args) {
    auto const question = text_or_input(context, args.question);
    if (!question) return std::unexpected(question.error());
    if (question->empty()) return failure(status::usage, "give a question, or --wait CALL");
    if (!all_utf8(args, *question)) return failure(status::usage, "the text is not valid UTF-8");
    json::Writer out;
    out.begin_object().member("question", *question);
    if (!args.tool.empty()) out.member("tool", args.tool);
    if (auto const done = write_shape(out, args); !done) return std::unexpected(done.error());
    if (auto const done = write_arguments(out, args); !done) return std::unexpected(done.error());
    write_answerers(out, args.by, args.votes);
    for (auto const& [member, flag, written] :
         {std::tuple("withinMs", "--timeout", args.timeout),
          std::tuple("remindAfterMs", "--remind", args.remind),
          std::tuple("remindEveryMs", "--remind", args.remind)}) {
        if (auto const done = write_time(out, member, flag, written); !done)
            return std::unexpected(done.error());
    }
    return out.end_object().json();
}

class Asking {
public:
    Asking(Context const& context, AskArgs const& args, Client client, Interrupts const& interrupts)
        : context_(context), args_(args), client_(std::move(client)), interrupts_(interrupts) {}

    // Makes the call, or finds it by its key.
    Outcome<int> ask(Json const& body) {
        std::string const key = args_.key.empty() ? random_key() : args_.key;
        auto const reply = send(key, body);
        if (!reply) return std::unexpected(reply.error());
        json::View const asked(reply->body);
        id_ = asked["pendingID"].string_or("");
        if (args_.no_wait) {
            context_.show(reply->body, id_ + "\n");
            return status::done;
        }
        return wait(asked["call"].copy(), asked["answerURL"].string_or(""));
    }

    // Waits for a call that exists.
    Outcome<int> wait_for(std::string id) {
        id_ = std::move(id);
        auto const call = client_.get("/api/pending/" + id_);
        if (!call) return std::unexpected(call.error());
        return wait(call->body, "");
    }

private:
    // Repeats the request while the server is briefly unavailable: the key makes that safe.
    Outcome<Reply> send(std::string const& key, Json const& body) {
        std::string const target =
            "/api/pending?project=" + percent_encode(context_.global.project);
        for (int tries = 1;; ++tries) {
            auto reply = client_.post_as(key, target, body);
            bool const again = !reply && tries < sends_max && is_away(reply.error());
            if (!again) return reply;
            if (interrupts_.sleep(Duration(250 << tries)))
                return failure(status::interrupted, "interrupted");
        }
    }

    Outcome<int> wait(Json call, std::string const& url) {
        if (!is_settled(call)) show_question(json::View(call), url);
        while (!is_settled(call)) {
            show_progress(json::View(call));
            // On a terminal the line above is shown again every few seconds.
            std::string const seconds = context_.may_ask ? "5" : "50";
            auto reply = client_.get("/api/pending/" + id_ + "?wait=" + seconds);
            if (reply) {
                call = std::move(reply->body);
                tries_ = 0;
                continue;
            }
            if (reply.error().exit == status::interrupted) return interrupted();
            if (!is_away(reply.error())) return std::unexpected(end_line(reply.error()));
            if (await_server(reply.error())) return interrupted();
        }
        end_line({});
        return report(call);
    }

    void show_question(json::View call, std::string const& url) {
        std::ostream& err = context_.err;
        std::string const tool = call["tool"].string_or("");
        err << question_text(call["message"], 2, {}) << '\n';
        if (call["input"].size() > 0)
            err << "  " << escape_for_terminal(tool + " " + plain(call["input"])) << '\n';
        if (!url.empty()) err << "  answer:  " << escape_for_terminal(url) << '\n';
        err << "  or:      dormouse "
            << (call["reason"].string_or("") == "approval" ? "approve " : "answer ") << id_
            << context_.flags() << '\n';
        err.flush();
    }

    void show_progress(json::View call) {
        Time const now = context_.now();
        std::string line =
            "waiting for " + in_words(Duration(to_ms(now) - call["time"]["created"].integer_or(0)));
        if (auto const deadline = call["timeout"].integer())
            line += ", expires " + ahead(*deadline, now);
        auto const need = call["answer"]["need"].integer_or(1);
        if (need > 1)
            line += ", " + std::to_string(call["answer"]["votes"].size()) + " of " +
                    std::to_string(need) + " votes";
        progress(line);
    }

    // One line that is replaced on a terminal; elsewhere nothing, so that logs stay short.
    void progress(std::string const& line) {
        if (!context_.may_ask) return;
        context_.err << "\r\x1b[K" << escape_for_terminal(line) << std::flush;
        in_line_ = true;
    }

    Failure end_line(Failure failed) {
        if (std::exchange(in_line_, false)) context_.err << '\n' << std::flush;
        return failed;
    }

    // Waits for a server that went away; it knows the call when it is back. True: interrupted.
    bool await_server(Failure const& why) {
        if (tries_ == 0 && !context_.may_ask)
            context_.err << "dormouse: " << escape_for_terminal(why.what) << "; trying again\n"
                         << std::flush;
        progress("no server; trying again");
        return interrupts_.sleep(away_delay(tries_++));
    }

    Outcome<int> interrupted() {
        end_line({});
        if (!args_.cancel_on_exit) {
            context_.err << "The question stays open: dormouse ask --wait " << id_
                         << context_.flags() << '\n';
            return status::interrupted;
        }
        auto client = context_.connect(-1, Duration(10'000));
        if (!client) return std::unexpected(client.error());
        auto const cancelled = client->remove(cancel_target(id_, "dormouse ask was interrupted"));
        if (cancelled) {
            context_.err << "The question was cancelled.\n";
            return status::interrupted;
        }
        // It was settled meanwhile: then the answer counts.
        auto const call = client->get("/api/pending/" + id_);
        if (!call) return std::unexpected(cancelled.error());
        return is_settled(call->body) ? report(call->body)
                                      : Outcome<int>(std::unexpected(cancelled.error()));
    }

    Outcome<int> report(Json const& json) {
        json::View const call(json);
        std::string const state = call["status"].string_or("");
        auto const say = [&](int exit, std::string const& word, std::string const& note) {
            context_.show(json, word.empty() ? "" : escape_for_terminal(word, true) + "\n");
            if (!note.empty()) context_.err << escape_for_terminal(note) << '\n' << std::flush;
            return exit;
        };
        std::string const by = call["receipt"]["by"]["name"].string_or("");
        if (state == "expired") return say(status::expired, "", "nobody answered in time");
        if (state == "cancelled") {
            auto const why = call["cancelReason"].string();
            return say(status::cancelled, "",
                       "the question was cancelled" + (why ? ": " + *why : ""));
        }
        if (state == "failed") return say(status::failed, "", plain(call["error"]));
        json::View const decision = call["decision"];
        if (decision.kind() != json::Kind::object)
            return say(status::done, plain(call["result"]["output"]), by.empty() ? "" : "by " + by);
        bool const approved = decision["approved"].boolean_or(false);
        auto const reason = decision["reason"].string();
        return say(approved ? status::done : status::denied, approved ? "approved" : "denied",
                   "by " + by + (reason ? ": " + *reason : ""));
    }

    Context const& context_;
    AskArgs const& args_;
    Client client_;
    Interrupts const& interrupts_;
    std::string id_;
    int tries_ = 0;         // to reach a server that went away
    bool in_line_ = false;  // the terminal's line has no end yet
};

}  // namespace

Outcome<int> execute(Context const& context, AskArgs const& args) {
    auto const body = args.wait.empty() ? body_of(context, args) : Outcome<Json>(Json());
    if (!body) return std::unexpected(body.error());
    Interrupts const interrupts(args.cancel_on_exit);
    auto client = context.connect(interrupts.fd());
    if (!client) return std::unexpected(client.error());
    std::string id;
    if (!args.wait.empty()) {
        auto found = resolve_pending(*client, context.global.project, args.wait);
        if (!found) return std::unexpected(found.error());
        id = *std::move(found);
    }
    Asking asking(context, args, *std::move(client), interrupts);
    return args.wait.empty() ? asking.ask(*body) : asking.wait_for(std::move(id));
}

}  // namespace dormouse::cli
