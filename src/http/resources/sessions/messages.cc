#include "http/objects/fields.h"
#include "http/objects/objects.h"
#include "http/resources/sessions/handlers.h"

#include "base/text/text.h"
#include "json/json.h"

#include <algorithm>

// Messages and turns of a session, page by page, oldest first. A page reads the journal from its
// own position until it has what it shows: calls until they have settled, turns until they have
// ended. A cursor is the event of the next one; c<n> is the n-th message that a fork was created
// with.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

// Bytes of the journal for each item, in the first read: a short message and the events around it.
constexpr std::size_t item_bytes = 1024;
// A page reads about this much of the journal, and more only for a single message.
constexpr std::size_t read_max = std::size_t{32} << 20;

struct HistoryPage {
    Api& api;
    ExchangePtr x;
    SessionId id;
    std::size_t limit = 0;
    std::size_t copied = 0;  // copied messages of the fork already shown
    Seq from = 1;            // first event of the page
    Seq next = 1;            // the next event to read
    std::size_t bytes = 0;   // of the journal, in the next read
    wire::History history;
    bool at_end = false;
    std::size_t read = 0;  // bytes of the journal, about
    // Returns true if the page has all that it shows; called with the state after each read.
    std::function<bool(HistoryPage const&, State const&)> enough;
    std::function<void(HistoryPage const&, State const&)> answer;
};
using HistoryPagePtr = std::shared_ptr<HistoryPage>;

void read_on(HistoryPagePtr const& page) {
    std::size_t const bytes = page->bytes;
    page->bytes = std::min(2 * bytes, runner::Runner::page_bytes);
    page->api.services().runner.read_page(
        page->id, page->next, bytes, [page, bytes](Result<runner::Runner::Read> read) {
            if (!read) return page->x->fail(read.error());
            State const& state = read->lane->state();
            if (page->next > state.head + 1)
                return page->x->fail({Code::bad_cursor, "The cursor is invalid."});
            bool const begins = page->next == page->from && page->from > 1;
            bool const there =
                !read->records.empty() && read->records.front()->event.seq == page->from;
            if (begins && !there && page->from <= state.base.through)
                return page->x->fail(history_gone());
            for (wire::RecordPtr const& record : read->records) {
                page->history.add(*record);
                page->next = record->event.seq + 1;
            }
            page->at_end = page->next > state.head;
            page->read += bytes;
            if (!page->at_end && !page->enough(*page, state)) return read_on(page);
            page->answer(*page, state);
        });
}

// Returns nullptr if the request was refused.
HistoryPagePtr begin(Api& api, ExchangePtr const& x) {
    auto const id = SessionId::parse(x->params[0]);
    if (!id) {
        x->fail(not_found());
        return nullptr;
    }
    Query query{x->request};
    std::size_t const limit = query.number("limit", 50, 1, 200);
    std::size_t copied = 0;
    Seq from = 1;
    if (auto cursor = x->request.query_value("cursor")) {
        bool const copy = cursor->starts_with('c');
        auto const number = parse_number(copy ? cursor->substr(1) : *cursor);
        if (!number || *number < 1)
            query.error = Error{Code::bad_cursor, "The cursor is invalid; begin without one."};
        (copy ? copied : from) = number.value_or(1);
    }
    if (query.error) {
        x->fail(*query.error);
        return nullptr;
    }
    return std::make_shared<HistoryPage>(HistoryPage{api,
                                                     x,
                                                     *id,
                                                     limit,
                                                     copied,
                                                     from,
                                                     from,
                                                     limit * item_bytes,
                                                     wire::History(*id),
                                                     false,
                                                     0,
                                                     {},
                                                     {}});
}

// An open call shows everything up to its newest pause.
bool is_known(Call const& call, Seq next) {
    if (call.phase != CallPhase::waiting) return false;
    Seq const opened =
        std::max(call.pause ? call.pause->opened : 0, call.question ? call.question->opened : 0);
    return opened < next;
}

bool is_known(HistoryPage const& page, State const& state, wire::MessageView const& message) {
    bool const queued =
        std::ranges::find(state.queue, message.seq, &QueuedInput::seq) != state.queue.end();
    if (message.turn == 0) return false;  // mail: belongs to the turn of the request that shows it
    if (!message.assistant) return message.shown != 0 || queued;
    return std::ranges::all_of(message.calls, [&](CallNo no) {
        if (page.history.calls().at(no).settled != 0) return true;
        auto const open = state.calls.find(no);
        return open != state.calls.end() && is_known(open->second, page.next);
    });
}

