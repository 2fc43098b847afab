#include "http/resources/query_word.h"
#include "http/resources/webhooks/delivery_fields.h"
#include "http/resources/webhooks/handlers.h"

#include "webhook/outgoing.h"

// Outgoing deliveries: webhooks and notifications, and their attempts.
namespace dormouse::http {

using port::OutboxRow;
using port::OutboxState;

std::string delivery_id(OutboxRow const& row) { return webhook::delivery_text(row); }

std::string delivery_type(OutboxRow const& row) {
    auto const letter = webhook::read_letter(row.body);
    if (!letter) return "unknown";
    if (letter->kind == webhook::Letter::Kind::call) return "call";
    if (letter->kind == webhook::Letter::Kind::external_agent) return "program";
    return letter->kind == webhook::Letter::Kind::event ? "event" : "notify";
}

namespace {

std::optional<port::OutboxFilter> read_filter(ExchangePtr const& x) {
    Query query{x->request};
    port::OutboxFilter filter;
    filter.project = x->request.query_value("project").value_or("default");
    filter.limit = static_cast<std::uint32_t>(query.number("limit", 50, 1, 200));
    filter.state = query_word<OutboxState>(query, "state");
    if (auto const cursor = x->request.query_value("cursor")) {
        auto const id = webhook::parse_delivery(*cursor);
        if (id) filter.before = id->key;
        if (!id) query.error = Error{Code::bad_cursor, "The cursor is invalid; begin without one."};
    }
    if (!query.error) return filter;
    x->fail(*query.error);
    return std::nullopt;
}

// A row and its project; no row: unknown, or a message between sessions.
struct Found {
    std::optional<OutboxRow> row = {};
    std::string project = {};
};

Result<Found> find_row(port::Store& store, port::OutboxKey const& key) {
    auto row = store.outbox_message(key);
    if (!row) return std::unexpected(std::move(row.error()));
    if (!*row || (*row)->kind != webhook::webhook_kind) return Found{};
    auto project = store.project_of(key.from);
    if (!project) return std::unexpected(std::move(project.error()));
    return Found{std::move(*row), project->value_or("")};
}

// A foreign delivery is not found. Its session may be deleted while its row still exists.
void with_delivery(Api& api, ExchangePtr const& x, port::Fn<void(OutboxRow)> then) {
    auto const id = webhook::parse_delivery(x->params[0]);
    if (!id) return x->fail(not_found());
    port::ask(
        api.services().journal,
        [key = id->key](port::Store& store) { return find_row(store, key); },
        [x, then = std::move(then)](Result<Found> found) mutable {
            if (!found) return x->fail(found.error());
            bool const mine = found->row && delivery_id(*found->row) == x->params[0] &&
                              (!x->principal || x->principal->is_for(found->project));
            if (!mine) return x->fail(not_found());
            then(std::move(*found->row));
        });
}

void update(Api& api, ExchangePtr const& x, port::OutboxUpdate change, port::Fn<void()> then) {
    api.services().journal.write(
        [change](port::OutboxStore& store) { return store.update_messages({&change, 1}); },
        [x, then = std::move(then)](Result<void> done) mutable {
            if (!done) return x->fail(done.error());
            then();
        });
}

}  // namespace

void list_deliveries(Api& api, ExchangePtr const& x) {
    auto const filter = read_filter(x);
    if (!filter) return;
    port::ask(
        api.services().journal,
        [filter = *filter](port::OutboxStore& store) { return store.list_messages(filter); },
        [x, limit = filter->limit](Result<std::vector<OutboxRow>> rows) {
            if (!rows) return x->fail(rows.error());
            bool const more = rows->size() == limit;
            auto const next = more ? std::optional(delivery_id(rows->back())) : std::nullopt;
            x->json(200, list_text(*rows, next));
        });
}

// Starts again at the first attempt, whatever its state: the receiver knows the delivery by its id.
void retry_delivery(Api& api, ExchangePtr const& x) {
    Body const body(json::View(x->body), empty_request);
    if (body.error()) return x->fail(*body.error());
    with_delivery(api, x, [&api, x](OutboxRow row) {
        port::OutboxUpdate change;
        change.key = row.key;
        change.next_at = api.services().runner.now();
        change.last_status = row.last_status;
        change.last_error = row.last_error;
        row.state = OutboxState::pending;
        row.next_at = change.next_at;
        row.attempts = 0;
        row.delivered.reset();
        update(api, x, change, [x, row] { x->json(200, object_text(row)); });
    });
}

void delete_delivery(Api& api, ExchangePtr const& x) {
    with_delivery(api, x, [&api, x](OutboxRow const& row) {
        port::OutboxUpdate change;
        change.key = row.key;
        change.gone = true;
        update(api, x, change, [x] { x->empty(204); });
    });
}

}  // namespace dormouse::http
