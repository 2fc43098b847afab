#include "server/page.h"

#include "base/sha256.h"
#include "base/text.h"
#include "json/json.h"
#include "server/objects.h"

#include <algorithm>
#include <array>
#include <ctime>

namespace dormouse::server {

using namespace dormouse::session;

namespace {

constexpr std::string_view style =
    "body{font:1rem/1.5 sans-serif;max-width:45rem;margin:auto;padding:1rem}"
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid;padding:.5rem}"
    "textarea{width:100%;font:inherit;box-sizing:border-box}button{font:inherit;padding:.5rem 1rem}"
    "dt{font-weight:bold}dd{margin:0 0 .5rem}";

// As text of a page. What is not seen or turns the direction of writing is spelt out: who decides
// reads what the tool gets.
std::string shown(std::string_view text) {
    std::string out;
    for (char const c : escape_for_terminal(text, true)) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default: out += c;
        }
    }
    return out;
}

std::string paragraph(std::string const& text) { return "<p>" + shown(text) + "</p>\n"; }
std::string block(std::string_view text) { return "<pre>" + shown(text) + "</pre>\n"; }
std::string row(std::string_view name, std::string const& html) {
    return "<dt>" + std::string(name) + "</dt><dd>" + html + "</dd>\n";
}

std::string text_of(Json const& json) {
    return json::View(json).string().value_or(std::string(json.text()));
}

std::string who(Actor const& by) { return by.name.empty() ? std::string(text(by.type)) : by.name; }

std::string asked(AnswerTerms const& terms) {
    std::string out;
    for (std::string const& from : terms.from) out += (out.empty() ? "" : ", ") + from;
    if (out.empty()) out = "role:answer";
    return terms.need < 2 ? out : out + "; " + std::to_string(terms.need) + " must agree";
}

std::string votes(wire::PauseView const& pause) {
    if (pause.terms.answer.need < 2) return "";
    auto const equal =
        std::ranges::count_if(pause.votes, [](auto const& vote) { return vote.second.first; });
    std::string out =
        std::to_string(equal) + " of " + std::to_string(pause.terms.answer.need) + " have approved";
    for (auto const& [by, vote] : pause.votes)
        out += (&by == &pause.votes.front().first ? ": " : ", ") + who(by) +
               (vote.first ? "" : " denied") + " at " + utc_text(vote.second);
    return row("votes", shown(out));
}

// "Approved by bob at …": what settled it.
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
                      " at " + utc_text(receipt.at) + ".</strong></p>\n";
    if (receipt.kind != what.kind) return out;
    if (!what.reason.empty()) out += block(what.reason);
    if (!what.arguments.is_null())
        out += "<p>with these arguments:</p>" + block(what.arguments.text());
    if (!what.content.is_null()) out += block(what.content.text());
    if (what.kind == SubmissionKind::result) out += block(text_of(what.output));
    if (what.kind == SubmissionKind::error) out += block(what.error);
    return out;
}

std::string field(std::string_view label, std::string_view name, std::string_view more = "") {
    return "<p><label>" + std::string(label) + "<br><textarea rows=\"4\" name=\"" +
           std::string(name) + "\"" + std::string(more) + "></textarea></label></p>\n";
}

std::string button(std::string_view verdict, std::string_view label) {
    return "<button name=\"verdict\" value=\"" + std::string(verdict) + "\">" + std::string(label) +
           "</button>\n";
}

std::string fields(PauseReason reason, bool doubt) {
    if (reason == PauseReason::user_input)
        return field("Answer", "answer", " required") + button("answer", "Answer");
    if (doubt)
        return field("What it gave, if it succeeded", "answer") +
               button("run_again", "Run it again") + button("succeeded", "It succeeded") +
               button("give_up", "Give up");
    std::string const content =
        reason == PauseReason::elicitation ? field("Content (JSON)", "content") : "";
    return content + field("Comment", "comment") + button("approve", "Approve") +
           button("deny", "Deny");
}

std::string form(wire::PauseView const& pause, std::string const& digest, bool doubt,
                 std::string const& token) {
    auto const hidden = [](std::string_view name, std::string const& value) {
        return "<input type=\"hidden\" name=\"" + std::string(name) + "\" value=\"" + value + "\">";
    };
    return "<form method=\"post\" accept-charset=\"utf-8\">" + hidden("token", token) +
           hidden("inputDigest", digest) + "\n" + fields(pause.terms.reason, doubt) + "</form>\n";
}