std::size_t copies(HistoryPage const& page) {
    std::size_t const all = json::View(page.history.forked_messages()).size();
    return all - std::min(all, page.copied);
}

std::vector<wire::MessageView const*> messages_of(HistoryPage const& page) {
    std::vector<wire::MessageView const*> out;
    for (auto const& [seq, message] : page.history.messages()) {
        if (!message.dropped) out.push_back(&message);
    }
    return out;
}

// A page that would take more of the journal ends before its last message.
bool is_cut(HistoryPage const& page) {
    return !page.at_end && page.read >= read_max && messages_of(page).size() > 1;
}

bool enough_messages(HistoryPage const& page, State const& state) {
    std::size_t const before = copies(page);
    if (before > page.limit || is_cut(page)) return true;
    auto const messages = messages_of(page);
    if (before + messages.size() <= page.limit) return false;
    auto const shown = messages.begin() + static_cast<std::ptrdiff_t>(page.limit - before);
    return std::all_of(messages.begin(), shown,
                       [&](auto const* message) { return is_known(page, state, *message); });
}

void answer_messages(HistoryPage const& page, State const& state) {
    json::Writer out;
    out.begin_object().key("items").begin_array();
    std::size_t count = 0, index = 0, bytes = 0;
    std::optional<std::string> next;
    json::View(page.history.forked_messages()).elements([&](json::View message) {
        if (index++ < page.copied) return;
        if (count == page.limit || bytes > list_bytes_max) {
            if (!next) next = "c" + std::to_string(index - 1);
            return;
        }
        ++count;
        bytes += message.raw().size();
        out.raw(message.raw());
    });
    auto const messages = messages_of(page);
    auto const* const unread = is_cut(page) ? messages.back() : nullptr;
    for (wire::MessageView const* message : messages) {
        if (next) break;
        if (message->turn == 0 && message != unread) continue;  // mail that no request has shown
        if (count++ == page.limit || bytes > list_bytes_max || message == unread) {
            next = std::to_string(message->seq);
            break;
        }
        auto const object = message_object(state, page.history, message->seq);
        bytes += object.size();
        out.raw(object);
    }
    out.end_array().member("next", next);
    page.x->json(200, out.end_object().take());
}

// Returns the turns whose beginning was read.
std::vector<wire::TurnView const*> turns_of(HistoryPage const& page) {
    std::vector<wire::TurnView const*> out;
    for (auto const& [no, turn] : page.history.turns()) {
        if (turn.input != 0) out.push_back(&turn);
    }
    return out;
}

// A failed turn may be retried, unless another has begun.
bool is_known(HistoryPage const& page, State const& state, wire::TurnView const& turn) {
    auto const of_turn = [&](QueuedInput const& input) { return input.turn == turn.no; };
    if (turn.dropped || std::ranges::any_of(state.queue, of_turn)) return true;
    if (!turn.ended || (state.turn && state.turn->no == turn.no)) return false;
    bool const later = std::ranges::any_of(page.history.turns(), [&](auto const& entry) {
        return entry.first > turn.no && entry.second.started;
    });
    return turn.finish != FinishReason::error || later;
}

bool enough_turns(HistoryPage const& page, State const& state) {
    auto const turns = turns_of(page);
    if (turns.size() <= page.limit) return false;
    auto const shown = turns.begin() + static_cast<std::ptrdiff_t>(page.limit);
    return std::all_of(turns.begin(), shown,
                       [&](auto const* turn) { return is_known(page, state, *turn); });
}

void answer_turns(HistoryPage const& page, State const& state) {
    json::Writer out;
    out.begin_object().key("items").begin_array();
    std::size_t count = 0;
    std::optional<std::string> next;
    for (wire::TurnView const* turn : turns_of(page)) {
        if (count++ == page.limit) {
            next = std::to_string(turn->input);
            break;
        }
        out.raw(turn_object(state, page.history, turn->no));
    }
    out.end_array().member("next", next);
    page.x->json(200, out.end_object().take());
}

}  // namespace

void list_messages(Api& api, ExchangePtr const& x) {
    auto const page = begin(api, x);
    if (!page) return;
    page->enough = enough_messages;
    page->answer = answer_messages;
    read_on(page);
}

void list_turns(Api& api, ExchangePtr const& x) {
    auto const page = begin(api, x);
    if (!page) return;
    page->enough = enough_turns;
    page->answer = answer_turns;
    read_on(page);
}

}  // namespace dormouse::http
