#include "telemetry/tracer.h"

#include <algorithm>
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

Seq input_of(State const& state, TurnNo turn) {
    if (state.turn && state.turn->no == turn) return state.turn->input;
    return state.last_turn && state.last_turn->no == turn ? state.last_turn->input : 0;
}

}  // namespace

void Tracer::appended(State const& state, Records const& records) {
    TurnNo const turn = turn_of(records);
    if (turn == 0 || waits(state, records) || continues(state, records)) return;
    SessionFacts facts = facts_of(state);
    if (begins(records)) return follow(state.id, TurnSpans(options_, std::move(facts)), records);
    if (is_sampled(facts, turn)) read(state, std::move(facts), turn, records);
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

void Tracer::read(State const& state, SessionFacts facts, TurnNo turn, Records const& records) {
    SessionId const session = state.id;
    Seq const from = std::max<Seq>(input_of(state, turn), 1);
    Seq const to = records.front()->event.seq - 1;
    if (reading_.size() >= reading_max) return exporter_.lost(1);
    reading_.emplace(session, Reading{std::move(facts), turn, records});
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
    Records const& behind = reading.behind;
    Seq const first = behind.front()->event.seq;
    TurnSpans spans(options_, reading.facts);
    SpanSink const earlier = [](Span const&) {};  // another append has given them
    if (got)
        for (wire::RecordPtr const& record : *got)
            if (record->event.seq < first) spans.apply(record->event, earlier);
    bool const whole = got && !got->empty() && got->back()->event.seq + 1 >= first;
    // A turn too long to be read: its spans begin here.
    if (!whole || !spans.open()) {
        spans = TurnSpans(options_, reading.facts);
        spans.join(reading.turn, behind.front()->event);
    }
    follow(session, std::move(spans), behind);
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
