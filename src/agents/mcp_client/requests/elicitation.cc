#include "mcp_client/requests/elicitation.h"

#include "base/text/text.h"
#include "base/url.h"
#include "json/schema/schema.h"
#include "port/foreign_sign_in.h"

namespace dormouse::mcp_client {
namespace {

constexpr std::size_t check_steps = 100'000;

std::string wrong_form(json::View form) {
    if (form.kind() != json::Kind::object) return "requestedSchema must be an object";
    if (form.raw().size() > question_form_bytes_max)
        return "requestedSchema must be at most 64 KiB";
    if (form["type"].string_or("") != "object") return "requestedSchema must have the type object";
    for (json::Violation const& one : json::violations(form.copy(), Json::trusted("{}")))
        if (one.pointer == "#" && !one.message.contains("required"))
            return "requestedSchema is invalid: " + one.message;
    return {};
}

std::string wrong_address(std::string const& url) {
    if (url.size() > question_url_bytes_max) return "url must be at most 2,048 bytes";
    auto const wrong = wrong_url(url);
    return wrong.empty() ? "" : "url " + std::string(wrong);
}

std::string text_of(Question const& question, std::string const& server, std::string const& wrong) {
    std::string out;
    if (!wrong.empty()) out = "The answer does not fit: " + wrong + "\n\n";
    out += "The MCP server '" + server + "' asks: " + question.message;
    if (question.url.empty()) return out;
    return out + "\n\nOpen this address yourself, and approve when it is done: " + question.url;
}

}  // namespace

Json written(Question const& question) {
    json::Writer out;
    out.begin_object().member("message", question.message).member("form", question.form);
    if (!question.sample.is_null()) out.member("sample", question.sample);
    return out.member("url", question.url).end_object().json();
}

Question read_written(json::View written) {
    Question out{.message = written["message"].string_or(""),
                 .form = written["form"].copy(),
                 .url = written["url"].string_or("")};
    if (written["sample"].exists()) out.sample = written["sample"].copy();
    set_digest(out);
    return out;
}

void set_digest(Question& question) {
    question.digest = sha256(json::canonical(written(question)));
}

std::expected<Question, std::string> read_question(json::View params) {
    auto const mode = params["mode"].string_or("form");
    if (mode != "form" && mode != "url") return std::unexpected("mode must be form or url");
    Question out{.message = params["message"].string_or("")};
    if (out.message.empty()) return std::unexpected("message must not be empty");
    if (out.message.size() > question_bytes_max)
        return std::unexpected("message must be at most 4 KiB");
    if (mode == "url") {
        out.url = params["url"].string_or("");
        if (auto why = wrong_address(out.url); !why.empty()) return std::unexpected(std::move(why));
    } else {
        json::View const form = params["requestedSchema"];
        if (auto why = wrong_form(form); !why.empty()) return std::unexpected(std::move(why));
        out.form = json::compact(form.copy());
    }
    set_digest(out);
    return out;
}

session::PauseTerms pause_of(Question const& question, std::string const& server, Duration limit,
                             unsigned number, std::string const& wrong) {
    session::PauseTerms out;
    out.reason = session::PauseReason::elicitation;
    out.continuation = session::Continuation::reentry;
    out.message = text_of(question, server, wrong);
    out.form = question.form;
    out.timeout = limit;
    json::Writer state;
    state.begin_object().member("question", written(question)).member("number", number);
    out.state = state.end_object().json();
    return out;
}

std::string misfit(Question const& question, session::Submission const& decision) {
    if (!decision.approved || question.form.is_null()) return {};
    Json const content = decision.content.is_null() ? Json::trusted("{}") : decision.content;
    if (content.size() > answer_bytes_max) return "it must be at most 64 KiB";
    auto const violations = json::violations_within(check_steps, question.form, content);
    if (!violations || violations->empty()) return {};
    json::Violation const& first = violations->front();
    return first.pointer + ": " + first.message;
}

Json answer_of(Question const& question, session::Submission const& decision) {
    json::Writer out;
    out.begin_object().member("action", decision.approved ? "accept" : "decline");
    if (decision.approved && !question.form.is_null())
        out.member("content", decision.content.is_null() ? Json::trusted("{}") : decision.content);
    return out.end_object().json();
}

Json cancelled_answer() { return Json::trusted(R"({"action":"cancel"})"); }

session::PauseTerms sign_in_pause(std::string const& server, std::string const& page,
                                  Duration limit, unsigned number) {
    session::PauseTerms out;
    out.reason = session::PauseReason::elicitation;
    out.continuation = session::Continuation::reentry;
    out.message =
        "The MCP server '" + server +
        "' needs a person's sign-in. The call continues by itself after it. Open: " + page;
    out.external_ref = port::sign_in_reference(server);
    out.timeout = limit;
    json::Writer state;
    out.state = state.begin_object().member("signIn", number).end_object().json();
    return out;
}

unsigned sign_ins_in(Json const& state) {
    return static_cast<unsigned>(json::View(state)["signIn"].integer_or(0));
}

std::optional<Question> question_in(Json const& state) {
    json::View const question = json::View(state)["question"];
    if (question.kind() != json::Kind::object) return std::nullopt;
    return read_written(question);
}

}  // namespace dormouse::mcp_client
