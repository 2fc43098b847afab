#include "wire/view/view_window.h"

#include <algorithm>
#include <limits>

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

// The largest number of messages that an event adds to a view: a prompt may be dropped, mail may
// never be read.
struct MessagesIn {
    Seq seq;

    std::uint64_t operator()(InputReceived const&) const { return 1; }
    std::uint64_t operator()(ModelReplied const&) const { return 1; }
    std::uint64_t operator()(Forked const& e) const { return e.message_count; }
    std::uint64_t operator()(MailReceived const&) const { return 1; }
    std::uint64_t operator()(MailBounced const&) const { return 1; }
    std::uint64_t operator()(AgentUpdate const& e) const { return e.message == seq ? 1 : 0; }
    std::uint64_t operator()(AgentAsked const& e) const { return e.message == seq ? 1 : 0; }
    template <class Other> std::uint64_t operator()(Other const&) const { return 0; }
};

// The call that an event may settle; 0: none.
struct Settles {
    CallNo operator()(ToolFinished const& e) const { return e.call; }
    CallNo operator()(GateDecided const& e) const { return e.allowed ? 0 : e.call; }
    CallNo operator()(Submitted const& e) const { return e.receipt.pending.call; }
    CallNo operator()(Expired const& e) const { return e.receipt.pending.call; }
    CallNo operator()(Cancelled const& e) const { return e.call; }
    template <class Other> CallNo operator()(Other const&) const { return 0; }
};

// The first call that an event creates; 0: none.
struct Makes {
    CallNo operator()(ModelReplied const& e) const { return e.calls.empty() ? 0 : e.first_call; }
    CallNo operator()(AgentAsked const& e) const { return e.pending.call; }
    CallNo operator()(BudgetReached const& e) const { return e.pending.call; }
    template <class Other> CallNo operator()(Other const&) const { return 0; }
};

// The message of an external agent that an event continues; 0: none.
struct GoesOn {
    Seq operator()(AgentUpdate const& e) const { return e.message; }
    Seq operator()(AgentAsked const& e) const { return e.message; }
    template <class Other> Seq operator()(Other const&) const { return 0; }
};

// No turn or no request is open before the event, and earlier events come before its reply.
bool may_begin(Event const& event) {
    if (auto const* const started = std::get_if<TurnStarted>(&event.body)) return !started->again;
    auto const* const asked = std::get_if<ModelRequested>(&event.body);
    return asked && asked->view_seq + 1 == event.seq;
}

// A place where a view may begin: nothing before it is still open.
struct ViewStart {
    std::size_t at = 0;      // index of its first record
    Seq seq = 0;             // seq of that record
    std::uint64_t most = 0;  // upper bound of the messages of a view from here
};

// Returns all places, oldest first.
std::vector<ViewStart> places_in(JournalEnd const& end, std::span<RecordPtr const> records) {
    constexpr Seq none = std::numeric_limits<Seq>::max();
    std::vector<ViewStart> out;
    std::uint64_t most = 0;
    CallNo made = end.calls + 1;  // the first call created at or after this place
    CallNo settled = end.open.value_or(made);
    Seq continued = none;
    for (std::size_t i = records.size(); i-- > 0;) {
        Event const& event = records[i]->event;
        most += std::visit(MessagesIn{event.seq}, event.body);
        if (CallNo const call = std::visit(Settles{}, event.body); call != 0) {
            settled = std::min(settled, call);
            ++most;
        }
        if (CallNo const call = std::visit(Makes{}, event.body); call != 0) made = call;
        if (Seq const seq = std::visit(GoesOn{}, event.body); seq != 0)
            continued = std::min(continued, seq);
        bool const clean = settled >= made && continued >= event.seq;
        if (clean && may_begin(event)) out.push_back({i, event.seq, most});
    }
    std::ranges::reverse(out);
    return out;
}

// The first place after each multiple of `apart` within the records, whose first seq is `first`. A
// multiple before `first` is skipped: its place may precede the records.
std::vector<ViewStart> choose(std::vector<ViewStart> const& places, Seq first, Seq apart) {
    std::vector<ViewStart> out;
    Seq next = (first / apart + 1) * apart;
    for (ViewStart const& place : places) {
        if (place.seq < next) continue;
        out.push_back(place);
        next = (place.seq / apart + 1) * apart;
    }
    return out;
}

// Inputs that were queued before the place and are shown after it.
std::vector<Seq> inputs_before(std::span<RecordPtr const> records, std::size_t at) {
    std::vector<Seq> out;
    Seq const first = records[at]->event.seq;
    for (RecordPtr const& record : records.subspan(at)) {
        auto const* const started = std::get_if<TurnStarted>(&record->event.body);
        bool const queued = started && !started->again && started->cause != InputSource::mail;
        if (queued && started->input < first) out.push_back(started->input);
    }
    return out;
}

class Window {
public:
    Window(JournalEnd const& end, std::span<RecordPtr const> records, ReadInput const& input)
        : end_(end), records_(records), input_(input) {}

    [[nodiscard]] std::vector<ViewStart> places(Seq apart) const {
        if (records_.empty()) return {};
        auto out = choose(places_in(end_, records_), records_.front()->event.seq, apart);
        for (ViewStart& place : out) place.most += inputs_before(records_, place.at).size();
        return out;
    }

    Result<ModelView> view_from(std::size_t at, Seq view_seq) const {
        History history(end_.session);
        for (Seq const seq : inputs_before(records_, at)) {
            auto record = find(seq);
            if (!record) return std::unexpected(std::move(record.error()));
            history.add(**record);
        }
        for (RecordPtr const& record : records_.subspan(at)) history.add(*record);
        return whole_view(history, view_seq);
    }

private:
    [[nodiscard]] Result<RecordPtr> find(Seq seq) const {
        Seq const first = records_.front()->event.seq;
        if (seq < first) return input_(seq);
        return records_[static_cast<std::size_t>(seq - first)];
    }

    JournalEnd const& end_;
    std::span<RecordPtr const> records_;
    ReadInput const& input_;
};

}  // namespace

JournalEnd journal_end(State const& state) {
    JournalEnd out{state.id, state.head, state.base.through, state.calls_ever};
    if (!state.calls.empty()) out.open = state.calls.begin()->first;
    return out;
}

Result<std::optional<ModelView>> view_of_newest(JournalEnd const& end,
                                                std::span<RecordPtr const> newest, Seq view_seq,
                                                ReadInput const& input, WindowRule const& rule) {
    Window const window(end, newest, input);
    auto const places = window.places(rule.apart);
    for (auto place = places.rbegin(); place != places.rend(); ++place) {
        if (place->most < rule.messages_min) continue;
        auto view = window.view_from(place->at, view_seq);
        if (!view) return std::unexpected(std::move(view.error()));
        if (view->messages.size() < rule.messages_min) continue;
        forget_oldest(*view);
        return view;
    }
    return std::nullopt;
}

History history_of(SessionId session, std::span<RecordPtr const> records) {
    History out(session);
    for (RecordPtr const& record : records) out.add(*record);
    return out;
}

}  // namespace dormouse::wire
