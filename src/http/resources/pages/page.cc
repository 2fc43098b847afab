#include "http/resources/pages/page.h"

#include "base/crypto/sha256.h"
#include "base/enum_words.h"
#include "base/text/iso_time.h"
#include "base/text/markdown.h"
#include "base/text/text.h"
#include "http/objects/card_page.h"
#include "http/objects/html.h"
#include "http/objects/objects.h"
#include "http/objects/question_html.h"
#include "http/resources/pages/page_form.h"
#include "http/resources/pages/page_parts.h"
#include "json/changes.h"
#include "json/json.h"

#include <algorithm>
#include <optional>

namespace dormouse::http {

using namespace dormouse::session;

namespace {

std::string text_of(Json const& json) {
    return json::View(json).string().value_or(std::string(json.text()));
}

std::string who(Actor const& by) { return by.name.empty() ? std::string(text(by.type)) : by.name; }

std::string asked(AnswerTerms const& terms) {
    std::string out;
    constexpr std::string_view role = "role:";
    for (std::string const& from : terms.from) {
        bool const is_role = from.starts_with(role);
        out += out.empty() ? "" : ", ";
        out += is_role ? "everybody with the role " + from.substr(role.size()) : from;
    }
    if (out.empty()) out = "everybody with the role answer";
    return terms.need < 2 ? out : out + "; " + std::to_string(terms.need) + " must agree";
}

std::string votes(wire::PauseView const& pause) {
    if (pause.terms.answer.need < 2) return "";
    auto const equal =
        std::ranges::count_if(pause.votes, [](Vote const& vote) { return vote.approved; });
    std::string out =
        std::to_string(equal) + " of " + std::to_string(pause.terms.answer.need) + " have approved";
    for (Vote const& vote : pause.votes)
        out += (&vote == &pause.votes.front() ? ": " : ", ") + who(vote.by) +
               (vote.approved ? "" : " denied") + " at " + utc_minute(vote.at);
    return row("Votes", shown(out));
}

// Says what settled the call: "Approved by bob at …".
std::string outcome(wire::PauseView const& pause) {
    Receipt const& receipt = *pause.receipt;
    Submission const& what = pause.what;
    std::string word = "Answered";
    if (receipt.kind == SubmissionKind::expiry) word = "Expired";
    if (receipt.kind == SubmissionKind::cancel) word = "Cancelled";
    if (receipt.kind == SubmissionKind::error) word = "Failed";
    if (receipt.kind == SubmissionKind::decision) word = what.approved ? "Approved" : "Denied";
    bool const person = receipt.kind != SubmissionKind::expiry;
    std::string out = "<p><strong>" + word + (person ? " by " + shown(who(receipt.by)) : "") +
                      " at " + utc_minute(receipt.at) + ".</strong></p>\n";
    if (receipt.kind != what.kind) return out;
    if (!what.reason.empty()) out += block(what.reason);
    if (!what.arguments.is_null())
        out += "<p>with these arguments:</p>" + block(what.arguments.text());
    if (!what.content.is_null()) out += block(what.content.text());
    if (what.kind == SubmissionKind::result) out += block(text_of(what.output));
    if (what.kind == SubmissionKind::error) out += block(what.error);
    return out;
}

std::string value_html(json::View value) {
    auto const text = value.string();
    return "<span class=\"said\">" + shown(text ? *text : std::string(value.raw())) + "</span>";
}

// Lists the arguments, one in each row, and all of them as JSON. `heading`: the argument that is
// the question itself and has no row; nullopt: all have one.
std::string arguments(Json const& input, std::optional<std::string> const& heading) {
    json::View const view(input);
    std::string const raw =
        "<details><summary>Raw JSON</summary>" + block(input.text()) + "</details>";
    if (view.kind() != json::Kind::object) return row("Arguments", value_html(view) + raw);
    std::string rows;
    view.members([&](std::string_view name, json::View value) {
        if (!heading || value.string() != heading) rows += row(shown(name), value_html(value));
    });
    return row("Arguments", (rows.empty() ? "" : "<dl>\n" + rows + "</dl>\n") + raw);
}

// Shows where the arguments differ from the model's; empty: unchanged.
std::string edits(wire::CallView const& call) {
    if (call.inputs.empty()) return "";
    auto const line = [](char const* tag, char const* sign, std::string const& name,
                         std::optional<std::string> const& value) {
        if (!value) return std::string();
        std::string const text = sign + (name.empty() ? "" : name + ": ") + *value;
        return "<" + std::string(tag) + ">" + shown(text) + "</" + tag + ">\n";
    };
    std::string out;
    json::View const first(call.inputs.front().second);
    for (json::Change const& change : json::changes(first, json::View(call.spec.input)))
        out += line("del", "- ", change.name, change.before) +
               line("ins", "+ ", change.name, change.after);
    return out.empty() ? "" : row("Changed since the model asked", out);
}

std::string facts(State const& state, wire::CallView const& call, wire::PauseView const& pause,
                  std::optional<std::string> const& heading, Time now) {
    std::string out = "<dl>" + row("Tool", shown(call.spec.tool)) +
                      arguments(call.spec.input, heading) + edits(call) +
                      row("Agent", shown(state.agent));
    std::string const& title = state.title.empty() ? state.auto_title : state.title;
    if (!title.empty()) out += row("Session", "<span class=\"said\">" + shown(title) + "</span>");
    out += row("Status", std::string(word_of(pending_status(pause, now))));
    out += row("Asked", shown(asked(pause.terms.answer))) + votes(pause);
    out += row("Since", time_html(pause.created, now));
    if (pause.deadline && !pause.receipt) out += row("Deadline", time_html(*pause.deadline, now));
    return out + "</dl>\n";
}

// An agent asks in Markdown. The question of an approval rule is plain text, because it can contain
// arguments, of which nothing may be hidden.
bool is_asked_by_agent(PauseReason reason, bool doubt) {
    return !doubt && (reason == PauseReason::user_input || reason == PauseReason::elicitation);
}

std::string commands(std::string const& id, PauseReason reason) {
    bool const decided = reason == PauseReason::approval || reason == PauseReason::elicitation ||
                         reason == PauseReason::budget;
    if (decided) return block("dormouse approve " + id + "\ndormouse deny " + id);
    return block("dormouse result " + id + " TEXT");
}

// Says why the page has no form for this person; empty: it has one.
std::string why_no_form(wire::PauseView const& pause, Viewer const& viewer, Time now) {
    PauseReason const reason = pause.terms.reason;
    std::string const holder = claimed_by_another(pause, viewer.by, now);
    if (!holder.empty())
        return paragraph("Claimed by " + holder + " until " + utc_minute(pause.claimed_until) +
                         "; nobody else may answer until then.");
    if (!viewer.may_answer) return paragraph("You may view this, but not answer it.");
    if (std::ranges::find(pause.votes, viewer.by, &Vote::by) != pause.votes.end())
        return paragraph("Your vote is counted. More approvals are needed before it continues.");
    bool const job = reason == PauseReason::tool_result || reason == PauseReason::handoff;
    if (viewer.form_token.empty() || job) return commands(pause.pending.text(), reason);
    return "";
}

std::string notice_html(Viewer const& viewer) {
    if (viewer.notice.empty()) return "";
    return "<p role=\"alert\" class=\"said\"><strong>" + shown(viewer.notice) + "</strong></p>\n";
}

PageText confirmation_page(FormOf const& of, Step const& step, std::string_view tool,
                           QuestionHtml const& asked, Viewer const& viewer,
                           std::string const& about) {
    std::string const heading = heading_of(step, tool);
    std::string const out = "<nav><a href=\"/a/" + of.id + "\">Back</a></nav>\n" +
                            notice_html(viewer) + "<h1>" + shown(heading) + "</h1>\n<p>" +
                            std::string(step.means) + "</p>\n<h2>" + asked.heading + "</h2>\n" +
                            asked.body + confirmation(of, step, about);
    return {title_text(heading), out};
}

}  // namespace

bool wants_json(Json const& schema) {
    return !schema.is_null() && json::View(schema)["type"].string_or("") != "string";
}

std::string claimed_by_another(wire::PauseView const& pause, Actor const& by, Time now) {
    bool const another = pause.claimed_until > now && pause.claimed_by != by.name;
    return another ? pause.claimed_by : "";
}

bool asks_of_doubt(State const& state, PendingId const& pending) {
    Call const* const call = open_pause(state, pending);
    return call && call->question && call->question->pending == pending;
}

std::string question_of(wire::CallView const& call, wire::PauseView const& pause) {
    return pause.terms.message.empty() ? "Waiting: " + call.spec.tool : pause.terms.message;
}

HttpReply page_to_sign_in(PendingId const& pending, std::string const& ways) {
    std::string const id = pending.text();
    CardPage page{.title = "Sign in to answer",
                  .about =
                      "Somebody is asked for an answer here. Only people who are signed in "
                      "see the question."};
    page.card = ways_to_sign_in(ways, "/sign-in?next=/a/" + id);
    page.notes =
        "<p class=\"note\">No link? Ask your administrator for one, open it on this device, then "
        "open this page again.</p>\n"
        "<p class=\"note\">Signed in, and still here? Then this is not for you, or the link is "
        "incomplete.</p>\n<details><summary>For administrators</summary>" +
        block("dormouse link NAME --role answer\ndormouse show " + id) + "</details>\n";
    return card_reply(200, page);
}

PageText page_of(State const& state, wire::History const& history, wire::PauseView const& pause,
                 Viewer const& viewer, Time now) {
    auto const& call = history.calls().at(pause.pending.call);
    std::string const question = question_of(call, pause);
    bool const doubt = asks_of_doubt(state, pause.pending);
    bool const asks = is_asked_by_agent(pause.terms.reason, doubt);
    QuestionHtml const asked_html = asks ? question_html(question, "Waiting: " + call.spec.tool)
                                         : QuestionHtml{html_text(question), ""};
    std::string const about =
        facts(state, call, pause, asks ? std::optional(question) : std::nullopt, now);
    std::string const stop = pause.receipt ? "" : why_no_form(pause, viewer, now);
    bool const answers = !pause.receipt && stop.empty();
    FormOf const of{.terms = pause.terms,
                    .doubt = doubt,
                    .id = pause.pending.text(),
                    .digest = digest_text(sha256(json::canonical(call.spec.input))),
                    .token = viewer.form_token,
                    .typed = viewer.typed};
    if (Step const* const step = answers ? find_step(of, viewer.confirm) : nullptr)
        return confirmation_page(of, *step, call.spec.tool, asked_html, viewer, about);
    std::string out = "<nav><a href=\"/\">What waits for me</a></nav>\n" + notice_html(viewer) +
                      "<h1>" + asked_html.heading + "</h1>\n" + asked_html.body;
    if (pause.receipt) out += outcome(pause);
    out += answers ? first_step(of, about) : about + stop;
    return {title_text(asks ? markdown::plain_text(question) : question), out};
}

}  // namespace dormouse::http