std::string commands(std::string const& id, PauseReason reason) {
    if (reason == PauseReason::approval || reason == PauseReason::elicitation)
        return block("dormouse approve " + id + "\ndormouse deny " + id);
    return block("dormouse result " + id + " TEXT");
}

std::string how_to_answer(State const& state, wire::PauseView const& pause, Viewer const& viewer,
                          std::string const& digest, Time now) {
    PauseReason const reason = pause.terms.reason;
    std::string const holder = claimed_by_another(pause, viewer.by, now);
    if (!holder.empty())
        return paragraph("Claimed by " + holder + " until " + utc_text(pause.claimed_until) +
                         "; nobody else may answer until then.");
    if (!viewer.may_answer) return paragraph("You may look at this and not answer it.");
    if (std::ranges::find(pause.votes, viewer.by, [](auto const& vote) { return vote.first; }) !=
        pause.votes.end())
        return paragraph("Your vote is counted; others are waited for.");
    bool const job = reason == PauseReason::tool_result || reason == PauseReason::handoff;
    if (viewer.form_token.empty() || job) return commands(pause.pending.text(), reason);
    return form(pause, digest, asks_of_doubt(state, pause.pending), viewer.form_token);
}

}  // namespace

std::string utc_text(Time at) {
    std::time_t const seconds = to_ms(at) / 1000;
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    std::array<char, 64> out{};
    return {out.data(), std::strftime(out.data(), out.size(), "%Y-%m-%d %H:%M UTC", &parts)};
}

std::string claimed_by_another(wire::PauseView const& pause, Actor const& by, Time now) {
    bool const another = pause.claimed_until > now && pause.claimed_by != by.name;
    return another ? pause.claimed_by : "";
}

bool asks_of_doubt(State const& state, PendingId const& pending) {
    Call const* const call = open_pause(state, pending);
    return call && call->question && call->question->pending == pending;
}

std::string page_for_strangers(PendingId const& pending) {
    std::string const id = pending.text();
    // A browser sends its cookie only when the page before was ours too.
    return "<p>Something waits for an answer.</p>\n<p><a href=\"" + id +
           "\">Open it as who is signed in</a>. Who is not is given a link for that by <code>"
           "dormouse link NAME --role answer</code>, and opens this page again.</p>\n"
           "<p>Or with a token of this server:</p>\n" +
           block("dormouse show " + id);
}

std::string page_of(State const& state, wire::History const& history, wire::PauseView const& pause,
                    Viewer const& viewer, Time now) {
    auto const& spec = history.calls().at(pause.pending.call).spec;
    std::string const status(pending_status(pause, now));
    std::string out;
    if (!viewer.notice.empty())
        out += "<p role=\"alert\"><strong>" + shown(viewer.notice) + "</strong></p>\n";
    if (pause.receipt) out += outcome(pause);
    if (!pause.terms.message.empty()) out += paragraph(pause.terms.message);
    out += "<dl>" + row("tool", shown(spec.tool)) + row("arguments", block(spec.input.text())) +
           row("status", status) + row("asked", shown(asked(pause.terms.answer))) + votes(pause);
    if (pause.deadline) out += row("deadline", utc_text(*pause.deadline));
    out += "</dl>\n";
    if (pause.receipt) return out;
    std::string const digest = digest_text(sha256(json::canonical(spec.input)));
    return out + how_to_answer(state, pause, viewer, digest, now);
}

HttpReply page_reply(int status, std::string const& content) {
    // The policy hides the page's address from others, and not from our own form: without an Origin
    // that form would be refused.
    return {
        status,
        "text/html; charset=utf-8",
        {{"Content-Security-Policy",
          "default-src 'none'; style-src 'sha256-" + base64(sha256(style)) +
              "'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"},
         {"X-Content-Type-Options", "nosniff"},
         {"Referrer-Policy", "same-origin"},
         {"Cache-Control", "no-store"}},
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\"><title>Dormouse</title><style>" +
            std::string(style) + "</style></head><body><h1>Dormouse</h1>\n" + content +
            "</body></html>\n"};
}

}  // namespace dormouse::server
