#include "mcp/elicitation.h"

#include "base/url.h"
#include "mcp/questions.h"
#include "mcp/results.h"

#include <utility>

namespace dormouse::mcp {
namespace {

constexpr std::string_view note_key = "mcp-elicitation";
constexpr std::string_view id_prefix = "ask-";
constexpr std::string_view declined = "declined in the MCP client";
constexpr std::string_view approval_form =
    R"({"type":"object","properties":{"approved":{"type":"boolean","title":"Approve"},)"
    R"("reason":{"type":"string","title":"Reason"}},"required":["approved"]})";
constexpr std::string_view question_form =
    R"({"type":"object","properties":{"answer":{"type":"string","title":"Answer"}},)"
    R"("required":["answer"]})";

bool is_approval(json::View call) {
    auto const reason = call["reason"].string_or("");
    return reason == "approval" || reason == "budget";
}

std::string text_of(json::View call) {
    std::string text = call["message"].string_or("");
    if (is_approval(call)) text += "\n" + std::string(call["input"].raw());
    return text;
}

// The meaning of the user's answer for the call.
struct Meaning {
    std::string action;                   // for the note
    std::optional<ApiRequest> then = {};  // nullopt: nothing
};

ApiRequest decision(json::View call, bool approved, std::string_view reason) {
    json::Writer body;
    body.begin_object().member("pendingID", call["id"].string_or("")).member("approved", approved);
    body.member("inputDigest", call["inputDigest"].string_or(""));
    if (!reason.empty()) body.member("reason", reason);
    return {.method = "POST",
            .target = "/async-tool/decision",
            .body = body.end_object().json(),
            .patient = true};
}

ApiRequest result(json::View call, std::string const& answer) {
    json::Writer body;
    body.begin_object().member("pendingID", call["id"].string_or("")).key("result");
    body.begin_object().member("output", answer).end_object();
    return {.method = "POST",
            .target = "/async-tool/result",
            .body = body.end_object().json(),
            .patient = true};
}

ApiRequest decline(json::View call) {
    if (is_approval(call)) return decision(call, false, declined);
    return {
        .method = "DELETE",
        .target = pending_path(call["id"].string_or("")) + "?reason=" + percent_encode(declined)};
}

// nullopt: the response has not the form that was asked for.
std::optional<Meaning> meaning_of(json::View call, json::View response) {
    auto const action = response["action"].string_or("");
    if (action == "decline") return Meaning{action, decline(call)};
    if (action == "cancel") return Meaning{action};
    if (action != "accept") return std::nullopt;
    auto const content = response["content"];
    if (!content.exists()) return Meaning{"opened"};  // the page
    if (is_approval(call)) {
        auto const approved = content["approved"].boolean();
        if (!approved) return std::nullopt;
        return Meaning{action, decision(call, *approved, content["reason"].string_or(""))};
    }
    auto const answer = content["answer"].string();
    if (!answer) return std::nullopt;
    return Meaning{action, result(call, *answer)};
}

ApiRequest note(json::View call, std::string const& action) {
    json::Writer body;
    body.begin_object().member("pendingID", call["id"].string_or("")).member("key", note_key);
    body.key("payload").begin_object().member("elicitation", action).end_object();
    return {.method = "POST",
            .target = "/async-tool/progress",
            .body = body.end_object().json(),
            .patient = true};
}

// The call was settled before.
bool is_late(Refusal const& why) {
    return why.code == "conflict" || why.code == "cancelled" || why.code == "expired";
}

}  // namespace

bool may_elicit(json::View call) {
    auto const status = call["status"].string_or("");
    bool noted = false;
    call["progress"].elements(
        [&](json::View one) { noted = noted || one["key"].string_or("") == note_key; });
    return !noted && (status == "waiting" || status == "processing");
}

Json elicitation(json::View call, Elicits const& elicits, std::string const& task, Era era) {
    auto const id = call["id"].string_or("");
    json::Writer out;
    out.begin_object();
    if (elicits.client.form) {
        if (era == Era::stateless) out.member("mode", "form");
        out.member_raw("requestedSchema", is_approval(call) ? approval_form : question_form);
    } else {
        out.member("mode", "url").member("url", elicits.base_url + "/a/" + id);
        out.member("elicitationId", id);
    }
    out.member("message", text_of(call));
    if (!task.empty()) {
        out.key("_meta").begin_object().key("io.modelcontextprotocol/related-task");
        out.begin_object().member("taskId", task).end_object().end_object();
    }
    return out.end_object().json();
}

std::string elicitation_id(std::string_view call) {
    return std::string(id_prefix) + std::string(call);
}

std::string elicited_call(Json const& id) {
    auto const text = json::View(id).string_or("");
    return text.starts_with(id_prefix) ? text.substr(id_prefix.size()) : "";
}

void elicit(json::View call, Elicits const& elicits, std::string const& task,
            TicketPtr const& ticket) {
    if (!ticket->send || !elicits.any() || !may_elicit(call)) return;
    json::Writer out;
    out.begin_object().member("jsonrpc", "2.0");
    out.member("id", elicitation_id(call["id"].string_or("")));
    out.member("method", "elicitation/create");
    out.member("params", elicitation(call, elicits, task, Era::with_initialize));
    ticket->send(out.end_object().take() + "\n");
}

void end_elicitation(json::View call, Elicits const& elicits, TicketPtr const& ticket) {
    if (!ticket->send || !elicits.any()) return;
    auto const id = call["id"].string_or("");
    json::Writer out;
    if (!elicits.client.form) {
        out.begin_object().member("elicitationId", id).end_object();
        return ticket->send(rpc::notification("notifications/elicitation/complete", out.json()));
    }
    bool answered = false;
    call["progress"].elements(
        [&](json::View one) { answered = answered || one["key"].string_or("") == note_key; });
    if (answered) return;
    out.begin_object().member("requestId", elicitation_id(id));
    out.member("reason", "answered elsewhere").end_object();
    ticket->send(rpc::notification("notifications/cancelled", out.json()));
}

void take_elicited(ApiPtr const& api, json::View call, json::View response, Taken done) {
    auto meaning = meaning_of(call, response);
    if (!meaning) return done(bad_params("the response does not fit the elicitation"));
    // Noted first: who waits for the call knows then that the client has answered.
    api->ask(note(call, meaning->action), [api, then = std::move(meaning->then),
                                           done = std::move(done)](ApiAnswer noted) mutable {
        if (!noted && is_late(noted.error())) return done(std::nullopt);
        if (!noted) return done(fault_of(noted.error()));
        if (!then) return done(std::nullopt);
        api->ask(*std::move(then), [done = std::move(done)](ApiAnswer settled) mutable {
            if (settled || is_late(settled.error())) return done(std::nullopt);
            done(fault_of(settled.error()));
        });
    });
}

void take_elicited(ApiPtr const& api, rpc::Message const& message, Taken done) {
    // A client that cannot ask leaves the question to the inbox.
    Json response = message.fault ? Json::trusted(R"({"action":"cancel"})") : message.result;
    auto find = [api, id = elicited_call(message.id), response = std::move(response),
                 done = std::move(done)](ApiAnswer me) mutable {
        if (!me) return done(fault_of(me.error()));
        auto take = [api, owner = json::View(*me)["name"].string_or(""),
                     response = std::move(response),
                     done = std::move(done)](ApiAnswer call) mutable {
            bool const found =
                call && json::View(*call)["requestedBy"]["name"].string_or("") == owner;
            if (!found) return done(bad_params("nothing was asked under this id"));
            take_elicited(api, json::View(*call), json::View(response), std::move(done));
        };
        api->ask({.target = pending_path(id) + "?view=inbox"}, std::move(take));
    };
    api->ask({.target = "/api/me"}, std::move(find));
}

}  // namespace dormouse::mcp
