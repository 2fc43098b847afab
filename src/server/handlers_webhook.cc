#include "server/handlers.h"
#include "server/webhooks.h"

#include "json/json.h"
#include "webhook/source.h"

#include <algorithm>

// Results that come as signed webhooks. The signature is checked over the bytes that came, before
// anything of them is read.
namespace dormouse::server {

using namespace dormouse::session;

namespace {

// One delivery on its way.
struct Inbound {
    Api& api;
    ExchangePtr x;
    webhook::Source source;
    Delivery delivery;
    Json body = {};
    webhook::Payload payload = {};
    std::optional<std::string> tool = {};  // of the call, when its row says so

    [[nodiscard]] Bits128 const& key() const { return delivery.keys.front(); }
};
using InboundPtr = std::shared_ptr<Inbound>;

webhook::Headers headers_of(ExchangePtr const& x) {
    return [x](std::string_view name) { return x->request.header(name); };
}

webhook::Source const* find_source(Api& api, std::string_view id) {
    auto const& sources = api.services().sources;
    auto const found = std::ranges::find(sources, id, &webhook::Source::id);
    return found == sources.end() ? nullptr : &*found;
}

bool is_form(HttpRequest const& request) {
    return request.header("content-type").starts_with("application/x-www-form-urlencoded");
}

Result<Json> body_of(webhook::Source const& source, HttpRequest const& request) {
    if (!is_form(request)) return json::check(request.body);
    if (source.kind == webhook::Kind::slack) return webhook::form_to_json(request.body);
    return fail(Code::unsupported_media_type,
                "Send the body as `Content-Type: application/json`; forms are for sources of kind "
                "slack.");
}

void finish(InboundPtr const& in, HttpReply reply) {
    in->api.webhooks().leave(in->key());
    in->x->responder->reply(std::move(reply));
}

void refuse(InboundPtr const& in, Error const& error) {
    finish(in, problem_reply(error, in->x->request));
}

void say(InboundPtr const& in, int status, std::string text) {
    finish(in, {status, "application/json", {}, std::move(text)});
}

// A source settles results of its own tools, and nothing else.
std::optional<Error> misplaced(Inbound const& in, State const& state) {
    if (state.project != in.source.project) return not_found();
    Call const* const call = open_pause(
        state, in.payload.pending.empty() ? PendingId{} : *PendingId::parse(in.payload.pending));
    std::string const tool = call ? call->spec.tool : in.tool.value_or("");
    auto const& tools = in.source.tools;
    if (!tools.empty() && !tool.empty() && std::ranges::find(tools, tool) == tools.end())
        return Error{Code::forbidden, "This source does not serve the tool of this call."};
    bool const asked = call && call->pause && call->pause->terms.reason != PauseReason::tool_result;
    bool const question =
        call && call->question && call->question->pending.text() == in.payload.pending;
    if (asked || question)
        return Error{Code::forbidden, "A webhook gives results of tools; people decide this call."};
    return std::nullopt;
}

void submit(InboundPtr const& in, PendingId const& pending) {
    Submit command = submission_of(in->payload, in->delivery);
    command.pending = pending;
    submit_to(in->api, in->x, std::move(command),
              [in](HttpReply reply) { finish(in, std::move(reply)); });
}

// The tool of a call that is closed stands in its row.
void settle(InboundPtr const& in, PendingId const& pending) {
    in->payload.pending = pending.text();
    auto question = [pending](port::Store& store) {
        return store.pending(pending.session, pending.call, pending.generation);
    };
    port::ask(in->api.services().journal, std::move(question),
              [in, pending](Result<std::optional<port::PendingRow>> row) {
                  if (!row) return refuse(in, row.error());
                  if (*row) in->tool = (*row)->tool;
                  in->api.services().runner.look(
                      pending.session, [in, pending](Result<std::shared_ptr<runner::Lane>> lane) {
                          if (!lane) return refuse(in, lane.error());
                          if (auto const error = misplaced(*in, (*lane)->state()))
                              return refuse(in, *error);
                          submit(in, pending);
                      });
              });
}

// `place` is without its random part: the history has that.
void settle_at(InboundPtr const& in, PendingId const& place) {
    read_pending(in->api, place, [in, place](Result<Snapshot> snapshot) {
        if (!snapshot) return refuse(in, snapshot.error());
        auto const call = snapshot->history.calls().find(place.call);
        if (call == snapshot->history.calls().end()) return refuse(in, not_found());
        for (wire::PauseView const& pause : call->second.pauses) {
            if (pause.pending.generation == place.generation) return settle(in, pause.pending);
        }
        refuse(in, not_found());
    });
}

void keep(InboundPtr const& in) {
    port::KeptRow row{.delivery = {in->key(), in->delivery.digest},
                      .delivery_id = in->delivery.id,
                      .at = in->api.services().runner.now(),
                      .source = in->source.id,
                      .project = in->source.project,
                      .reference = in->payload.reference,
                      .body = std::string(in->body.text())};
    in->api.webhooks().keep(std::move(row), [in](Result<void> kept) {
        if (!kept) return refuse(in, kept.error());
        say(in, 202, R"({"outcome":"kept","duplicate":false,"receipt":null})");
    });
}

// What waits under the reference, else what it settled last, else it is kept for what comes.
void settle_referenced(InboundPtr const& in) {
    using enum port::PendingStatus;
    port::Journal& journal = in->api.services().journal;
    std::string const& reference = in->payload.reference;
    auto closed = [in](Result<std::vector<PendingId>> found) {
        if (!found) return refuse(in, found.error());
        if (found->empty()) return keep(in);
        settle_at(in, found->front());
    };
    find_referenced(
        journal, in->source, reference, {waiting},
        [in, closed](Result<std::vector<PendingId>> found) {
            if (!found) return refuse(in, found.error());
            if (found->size() > 1)
                return refuse(in, {Code::ambiguous_reference,
                                   "Several calls wait under this reference; name one by its "
                                   "pendingID."});
            if (found->size() == 1) return settle_at(in, found->front());
            find_referenced(in->api.services().journal, in->source, in->payload.reference,
                            {completed, failed, expired, cancelled}, closed);
        });
}

// It came before: under this id, or with this content where nothing else is signed.
void answer_known(InboundPtr const& in) {
    if (in->api.webhooks().keeps(in->key()))
        return say(in, 202, R"({"outcome":"kept","duplicate":true,"receipt":null})");
    if (in->payload.pending.empty())
        return say(in, 200, R"({"outcome":"duplicate","duplicate":true,"receipt":null})");
    settle(in, *PendingId::parse(in->payload.pending));
}

void take(InboundPtr const& in) {
    bool const named = !in->payload.pending.empty();
    if (named && !PendingId::parse(in->payload.pending)) return refuse(in, not_found());
    auto question = [keys = in->delivery.keys](
                        port::Store& store) -> Result<std::vector<std::optional<Bits128>>> {
        std::vector<std::optional<Bits128>> out;
        for (Bits128 const& key : keys) {
            auto found = store.delivered(key);
            if (!found) return std::unexpected(std::move(found.error()));
            out.push_back(*found);
        }
        return out;
    };
    port::ask(in->api.services().journal, std::move(question),
              [in, named](Result<std::vector<std::optional<Bits128>>> found) {
                  if (!found) return refuse(in, found.error());
                  bool known = false;
                  for (auto const& digest : *found) {
                      known = known || digest.has_value();
                      if (digest && *digest != in->delivery.digest)
                          return refuse(in, {Code::delivery_reused,
                                             "This delivery id came before with another body."});
                  }
                  if (known) return answer_known(in);
                  if (named) return settle(in, *PendingId::parse(in->payload.pending));
                  settle_referenced(in);
              });
}

// Slack asks once whether the address is really ours.
bool answer_challenge(ExchangePtr const& x, webhook::Source const& source, Json const& body) {
    json::View const said(body);
    bool const asks =
        source.kind == webhook::Kind::slack && said["type"].string_or("") == "url_verification";
    if (!asks) return false;
    json::Writer out;
    out.begin_object().member("challenge", said["challenge"].string_or("")).end_object();
    x->json(200, out.take());
    return true;
}

void receive(Api& api, ExchangePtr const& x, webhook::Source const& source, std::string id) {
    auto body = body_of(source, x->request);
    if (!body) return x->fail(body.error());
    if (answer_challenge(x, source, *body)) return;
    auto payload = webhook::read_payload(source, *body);
    if (!payload) return x->fail(payload.error());
    if (payload->ignored)
        return x->json(200, R"({"outcome":"ignored","duplicate":false,"receipt":null})");
    x->by = {ActorType::webhook, source.id};
    auto const in = std::make_shared<Inbound>(
        Inbound{api, x, source, delivery_of(source, std::move(id), x->request.body),
                std::move(*body), std::move(*payload)});
    api.webhooks().enter(in->key(), [in] { take(in); });
}

void refuse_signature(Api& api, ExchangePtr const& x, std::string const& source,
                      Error const& error) {
    api.services().gate.count_bad_signature(x->request, source);
    x->fail(error);
}

// Without a source: the call's own secret, in the form of spec 000. Which call it is stands in the
// body, and nothing else of that is used before the signature has been checked.
void receive_own(Api& api, ExchangePtr const& x) {
    auto const refused = [&api, x] {
        api.services().gate.count_bad_signature(x->request, "");
        x->fail({Code::not_found, "There is no such source, and no such call with a secret."});
    };
    auto const body = json::check(x->request.body);
    auto const pending =
        body ? PendingId::parse(json::View(*body)["pendingID"].string_or("")) : std::nullopt;
    if (!pending) return refused();
    auto question = [pending = *pending](port::Store& store) {
        return store.secret(pending.session, pending.call, pending.generation);
    };
    port::ask(api.services().journal, std::move(question),
              [&api, x, pending = *pending, refused](Result<std::optional<std::string>> secret) {
                  if (!secret) return x->fail(secret.error());
                  if (!*secret || (*secret)->empty()) return refused();
                  webhook::Source own{.id = "webhookSecret " + pending.text(),
                                      .kind = webhook::Kind::hmac,
                                      .secrets = {**secret}};
                  auto id = webhook::verify(own.kind, own.secrets, headers_of(x), x->request.body,
                                            api.services().runner.now());
                  if (!id) return refuse_signature(api, x, "", id.error());
                  api.services().runner.look(
                      pending.session, [&api, x, own, id = std::move(*id)](
                                           Result<std::shared_ptr<runner::Lane>> lane) mutable {
                          if (!lane) return x->fail(lane.error());
                          own.project = (*lane)->state().project;
                          receive(api, x, own, std::move(id));
                      });
              });
}

}  // namespace

std::optional<Error> refuse_webhook(Api& api, HttpRequest const& head) {
    bool const bare = head.segments.size() == 2;
    webhook::Source const* const source = find_source(api, bare ? "default" : head.segments[2]);
    if (!source && !bare) return not_found();
    std::string const name = source ? source->id : "";
    if (auto error = api.services().gate.refuse_signature(head, name)) return error;
    auto const headers = [&head](std::string_view header) { return head.header(header); };
    std::string const own = bare ? webhook::missing_headers(webhook::Kind::hmac, headers) : "no";
    if (own.empty()) return std::nullopt;
    std::string const missing = source ? webhook::missing_headers(source->kind, headers) : own;
    if (missing.empty()) return std::nullopt;
    api.services().gate.count_bad_signature(head, name);
    return Error{Code::bad_signature, missing, {}, 0};
}

void post_webhook(Api& api, ExchangePtr const& x) {
    bool const bare = x->params.empty();
    webhook::Source const* const source = find_source(api, bare ? "default" : x->params[0]);
    if (!source && !bare) return x->fail(not_found());
    std::string const name = source ? source->id : "";
    if (auto const error = api.services().gate.refuse_signature(x->request, name))
        return x->fail(*error);
    if (!source) return receive_own(api, x);
    auto id = webhook::verify(source->kind, source->secrets, headers_of(x), x->request.body,
                              api.services().runner.now());
    if (id) return receive(api, x, *source, std::move(*id));
    bool const other = bare && id.error().code == Code::bad_signature;
    bool const own = other && !x->request.header("x-webhook-signature").empty();
    if (own) return receive_own(api, x);
    refuse_signature(api, x, name, id.error());
}

}  // namespace dormouse::server
