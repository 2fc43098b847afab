#include "http/resources/pages/page_form.h"

#include "http/resources/pages/page_parts.h"
#include "json/json.h"

#include <algorithm>
#include <array>
#include <span>

namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr std::string_view comment_field = "comment";
constexpr Step approve_step{"approve",
                            "Approve…",
                            "Run this once?",
                            "The session wakes and runs it at once. This cannot be undone here.",
                            "Comment for the record (optional)",
                            comment_field,
                            "Approve and run"};
constexpr Step deny_step{"deny",
                         "Deny…",
                         "Deny {}?",
                         "Nothing runs. The agent reads your reason and continues without it.",
                         "Reason (the agent reads this)",
                         comment_field,
                         "Deny the call"};
// A server of MCP asks for content.
constexpr Step send_step{
    "approve",
    "Answer…",
    "Send this answer?",
    "The session wakes and continues with it at once. This cannot be undone here.",
    "Comment for the record (optional)",
    comment_field,
    "Send answer"};
constexpr Step raise_step{"approve",
                          "Raise…",
                          "Raise the budget?",
                          "The session wakes and continues where it paused.",
                          "Comment for the record (optional)",
                          comment_field,
                          "Raise the budget"};
constexpr Step end_step{"deny",
                        "End the turn…",
                        "End the turn?",
                        "What was done so far is kept; the agent does not continue.",
                        "Reason (optional)",
                        comment_field,
                        "End the turn"};
constexpr Step succeeded_step{"succeeded",
                              "It finished…",
                              "Has {} finished?",
                              "Enter what it gave, if the agent needs it.",
                              "What it gave (optional)",
                              "answer",
                              "Enter the result"};
constexpr Step run_again_step{
    "run_again",
    "It did not: run it again…",
    "Run {} again?",
    "It runs once more with the same arguments. What the first run did is not undone.",
    "",
    "",
    "Run it again"};
constexpr Step give_up_step{
    "give_up", "Give up…", "Give up {}?",        "The call fails, and the agent continues.",
    "",        "",         "Report it as failed"};

constexpr std::array<Step const*, 2> of_approval{&deny_step, &approve_step};
constexpr std::array<Step const*, 2> of_elicitation{&deny_step, &send_step};
constexpr std::array<Step const*, 2> of_budget{&end_step, &raise_step};
constexpr std::array<Step const*, 3> of_doubt{&give_up_step, &run_again_step, &succeeded_step};

// In the order of the page: the last one is where the confirmation has Back.
std::span<Step const* const> steps_of(FormOf const& of) {
    if (of.doubt) return of_doubt;
    switch (of.terms.reason) {
        case PauseReason::approval: return of_approval;
        case PauseReason::elicitation: return of_elicitation;
        case PauseReason::budget: return of_budget;
        case PauseReason::user_input:
        case PauseReason::tool_result:
        case PauseReason::handoff: break;
    }
    return {};
}

std::string hidden_input(std::string_view name, std::string const& value) {
    return "<input type=\"hidden\" name=\"" + std::string(name) + "\" value=\"" + value + "\">";
}

// A line end directly behind the tag is no part of the text.
std::string text_area(std::string_view label, std::string_view name, std::string const& text,
                      std::string_view more = "") {
    return "<p><label>" + std::string(label) + "<br><textarea rows=\"4\" name=\"" +
           std::string(name) + "\"" + std::string(more) + ">\n" + shown(text) +
           "</textarea></label></p>\n";
}

std::string button(std::string_view confirm, std::string_view label) {
    return "<button name=\"confirm\" value=\"" + std::string(confirm) + "\" class=\"yes run\">" +
           std::string(label) + "</button>\n";
}

std::string step_link(std::string const& to, std::string_view label, std::string_view css_class) {
    return "<a class=\"" + std::string(css_class) + "\" href=\"" + to + "\">" + std::string(label) +
           "</a>\n";
}

std::string actions(std::string const& content, std::string_view css_class) {
    return "<div class=\"actions" + std::string(css_class) + "\">" + content + "</div>\n";
}

