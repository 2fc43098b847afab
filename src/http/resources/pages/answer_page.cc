#include "http/objects/html.h"
#include "http/objects/objects.h"
#include "http/resources/calls/handlers.h"
#include "http/resources/pages/handlers.h"
#include "http/resources/pages/page.h"
#include "http/resources/pages/page_form.h"
#include "http/resources/pages/web_page.h"
#include "http/resources/tokens/oidc_sign_in.h"

#include "json/json.h"
#include "webhook/source.h"
#include "wire/submission.h"

#include <algorithm>

// The page behind the link that people receive. GET shows and never settles: mail and chat programs
// fetch links ahead. Without a token it shows nothing of the call; the id is no right. A signed-in
// person answers with its form.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

HttpReply sign_in_first(Api& api, PendingId const& pending) {
    return page_to_sign_in(pending, oidc_link(api, "/a/" + pending.text()));
}

struct Form {
    Json body;

    [[nodiscard]] std::string text(std::string_view name) const {
        std::string out = json::View(body)[name].string_or("");
        std::erase(out, '\r');  // browsers end lines with CR LF
        return out;
    }
};

// The view of the page for the person who requested it, or sent its form.
struct PageState {
    int status = 200;
    std::string notice = {};
    std::string confirm = {};
    Typed typed = {};
};

void answer(Api& api, ExchangePtr const& x, PendingId const& pending, Snapshot const& snapshot,
            wire::PauseView const& pause, PageState page_state) {
    Viewer const viewer{x->by,
                        x->principal->role >= Role::answer,
                        api.services().gate.form_token(x->request, pending),
                        std::move(page_state.notice),
                        std::move(page_state.confirm),
                        std::move(page_state.typed)};
    Time const now = api.services().runner.now();
    PageText const page = page_of(snapshot.lane->state(), snapshot.history, pause, viewer, now);
    auto whole =
        page_state.status == 200 ? api.web_page().around(page.title, page.html) : std::nullopt;
    x->responder->reply(whole ? *std::move(whole)
                              : html_reply(page_state.status, page.title, page.html));
}

void show(Api& api, ExchangePtr const& x, PendingId const& pending, PageState page_state) {
    read_pending(
        api, pending,
        [&api, x, pending, page_state = std::move(page_state)](Result<Snapshot> snapshot) mutable {
            wire::PauseView const* const pause =
                snapshot ? snapshot->history.pause(pending) : nullptr;
            bool const mine = pause && x->principal->is_for(snapshot->lane->state().project);
            if (!mine) return x->responder->reply(sign_in_first(api, pending));
            answer(api, x, pending, *snapshot, *pause, std::move(page_state));
        });
}

// Shows the form again, with what the person typed.
void show_again(Api& api, ExchangePtr const& x, PendingId const& pending, Form const& form,
                int status, std::string notice) {
    show(api, x, pending,
         {status,
          std::move(notice),
          form.text("confirm"),
          {form.text("comment"), form.text("content"), form.text("answer")}});
}

void refuse(Api& api, ExchangePtr const& x, PendingId const& pending, Form const& form,
            Error const& error) {
    show_again(api, x, pending, form, info(error.code).http, error.detail);
}

Result<Submission> read_doubt(Form const& form) {
    json::Writer content;
    content.begin_object().member("action", form.text("confirm"));
    if (form.text("confirm") == "succeeded") content.member("output", form.text("answer"));
    return wire::submitted_decision(true, form.text("comment"), {}, content.end_object().json());
}

Result<Submission> read_decision(Form const& form) {
    std::string const confirm = form.text("confirm");
    if (confirm != "approve" && confirm != "deny")
        return fail(Code::bad_value, "The form must have confirm=approve or confirm=deny.");
    Json content;
    if (std::string const text = form.text("content"); !text.empty()) {
        auto checked = json::check(text);
        if (!checked)
            return fail(Code::bad_json, "The content is not JSON: " + checked.error().detail);
        content = std::move(*checked);
    }
    return wire::submitted_decision(confirm == "approve", form.text("comment"), {},
                                    std::move(content));
}

// The amount as it is typed: a number, unless the form wants a text.
Result<Submission> read_raise(Form const& form, Json const& schema) {
    auto decision = read_decision(form);
    std::string const amount = form.text("answer");
    if (!decision || !decision->approved || amount.empty()) return decision;
    bool const is_text =
        json::View(schema)["properties"]["raise"]["type"].string_or("") == "string";
    auto const number = is_text ? Result<Json>(Json()) : json::check(amount);
    json::Writer content;
    content.begin_object().key("raise");
    if (is_text || !number)
        content.value(amount);
    else
        content.value(*number);
    return wire::submitted_decision(true, form.text("comment"), {}, content.end_object().json());
}

bool is_word_on_doubt(std::string_view confirm) {
    return confirm == "run_again" || confirm == "succeeded" || confirm == "give_up";
}

