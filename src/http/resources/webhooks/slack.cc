#include "http/resources/calls/handlers.h"
#include "http/resources/pages/page.h"
#include "http/resources/webhooks/handlers.h"

#include "json/json.h"
#include "webhook/pump.h"
#include "webhook/source.h"
#include "wire/submission.h"

// The buttons of a message in Slack (kind slack-bot of [[notify]]): a press is a decision. Slack
// signs the request, so it says who pressed; the value of the button says for which call and for
// which arguments. The message itself changes with the call (webhook/pump_notices.cc). Text that
// only this person may see is the answer to the press.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr char const* source_name = "slack";  // for the limits of bad signatures

// Slack requires an answer within 3 s.
constexpr Duration answer_limit{10'000};

struct Press {
    std::string user;
    std::string answer_url;
    bool approves = false;
    std::optional<PendingId> pending = {};
    std::optional<Sha256> digest = {};
};

// nullopt: nothing to do, such as the button that opens the page.
std::optional<Press> press_of(json::View payload) {
    if (payload["type"].string_or("") != "block_actions") return std::nullopt;
    json::View const action = payload.at_pointer("/actions/0");
    std::string const id = action["action_id"].string_or("");
    if (id != "approve" && id != "deny") return std::nullopt;
    std::string const value = action["value"].string_or("");
    auto const space = std::min(value.find(' '), value.size());
    return Press{.user = payload["user"]["id"].string_or(""),
                 .answer_url = payload["response_url"].string_or(""),
                 .approves = id == "approve",
                 .pending = PendingId::parse(value.substr(0, space)),
                 .digest = wire::parse_digest(value.substr(std::min(space + 1, value.size())))};
}

// Tells the person alone. Best effort: the address ends after 30 minutes.
void respond(Api& api, Press const& press, std::string const& text) {
    Services const& services = api.services();
    auto const policy = webhook::url_policy(press.answer_url, services.webhook_hosts);
    if (!services.client || !policy.refusal.empty()) return;
    json::Writer body;
    body.begin_object().member("response_type", "ephemeral").member("replace_original", false);
    body.member("text", text).end_object();
    port::HttpRequest request{.method = "POST",
                              .url = press.answer_url,
                              .headers = {{"Content-Type", "application/json"}},
                              .body = body.take(),
                              .connect_limit = answer_limit,
                              .idle_limit = answer_limit,
                              .total_limit = answer_limit,
                              .response_max = 64 << 10,
                              .public_only = policy.public_only};
    port::HttpCallbacks callbacks;
    callbacks.done = [](std::optional<port::HttpFailure> const&) {};
    (void)services.client->start(std::move(request), std::move(callbacks));
}

// "Already approved by bob. Your answer was not applied."
std::string refusal_text(HttpReply const& reply) {
    json::View const problem(reply.body);
    std::string const by = problem["receipt"]["by"]["name"].string_or("");
    std::string out = problem["detail"].string_or("The answer was refused.");
    if (!by.empty()) out += " It was " + by + " who answered.";
    return out + " Your answer was not applied.";
}

void answered(Api& api, ExchangePtr const& x, Press const& press, HttpReply const& reply) {
    json::View const answer(reply.body);
    if (reply.status != 200) {
        respond(api, press, refusal_text(reply));
    } else if (answer["outcome"].string_or("") == "counted") {
        respond(api, press, "Your vote was counted; others must agree.");
    } else if (answer["duplicate"].boolean_or(false)) {
        respond(api, press, "This was decided so before.");
    }
    x->empty(200);
}

void refuse(Api& api, ExchangePtr const& x, Press const& press, std::string const& why) {
    respond(api, press, why + " Your answer was not applied.");
    x->empty(200);
}

void decide(Api& api, ExchangePtr const& x, Press const& press) {
    read_pending(api, *press.pending, [&api, x, press](Result<Snapshot> snapshot) {
        wire::PauseView const* const pause =
            snapshot ? snapshot->history.pause(*press.pending) : nullptr;
        bool const mine = pause && x->principal->is_for(snapshot->lane->state().project);
        if (!mine) return refuse(api, x, press, "This call was not found.");
        std::string const holder = claimed_by_another(*pause, x->by, api.services().runner.now());
        if (!pause->receipt && !holder.empty())
            return refuse(api, x, press, holder + " has claimed this call.");
        Submit command;
        command.pending = *press.pending;
        command.what = wire::submitted_decision(press.approves, "", {}, {});
        command.via = "slack";
        command.input_digest = press.digest;
        submit_to(api, x, std::move(command),
                  [&api, x, press](HttpReply const& reply) { answered(api, x, press, reply); });
    });
}

void take_press(Api& api, ExchangePtr const& x, Press const& press) {
    if (!press.pending || !press.digest)
        return x->fail({Code::bad_value, "The button does not name a call and its arguments."});
    Person const* const person = api.services().people.find(&Person::slack, press.user);
    if (!person)
        return refuse(
            api, x, press,
            "Your Slack account (" + press.user + ") belongs to no [[user]] of this server.");
    x->principal = principal_of(*person);
    x->by = {ActorType::token, person->name};
    if (person->role < Role::answer) return refuse(api, x, press, "You may read, but not answer.");
    decide(api, x, press);
}

}  // namespace

std::optional<Error> refuse_press(Api& api, HttpRequest const& head) {
    Services& services = api.services();
    if (services.people.slack_secrets.empty()) return not_found();
    if (auto error = services.gate.refuse_signature(head, source_name)) return error;
    std::string const missing = webhook::missing_headers(
        webhook::Kind::slack, [&head](std::string_view header) { return head.header(header); });
    if (missing.empty()) return std::nullopt;
    services.gate.count_bad_signature(head, source_name);
    return Error{Code::bad_signature, missing, {}, 0};
}

void post_slack(Api& api, ExchangePtr const& x) {
    Services& services = api.services();
    if (services.people.slack_secrets.empty()) return x->fail(not_found());
    if (auto const error = services.gate.refuse_signature(x->request, source_name))
        return x->fail(*error);
    auto const headers = [&x](std::string_view name) { return x->request.header(name); };
    auto const id = webhook::verify(webhook::Kind::slack, services.people.slack_secrets, headers,
                                    x->request.body, services.clock.now());
    if (!id) {
        services.gate.count_bad_signature(x->request, source_name);
        return x->fail(id.error());
    }
    auto const form = webhook::form_to_json(x->request.body);
    if (!form) return x->fail(form.error());
    auto const press = press_of(json::View(*form)["payload"]);
    if (!press) return x->empty(200);
    take_press(api, x, *press);
}

}  // namespace dormouse::http
