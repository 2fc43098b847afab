#include "http/resources/calls/handlers.h"
#include "http/resources/webhooks/handlers.h"
#include "http/resources/webhooks/webhooks.h"

#include "json/json.h"
#include "webhook/source.h"

#include <algorithm>

// Results that arrive as signed webhooks. The signature is checked over the received bytes before
// anything in them is read.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

// One delivery in progress.
struct Inbound {
    Api& api;
    ExchangePtr x;
    webhook::Source source;
    Delivery delivery;
    Json body = {};
    webhook::Payload payload = {};
    std::optional<std::string> tool = {};  // of the call, when its row has it

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

void respond(InboundPtr const& in, int status, std::string text) {
    finish(in, {status, "application/json", {}, std::move(text)});
}

// A source settles results of its own tools only.
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
    auto const command = std::make_shared<Submit>();
    in->api.run_for_body(
        in->x, [in, command] { *command = submission_of(in->payload, in->delivery); },
        [in, command, pending] {
            command->pending = pending;
            submit_to(in->api, in->x, std::move(*command),
                      [in](HttpReply reply) { finish(in, std::move(reply)); });
        });
}

// The row of a settled call has its tool.
void settle(InboundPtr const& in, PendingId const& pending) {
    in->payload.pending = pending.text();
    auto question = [pending](port::JournalStore& store) {
        return store.pending(pending.session, pending.call, pending.generation);
    };
    port::ask(in->api.services().journal, std::move(question),
              [in, pending](Result<std::optional<port::PendingRow>> row) {
                  if (!row) return refuse(in, row.error());
                  if (*row) in->tool = (*row)->tool;
                  in->api.services().runner.read_lane(
                      pending.session, [in, pending](Result<std::shared_ptr<runner::Lane>> lane) {
                          if (!lane) return refuse(in, lane.error());
                          if (auto const error = misplaced(*in, (*lane)->state()))
                              return refuse(in, *error);
                          submit(in, pending);
                      });
              });
}

// `place` has no random part: it is in the history.
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

void take(InboundPtr const& in);

// Another process that shares the store may have taken it meanwhile.
void keep(InboundPtr const& in) {
    port::KeptRow row{.delivery = {in->key(), in->delivery.digest},
                      .delivery_id = in->delivery.id,
                      .at = in->api.services().runner.now(),
                      .source = in->source.id,
                      .project = in->source.project,
                      .reference = in->payload.reference,
                      .body = std::string(in->body.text())};
    in->api.webhooks().keep(std::move(row), [in](Result<void> kept) {
        if (!kept && kept.error().code == Code::conflict) return take(in);
        if (!kept) return refuse(in, kept.error());
        respond(in, 202, R"({"outcome":"kept","duplicate":false,"receipt":null})");
    });
}

// Settles the call that waits under the reference, else repeats the one it settled last, else keeps
// the delivery for a later call.
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

void answer_kept(InboundPtr const& in) {
    respond(in, 202, R"({"outcome":"kept","duplicate":true,"receipt":null})");
}

void answer_used(InboundPtr const& in) {
    if (in->payload.pending.empty())
        return respond(in, 200, R"({"outcome":"duplicate","duplicate":true,"receipt":null})");
    settle(in, *PendingId::parse(in->payload.pending));
}

// Answers a delivery that was received before: under this id, or with this content where the
// signature covers nothing else.
void answer_known(InboundPtr const& in) {
    if (!in->api.services().find_token)
        return in->api.webhooks().keeps(in->key()) ? answer_kept(in) : answer_used(in);
    // Another process that shares the store may keep it, or have found its call.
    auto question = [key = in->key()](port::InboundStore& store) {
        return store.kept_delivery(key);
    };
    port::ask(in->api.services().journal, std::move(question),
              [in](Result<std::optional<port::KeptRow>> const& row) {
                  if (!row) return refuse(in, row.error());
                  *row ? answer_kept(in) : answer_used(in);
              });
}

void take(InboundPtr const& in) {
    bool const named = !in->payload.pending.empty();
    if (named && !PendingId::parse(in->payload.pending)) return refuse(in, not_found());
    auto question = [keys = in->delivery.keys](
                        port::InboundStore& store) -> Result<std::vector<std::optional<Bits128>>> {
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
                          return refuse(in,
                                        {Code::delivery_reused,
                                         "This delivery id was used before with another body."});
                  }
                  if (known) return answer_known(in);
                  if (in->api.webhooks().keeps_copy(in->source.id, in->delivery))
                      return answer_kept(in);
                  if (named) return settle(in, *PendingId::parse(in->payload.pending));
                  settle_referenced(in);
              });
}

// Slack sends a challenge once, to check the address.
bool asks_challenge(webhook::Source const& source, Json const& body) {
    return source.kind == webhook::Kind::slack &&
           json::View(body)["type"].string_or("") == "url_verification";
}

void answer_challenge(ExchangePtr const& x, Json const& body) {
    json::Writer out;
    out.begin_object().member("challenge", json::View(body)["challenge"].string_or(""));
    x->json(200, out.end_object().take());
}

