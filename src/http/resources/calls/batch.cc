#include "http/resources/calls/handlers.h"

#include "json/json.h"

#include <map>

// Submits many outcomes at once.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

struct Batch {
    Api& api;
    ExchangePtr x;
    struct Item {
        std::string text;  // the pendingID as received
        std::optional<Submit> command;
        HttpReply answer = {};
    };
    std::vector<Item> items = {};
    std::size_t open = 0;
};
using BatchPtr = std::shared_ptr<Batch>;

std::optional<Error> read_item(json::View object, std::size_t index, Batch::Item& item) {
    std::string const pointer = "/items/" + std::to_string(index);
    Body body(object, batch_item_part, pointer);
    Submit command;
    bool const is_error = object["error"].exists();
    if (is_error == object["result"].exists()) body.refuse("result", "give either result or error");
    item.text = read_outcome(body, pointer, is_error, command.what);
    // An id of another form is simply unknown.
    if (auto const pending = PendingId::parse(item.text)) {
        command.pending = *pending;
        item.command = std::move(command);
    }
    return body.error();
}

std::optional<Error> read_items(Batch& batch) {
    Body body(json::View(batch.x->body), batch_request);
    if (body.error()) return body.error();
    body.array("items")->elements([&](json::View object) {
        Batch::Item& item = batch.items.emplace_back();
        if (auto error = read_item(object, batch.items.size() - 1, item))
            body.refuse(std::move(*error));
    });
    return body.error();
}

void answer(Batch const& batch) {
    json::Writer out;
    out.begin_object().key("items").begin_array();
    for (Batch::Item const& item : batch.items) {
        bool const taken = item.answer.status == 200;
        out.begin_object().member("pendingID", item.text).member("status", item.answer.status);
        out.member_raw("answer", taken ? item.answer.body : "null");
        out.member_raw("problem", taken ? "null" : item.answer.body).end_object();
    }
    batch.x->json(200, out.end_array().end_object().take());
}

void set_answer(BatchPtr const& batch, std::size_t index, HttpReply reply) {
    batch->items[index].answer = std::move(reply);
    if (--batch->open == 0) answer(*batch);
}

// Submits from within a read, while the lane commits nothing: all outcomes are decided together, in
// one append.
void submit_session(BatchPtr const& batch, SessionId session, std::vector<std::size_t> indexes) {
    batch->api.services().runner.read_lane(
        session, [batch, indexes = std::move(indexes)](Result<std::shared_ptr<runner::Lane>> lane) {
            for (std::size_t const i : indexes) {
                if (!lane) {
                    set_answer(batch, i, problem_reply(lane.error(), batch->x->request));
                    continue;
                }
                submit_to(batch->api, batch->x, std::move(*batch->items[i].command),
                          [batch, i](HttpReply reply) { set_answer(batch, i, std::move(reply)); });
            }
        });
}

void submit_items(BatchPtr const& batch) {
    if (batch->items.empty()) return answer(*batch);
    std::map<SessionId, std::vector<std::size_t>> sessions;
    for (std::size_t i = 0; i < batch->items.size(); ++i) {
        Batch::Item& item = batch->items[i];
        if (item.command) sessions[item.command->pending.session].push_back(i);
    }
    batch->open = batch->items.size();
    for (std::size_t i = 0; i < batch->items.size(); ++i) {
        if (!batch->items[i].command)
            set_answer(batch, i, problem_reply(not_found(), batch->x->request));
    }
    for (auto& [session, indexes] : sessions) submit_session(batch, session, std::move(indexes));
}

}  // namespace

void post_results(Api& api, ExchangePtr const& x) {
    auto const batch = std::make_shared<Batch>(Batch{api, x});
    auto const failed = std::make_shared<std::optional<Error>>();
    api.run_for_body(
        x, [batch, failed] { *failed = read_items(*batch); },
        [batch, failed] {
            if (*failed) return batch->x->fail(**failed);
            submit_items(batch);
        });
}

}  // namespace dormouse::http