// Returns the written answer, else the chosen one.
Result<Submission> read_words(Form const& form, Json const& schema) {
    std::string const written = form.text("answer");
    if (!written.empty() && wants_json(schema)) {
        auto value = json::check(written);
        if (!value) return fail(Code::bad_json, "The answer is not JSON: " + value.error().detail);
        return wire::submitted_result(json::compact(*value));
    }
    std::string const answer = written.empty() ? form.text("choice") : written;
    if (answer.empty()) return fail(Code::bad_value, "Choose an answer, or write one.");
    return wire::submitted_result(Json::trusted(json::quote(answer)));
}

Result<Submission> read_answer(Form const& form, State const& state, wire::PauseView const& pause) {
    switch (pause.terms.reason) {
        case PauseReason::user_input: return read_words(form, pause.terms.schema);
        case PauseReason::approval: return read_decision(form);
        case PauseReason::budget: return read_raise(form, pause.terms.form);
        case PauseReason::elicitation: {
            // A settled call no longer has its question; the form says what it asked.
            bool const doubt = pause.receipt ? is_word_on_doubt(form.text("confirm"))
                                             : asks_of_doubt(state, pause.pending);
            return doubt ? read_doubt(form) : read_decision(form);
        }
        case PauseReason::tool_result:
        case PauseReason::handoff: break;
    }
    return fail(Code::wrong_kind, "This call waits for the outcome of a job, not for a person.");
}

void answered(Api& api, ExchangePtr const& x, PendingId const& pending, Form const& form,
              HttpReply const& reply) {
    if (reply.status == 200)  // redirects to GET, so that a reload sends nothing again
        return x->responder->reply({303, "", {{"Location", pending.text()}}, ""});
    auto const detail = json::View(Json::trusted(reply.body))["detail"].string_or("");
    show_again(api, x, pending, form, reply.status, detail + " Your answer was not applied.");
}

void offer(Api& api, ExchangePtr const& x, Form const& form, Snapshot const& snapshot,
           wire::PauseView const& pause) {
    PendingId const pending = pause.pending;
    std::string const holder = claimed_by_another(pause, x->by, api.services().runner.now());
    if (!pause.receipt && !holder.empty())
        return refuse(api, x, pending, form, {Code::claimed, holder + " has claimed this call."});
    auto what = read_answer(form, snapshot.lane->state(), pause);
    if (!what) return refuse(api, x, pending, form, what.error());
    Submit command;
    command.pending = pending;
    command.what = std::move(*what);
    command.via = "page";
    command.input_digest = wire::parse_digest(form.text("inputDigest"));
    if (!command.input_digest)
        return refuse(api, x, pending, form,
                      {Code::bad_value, "The form has no digest of the call. Reload the page."});
    submit_to(api, x, std::move(command), [&api, x, pending, form](HttpReply const& reply) {
        answered(api, x, pending, form, reply);
    });
}

bool is_of_page(Api& api, ExchangePtr const& x, PendingId const& pending, Form const& form) {
    std::string const token = api.services().gate.form_token(x->request, pending);
    return !token.empty() && same_digest(sha256(token), sha256(form.text("token")));
}

}  // namespace

void get_page(Api& api, ExchangePtr const& x) {
    auto const pending = PendingId::parse(x->params[0]);
    if (!pending) return x->fail(not_found());
    if (!x->principal) return x->responder->reply(sign_in_first(api, *pending));
    std::string confirm(x->request.query_value("confirm").value_or(""));
    if (!confirm.empty() && !is_step(confirm))
        return x->fail(
            {Code::bad_value, "confirm must be approve, deny, run_again, succeeded or give_up."});
    show(api, x, *pending, {.confirm = std::move(confirm)});
}

void post_page(Api& api, ExchangePtr const& x) {
    auto const pending = PendingId::parse(x->params[0]);
    if (!pending) return x->fail(not_found());
    if (x->capability || !x->principal || !x->principal->is_cookie())
        return x->fail({Code::forbidden,
                        "This is for browsers that are signed in; with a token send the outcome to "
                        "/async-tool/decision or /async-tool/result."});
    auto body = webhook::form_to_json(x->request.body);
    if (!body) return x->fail(body.error());
    Form const form{std::move(*body)};
    if (!is_of_page(api, x, *pending, form))
        return refuse(api, x, *pending, form,
                      {Code::forbidden, "The form belongs to another sign-in. Answer again here."});
    read_pending(api, *pending, [&api, x, pending = *pending, form](Result<Snapshot> snapshot) {
        if (!snapshot) return x->fail(snapshot.error());
        wire::PauseView const* const pause = snapshot->history.pause(pending);
        if (!pause) return x->fail(not_found());
        offer(api, x, form, *snapshot, *pause);
    });
}

}  // namespace dormouse::http