// A delivery as far as it could be read.
struct Received {
    std::optional<Error> unsigned_why = {};  // the signature is not the source's
    std::optional<Error> refused = {};
    std::string id = {};
    Json body = {};
    webhook::Payload payload = {};
    Delivery delivery = {};
};

// Reads nothing of a delivery whose signature is wrong.
Received read(webhook::Source const& source, ExchangePtr const& x, Time now) {
    Received out;
    auto id = webhook::verify(source.kind, source.secrets, headers_of(x), x->request.body, now);
    if (!id) {
        out.unsigned_why = id.error();
        return out;
    }
    auto body = body_of(source, x->request);
    if (!body) {
        out.refused = body.error();
        return out;
    }
    out.body = std::move(*body);
    out.id = std::move(*id);
    if (asks_challenge(source, out.body)) return out;
    auto payload = webhook::read_payload(source, out.body);
    if (!payload) {
        out.refused = payload.error();
        return out;
    }
    out.payload = std::move(*payload);
    if (!out.payload.ignored) out.delivery = delivery_of(source, out.id, x->request.body);
    return out;
}

void accept(Api& api, ExchangePtr const& x, webhook::Source source, Received received) {
    if (received.refused) return x->fail(*received.refused);
    if (asks_challenge(source, received.body)) return answer_challenge(x, received.body);
    if (received.payload.ignored)
        return x->json(200, R"({"outcome":"ignored","duplicate":false,"receipt":null})");
    x->by = {ActorType::webhook, source.id};
    auto const in =
        std::make_shared<Inbound>(Inbound{api, x, std::move(source), std::move(received.delivery),
                                          std::move(received.body), std::move(received.payload)});
    api.webhooks().enter(in->key(), [in] { take(in); });
}

// Reads the delivery, on a worker thread when it is large.
void receive(Api& api, ExchangePtr const& x, webhook::Source source,
             port::Fn<void(webhook::Source, Received)> then) {
    struct Reading {
        webhook::Source source;
        Received received = {};
    };
    auto const at = std::make_shared<Reading>(std::move(source));
    // Not the guarded time of decisions: after a jump of the clock that is the former one for some
    // time.
    api.run_for_body(
        x, [x, at, now = api.services().clock.now()] { at->received = read(at->source, x, now); },
        [at, then = std::move(then)]() mutable {
            then(std::move(at->source), std::move(at->received));
        });
}

void refuse_signature(Api& api, ExchangePtr const& x, std::string const& source,
                      Error const& error) {
    api.services().gate.count_bad_signature(x->request, source);
    x->fail(error);
}

void receive_signed(Api& api, ExchangePtr const& x, PendingId const& pending, std::string secret) {
    webhook::Source own{.id = "webhookSecret " + pending.text(),
                        .kind = webhook::Kind::hmac,
                        .secrets = {std::move(secret)}};
    receive(api, x, std::move(own),
            [&api, x, session = pending.session](webhook::Source source, Received received) {
                if (received.unsigned_why)
                    return refuse_signature(api, x, "", *received.unsigned_why);
                api.services().runner.read_lane(
                    session, [&api, x, source = std::move(source), received = std::move(received)](
                                 Result<std::shared_ptr<runner::Lane>> lane) mutable {
                        if (!lane) return x->fail(lane.error());
                        source.project = (*lane)->state().project;
                        accept(api, x, std::move(source), std::move(received));
                    });
            });
}

// A delivery without a source uses the call's own secret (docs/reference/http.md). The body names
// the call, and nothing else of it is used before the signature has been checked.
void receive_own(Api& api, ExchangePtr const& x) {
    auto const refused = [&api, x] {
        api.services().gate.count_bad_signature(x->request, "");
        x->fail({Code::not_found, "No source and no call with a secret was found here."});
    };
    auto const named = std::make_shared<std::optional<PendingId>>();
    auto const find = [x, named] {
        auto const body = json::check(x->request.body);
        if (body) *named = PendingId::parse(json::View(*body)["pendingID"].string_or(""));
    };
    api.run_for_body(x, find, [&api, x, named, refused] {
        if (!*named) return refused();
        auto question = [pending = **named](port::OutboxStore& store) {
            return store.secret(pending.session, pending.call, pending.generation);
        };
        port::ask(api.services().journal, std::move(question),
                  [&api, x, pending = **named, refused](Result<std::optional<std::string>> secret) {
                      if (!secret) return x->fail(secret.error());
                      if (!*secret || (*secret)->empty()) return refused();
                      receive_signed(api, x, pending, **secret);
                  });
    });
}

}  // namespace

std::optional<Error> refuse_webhook(Api& api, HttpRequest const& head) {
    if (is_press(head)) return refuse_press(api, head);
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
    receive(api, x, *source, [&api, x, name, bare](webhook::Source from, Received received) {
        if (!received.unsigned_why) return accept(api, x, std::move(from), std::move(received));
        bool const other = bare && received.unsigned_why->code == Code::bad_signature;
        bool const own = other && !x->request.header("x-webhook-signature").empty();
        if (own) return receive_own(api, x);
        refuse_signature(api, x, name, *received.unsigned_why);
    });
}

}  // namespace dormouse::http
