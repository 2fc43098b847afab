#include "http/resources/devices/device_changes.h"
#include "http/resources/devices/device_fields.h"
#include "http/resources/devices/handlers.h"
#include "http/resources/shared_access.h"
#include "http/resources/tokens/token_changes.h"

#include "base/text/text.h"
#include "webhook/pump.h"

#include <algorithm>

// The caller's devices: browsers that get notifications (docs/reference/http.md, "Devices").
namespace dormouse::http {

namespace {

constexpr Duration test_limit{10'000};

DeviceSource source_of(port::DeviceRow row, Principal const& who) {
    bool const current = row.token == who.row.id;
    return {std::move(row), current};
}

// Returns nullptr unless it is the caller's.
port::DeviceRow const* find_own(Api& api, ExchangePtr const& x) {
    port::DeviceRow const* const row = api.services().gate.devices().find(x->params[0]);
    return row && row->person == x->principal->row.name ? row : nullptr;
}

// Devices belong to a token of the store, because they end with it.
std::optional<Error> refuse_owner(Api& api, Principal const& who) {
    if (!api.services().push)
        return Error{Code::wrong_state,
                     "This server sends no notifications to devices: add [[notify]] of kind "
                     "\"web-push\" to its configuration."};
    if (who.built_in)
        return Error{Code::wrong_state,
                     "The server's first token has no devices: sign in with a link, or use a token "
                     "of POST /api/tokens."};
    return std::nullopt;
}

std::optional<Error> refuse_more(Api& api, port::DeviceRow const& row) {
    Devices const& devices = api.services().gate.devices();
    port::DeviceRow const* const same = devices.find_endpoint(row.endpoint);
    if (same && same->person == row.person) return std::nullopt;  // it is replaced
    if (devices.of(row.person).size() >= Devices::most_each)
        return Error{Code::wrong_state, "You have 10 devices; remove one."};
    if (devices.all().size() < Devices::most) return std::nullopt;
    return Error{Code::wrong_state, "This server has 1,000 devices; somebody must remove one."};
}

bool is_label(std::string_view text) {
    return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }) &&
           escape_for_terminal(text) == text;
}

port::DeviceRow read_device(Api& api, Body& body) {
    port::DeviceRow row;
    row.endpoint = body.required_string("endpoint");
    row.p256dh = body.required_string("p256dh");
    row.auth = body.required_string("auth");
    row.label = body.string("label").value_or("A browser");
    auto const way = webhook::url_policy(row.endpoint, api.services().webhook_hosts);
    if (!body.error() && !way.refusal.empty())
        body.refuse("endpoint", "must be the address of a push service; " + way.refusal);
    if (!body.error() && !webhook::push_device(row))
        body.refuse("p256dh", "and auth must be the keys of a push subscription, in base64url");
    if (!body.error() && !is_label(row.label))
        body.refuse("label", "must not have control characters");
    return row;
}

void list_known_devices(Api& api, ExchangePtr const& x) {
    drop_expired(api);
    DeviceList out;
    if (auto const& push = api.services().push) out.key = base64url(push->key);
    for (auto& row : api.services().gate.devices().of(x->principal->row.name))
        out.items.push_back(source_of(std::move(row), *x->principal));
    x->json(200, object_text(out));
}

}  // namespace

void list_devices(Api& api, ExchangePtr const& x) {
    with_newest_access(api, x, [&api, x] { list_known_devices(api, x); });
}

void create_device(Api& api, ExchangePtr const& x) {
    Body body(json::View(x->body), device_request);
    port::DeviceRow row = read_device(api, body);
    if (body.error()) return x->fail(*body.error());
    if (auto const error = refuse_owner(api, *x->principal)) return x->fail(*error);
    Random const random = api.services().entropy.random();
    row.id = "dev_" + base64url(std::span(random).first(16));
    row.token = x->principal->row.id;
    row.person = x->principal->row.name;
    row.role = x->principal->row.role;
    row.created = api.services().runner.now();
    if (auto const error = refuse_more(api, row)) return x->fail(*error);
    add_device(api, x->by, row, [x, row](Result<void> done) {
        if (!done && done.error().code == Code::conflict)
            return x->fail({Code::unauthenticated, "This token has ended meanwhile."});
        if (!done) return x->fail(done.error());
        x->json(201, object_text(source_of(row, *x->principal)));
    });
}

void delete_device(Api& api, ExchangePtr const& x) {
    with_newest_access(api, x, [&api, x] {
        if (!find_own(api, x)) return x->fail(not_found());
        remove_device(api, "device_removed", x->by, x->params[0], [x](Result<void> done) {
            if (!done) return x->fail(done.error());
            x->empty(204);
        });
    });
}

namespace {

void answer_test(Api& api, ExchangePtr const& x, int status, std::string const& failure) {
    webhook::ServiceReply reply = webhook::push_reply(status);
    DeviceTest out{.taken = reply.taken, .status = status, .removed = reply.gone};
    if (!reply.taken) out.why = status == 0 ? failure : reply.why;
    if (!reply.gone) return x->json(200, object_text(out));
    remove_device(api, "device_gone", x->by, x->params[0], [x, out](Result<void> done) {
        if (!done && done.error().code != Code::not_found) return x->fail(done.error());
        x->json(200, object_text(out));
    });
}

void send_test(Api& api, ExchangePtr const& x, webhook::ServiceRequest made, bool public_only) {
    port::HttpRequest request{.method = std::move(made.method),
                              .url = std::move(made.url),
                              .headers = std::move(made.headers),
                              .body = std::move(made.body),
                              .connect_limit = test_limit,
                              .idle_limit = test_limit,
                              .total_limit = test_limit,
                              .response_max = 64 << 10,
                              .public_only = public_only};
    auto const status = std::make_shared<int>(0);
    port::HttpCallbacks callbacks;
    callbacks.head = [status](port::HttpHead const& head) { *status = head.status; };
    callbacks.done = [&api, x, status](std::optional<port::HttpFailure> const& failure) {
        answer_test(api, x, *status, failure ? failure->reason : "no answer came");
    };
    (void)api.services().client->start(std::move(request), std::move(callbacks));
}

void test_known_device(Api& api, ExchangePtr const& x) {
    Services& services = api.services();
    port::DeviceRow const* const row = find_own(api, x);
    auto const device = row ? push_device_of(api, row->id) : std::nullopt;
    if (!device) return x->fail(not_found());
    if (auto const error = refuse_owner(api, *x->principal)) return x->fail(*error);
    if (!services.client || !services.gate.may_test_device(row->person))
        return x->fail(
            {Code::rate_limited, "You sent 5 tests; try again in a minute.", {}, 60'000});
    auto const way = webhook::url_policy(device->endpoint, services.webhook_hosts);
    if (!way.refusal.empty()) return x->fail({Code::wrong_state, "Not sent: " + way.refusal});
    webhook::PushRandom const random{services.entropy.random(), services.entropy.random()};
    std::string authorization =
        webhook::vapid(*services.push, device->endpoint, services.runner.now());
    auto request = webhook::push_request(std::move(authorization), *device,
                                         webhook::push_test_message(row->id), random);
    if (!request) return x->fail(request.error());
    send_test(api, x, *std::move(request), way.public_only);
}

}  // namespace

void test_device(Api& api, ExchangePtr const& x) {
    with_newest_access(api, x, [&api, x] { test_known_device(api, x); });
}

}  // namespace dormouse::http
