#include "http/objects/objects.h"
#include "http/resources/query_word.h"
#include "http/resources/webhooks/handlers.h"

#include "json/json.h"
#include "webhook/outgoing.h"

// What is sent out: webhooks and word to people, and what became of them.
namespace dormouse::server {

using port::PostRow;
using port::PostState;

namespace {

std::string type_of(PostRow const& row) {
    auto const letter = webhook::read_letter(row.body);
    if (!letter) return "unknown";
    if (letter->kind == webhook::Letter::Kind::call) return "call";
    if (letter->kind == webhook::Letter::Kind::program) return "program";
    return letter->kind == webhook::Letter::Kind::event ? "event" : "notify";
}

std::string delivery_object(PostRow const& row) {
    bool const open = row.state == PostState::pending;
    json::Writer out;
    out.begin_object().member("id", webhook::delivery_text(row.key));
    out.member("sessionID", row.key.from.text()).member("seq", row.key.seq);
    out.member("url", row.target).member("type", type_of(row));
    out.member("state", word_of(row.state));
    out.member("attempts", row.attempts);
    out.member("nextAt", open ? std::optional(to_ms(row.next_at)) : std::nullopt);
    row.last_status == 0 ? out.member_null("lastStatus")
                         : out.member("lastStatus", std::int64_t{row.last_status});
    row.last_error.empty() ? out.member_null("lastError") : out.member("lastError", row.last_error);
    out.key("time").begin_object().member("created", to_ms(row.created));
    out.member("delivered", row.delivered ? std::optional(to_ms(*row.delivered)) : std::nullopt);
    return out.end_object().end_object().take();
}

std::optional<port::PostFilter> read_filter(ExchangePtr const& x) {
    Query query{x->request};
    port::PostFilter filter;
    filter.project = x->request.query_value("project").value_or("default");
    filter.limit = static_cast<std::uint32_t>(query.number("limit", 50, 1, 200));
    filter.state = query_word<PostState>(query, "state");
    if (auto const cursor = x->request.query_value("cursor")) {
        filter.before = webhook::parse_delivery(*cursor);
        if (!filter.before)
            query.error = Error{Code::bad_cursor, "This cursor is not one of ours; begin without."};
    }
    if (!query.error) return filter;
    x->fail(*query.error);
    return std::nullopt;
}

// A row and whose it is; no row: there is none, or one between sessions.
struct Found {
    std::optional<PostRow> row = {};
    std::string project = {};
};

Result<Found> find_row(port::Store& store, port::PostKey const& key) {
    auto row = store.post(key);
    if (!row) return std::unexpected(std::move(row.error()));
    if (!*row || (*row)->kind != webhook::post_kind) return Found{};
    auto project = store.project_of(key.from);
    if (!project) return std::unexpected(std::move(project.error()));
    return Found{std::move(*row), project->value_or("")};
}

// A foreign one looks as if there were none. Its session may be gone, and its row still be there.
void with_delivery(Api& api, ExchangePtr const& x, port::Fn<void(PostRow)> then) {
    auto const key = webhook::parse_delivery(x->params[0]);
    if (!key) return x->fail(not_found());
    port::ask(
        api.services().journal, [key = *key](port::Store& store) { return find_row(store, key); },
        [x, then = std::move(then)](Result<Found> found) mutable {
            if (!found) return x->fail(found.error());
            bool const mine = found->row && (!x->principal || x->principal->is_for(found->project));
            if (!mine) return x->fail(not_found());
            then(std::move(*found->row));
        });
}

void update(Api& api, ExchangePtr const& x, port::PostUpdate change, port::Fn<void()> then) {
    api.services().journal.write(
        [change](port::OutboxStore& store) { return store.update_posts({&change, 1}); },
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
        [filter = *filter](port::OutboxStore& store) { return store.list_posts(filter); },
        [x, limit = filter->limit](Result<std::vector<PostRow>> rows) {
            if (!rows) return x->fail(rows.error());
            json::Writer out;
            out.begin_object().key("items").begin_array();
            for (PostRow const& row : *rows) out.raw(delivery_object(row));
            out.end_array();
            bool const more = rows->size() == limit;
            more ? out.member("next", webhook::delivery_text(rows->back().key))
                 : out.member_null("next");
            x->json(200, out.end_object().take());
        });
}

// From the beginning, whatever became of it: its receiver knows it by its id.
void retry_delivery(Api& api, ExchangePtr const& x) {
    Body const body(json::View(x->body), "", {});
    if (body.error()) return x->fail(*body.error());
    with_delivery(api, x, [&api, x](PostRow row) {
        port::PostUpdate change;
        change.key = row.key;
        change.next_at = api.services().runner.now();
        change.last_status = row.last_status;
        change.last_error = row.last_error;
        row.state = PostState::pending;
        row.next_at = change.next_at;
        row.attempts = 0;
        row.delivered.reset();
        update(api, x, change, [x, row] { x->json(200, delivery_object(row)); });
    });
}

void delete_delivery(Api& api, ExchangePtr const& x) {
    with_delivery(api, x, [&api, x](PostRow const& row) {
        port::PostUpdate change;
        change.key = row.key;
        change.gone = true;
        update(api, x, change, [x] { x->empty(204); });
    });
}

}  // namespace dormouse::server