std::string form(FormOf const& of, std::string const& content) {
    return "<form method=\"post\" action=\"/a/" + of.id + "\" accept-charset=\"utf-8\">" +
           hidden_input("token", of.token) + hidden_input("inputDigest", of.digest) + "\n" +
           content + "</form>\n";
}

// The choices that the question offers.
std::string offered_choices(session::PauseTerms const& terms) {
    std::string out;
    json::View(terms.form)["choices"].elements([&](json::View choice) {
        auto const title = choice["title"].string();
        if (!title) return;
        out += "<label class=\"pick\"><input type=\"radio\" name=\"choice\" value=\"" +
               html_text(*title) + "\"> " + shown(*title);
        if (auto const more = choice["description"].string())
            out += " <span class=\"dim\">" + shown(*more) + "</span>";
        out += "</label>\n";
    });
    return out;
}

// They come with a field for another answer.
std::string answer_fields(FormOf const& of) {
    std::string const offered = offered_choices(of.terms);
    bool const typed = wants_json(of.terms.schema);
    std::string const json = typed ? " (JSON)" : "";
    std::string const schema = typed
                                   ? "<details><summary>What the answer must look like</summary>" +
                                         block(of.terms.schema.text()) + "</details>\n"
                                   : "";
    if (offered.empty())
        return schema + text_area("Answer" + json, "answer", of.typed.answer, " required");
    return "<fieldset><legend>Answer</legend>\n" + offered + "</fieldset>\n" + schema +
           text_area("Another answer" + json, "answer", of.typed.answer);
}

// The field for the amount by which a budget is raised; the default is in the form.
std::string amount_field(FormOf const& of) {
    json::View const raise = json::View(of.terms.form)["properties"]["raise"];
    json::View const initial = raise["default"];
    std::string const value = of.typed.answer.empty()
                                  ? initial.string().value_or(std::string(initial.raw()))
                                  : of.typed.answer;
    return "<p><label>" + shown(raise["title"].string_or("Raise by")) +
           "<br><input name=\"answer\" inputmode=\"decimal\" value=\"" + html_text(value) +
           "\"></label></p>\n";
}

}  // namespace

bool is_step(std::string_view confirm) {
    auto const has = [confirm](auto const& steps) {
        return std::ranges::find(steps, confirm, [](Step const* one) { return one->confirm; }) !=
               steps.end();
    };
    return has(of_approval) || has(of_doubt);
}

Step const* find_step(FormOf const& of, std::string_view confirm) {
    auto const steps = steps_of(of);
    auto const found =
        std::ranges::find(steps, confirm, [](Step const* one) { return one->confirm; });
    return found == steps.end() ? nullptr : *found;
}

std::string first_step(FormOf const& of, std::string const& about) {
    auto const steps = steps_of(of);
    if (steps.empty())
        return form(of, about + answer_fields(of) + actions(button("answer", "Send answer"), ""));
    std::string links;
    for (Step const* const one : steps)
        links += step_link("/a/" + of.id + "?confirm=" + std::string(one->confirm), one->link,
                           one == steps.back() ? "btn yes" : "btn");
    return about + actions(links, steps.size() == 2 ? " two" : "");
}

std::string confirmation(FormOf const& of, Step const& step, std::string const& about) {
    std::string fields;
    if (&step == &send_step) fields += text_area("Content (JSON)", "content", of.typed.content);
    if (&step == &raise_step) fields += amount_field(of);
    if (!step.field.empty())
        fields += text_area(step.label, step.field,
                            step.field == comment_field ? of.typed.comment : of.typed.answer);
    return form(of, about + fields + button(step.confirm, step.button)) +
           actions(step_link("/a/" + of.id, "Back", "btn"), " two");
}

std::string heading_of(Step const& step, std::string_view tool) {
    std::string out(step.heading);
    if (auto const at = out.find("{}"); at != std::string::npos) out.replace(at, 2, tool);
    return out;
}

}  // namespace dormouse::http
