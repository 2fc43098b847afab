#include "telemetry/tracer.h"

#include <algorithm>
#include <span>
#include <utility>

namespace dormouse::telemetry {

using namespace dormouse::session;

namespace {

// The turn that the records belong to: open before them, or begun by them. 0: none.
TurnNo turn_of(Tracer::Records const& records) {
    for (wire::RecordPtr const& record : records) {
        if (record->event.turn != 0) return record->event.turn;
        if (auto const* const e = std::get_if<TurnStarted>(&record->event.body)) return e->turn;
    }
    return 0;
}

// Returns true if no turn was open before these records.
bool begins(Tracer::Records const& records) {
    for (wire::RecordPtr const& record : records) {
        if (std::holds_alternative<TurnStarted>(record->event.body)) return true;
        if (record->event.turn != 0) return false;
    }
    return true;
}

Seq seq_of(wire::RecordPtr const& record) { return record->event.seq; }

Seq input_of(State const& state, TurnNo turn) {
    if (state.turn && state.turn->no == turn) return state.turn->input;
    return state.last_turn && state.last_turn->no == turn ? state.last_turn->input : 0;
}

}  // namespace

void Tracer::appended(State const& state, Records const& records, Records const& recent) {
    TurnNo const turn = turn_of(records);
    if (turn == 0 || waits(state, records) || continues(state, records)) return;
    if (begins(records)) return follow(state.id, TurnSpans(options_, facts_of(state)), records);
    take_up(state, turn, records, recent);
}

// A turn whose earlier events this does not know.
void Tracer::take_up(State const& state, TurnNo turn, Records const& records,
                     Records const& recent) {
    Reading reading{facts_of(state), turn, records};
    if (!is_sampled(reading.facts, turn)) return;
    Seq const from = std::max<Seq>(input_of(state, turn), 1);
    bool const known = !recent.empty() && recent.front()->event.seq <= from;
    if (!known) return read(state.id, from, std::move(reading));
    auto const input = std::ranges::lower_bound(recent, from, {}, seq_of);
    join(state.id, reading, std::span(input, recent.end()));
}

// Returns true if the earlier records of the session are being read.
bool Tracer::waits(State const& state, Records const& records) {
    if (reading_.empty()) return false;
    auto const reading = reading_.find(state.id);
    if (reading == reading_.end()) return false;
    auto& behind = reading->second.behind;
    if (behind.size() >= behind_max) {
        exporter_.lost(1);
        return true;
    }
    behind.insert(behind.end(), records.begin(), records.end());
    reading->second.facts = facts_of(state);
    return true;
}

bool Tracer::continues(State const& state, Records const& records) {
    auto const found = known_.find(state.id);
    if (found == known_.end()) return false;
    Known& known = found->second;
    bool const next = known.head + 1 == records.front()->event.seq;
    if (next) {
        known.spans.learn(state);
        apply(known.spans, records);
        known.head = records.back()->event.seq;
    }
    if (next && known.spans.open())
        order_.splice(order_.end(), order_, known.place);
    else
        forget(found);
    return next;
}

void Tracer::ended(Delivery const& delivery) { give_span(delivery, sink_); }

bool Tracer::is_sampled(SessionFacts const& facts, TurnNo turn) const {
    auto const received = facts.received.find(turn);
    return trace_of_turn(options_.rules, facts.session, turn,
                         received == facts.received.end() ? "" : received->second.parent)
        .sampled;
}

void Tracer::read(SessionId session, Seq from, Reading reading) {
    Seq const to = reading.behind.front()->event.seq - 1;
    if (reading_.size() >= reading_max) return exporter_.lost(1);
    reading_.emplace(session, std::move(reading));
    port::ask(
        journal_,
        [session, from, to](port::Store& store) {
            return runner::read_some_records(store, session, from, to, read_bytes);
        },
        scope_.guard([this, session](Result<Records> const& got) { was_read(session, got); }));
}

void Tracer::was_read(SessionId session, Result<Records> const& got) {
    Reading const reading = std::move(reading_.at(session));
    reading_.erase(session);
    join(session, reading, got ? std::span(*got) : std::span<wire::RecordPtr const>());
}

void Tracer::join(SessionId const& session, Reading const& reading,
                  std::span<wire::RecordPtr const> earlier) {
    Seq const first = reading.behind.front()->event.seq;
    TurnSpans spans(options_, reading.facts);
    SpanSink const given = [](Span const&) {};  // another append has given them
    for (wire::RecordPtr const& record : earlier)
        if (record->event.seq < first) spans.apply(record->event, given);
    bool const whole = !earlier.empty() && earlier.back()->event.seq + 1 >= first;
    // A turn too long to be read: its spans begin here.
    if (!whole || !spans.open()) {
        spans = TurnSpans(options_, reading.facts);
        spans.join(reading.turn, reading.behind.front()->event);
    }
    follow(session, std::move(spans), reading.behind);
}

void Tracer::follow(SessionId const& session, TurnSpans spans, Records const& records) {
    apply(spans, records);
    if (spans.open() && spans.sampled()) keep(session, std::move(spans), records.back()->event.seq);
}

void Tracer::apply(TurnSpans& spans, Records const& records) {
    for (wire::RecordPtr const& record : records) spans.apply(record->event, sink_);
}

void Tracer::keep(SessionId const& session, TurnSpans spans, Seq head) {
    order_.push_back(session);
    known_.insert_or_assign(session, Known{std::move(spans), head, std::prev(order_.end())});
    if (known_.size() > known_max) forget(known_.find(order_.front()));
}

void Tracer::forget(Place known) {
    order_.erase(known->second.place);
    known_.erase(known);
}

}  // namespace dormouse::telemetry
