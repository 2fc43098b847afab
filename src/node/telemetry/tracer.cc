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
    if (turn == 0 || records.empty()) return;
    SessionId const session = state.id;
    SessionFacts facts = facts_of(state);
    if (auto const reading = reading_.find(session); reading != reading_.end()) {
        auto& behind = reading->second.behind;
        if (behind.size() >= behind_max) return exporter_.lost(1);
        behind.insert(behind.end(), records.begin(), records.end());
        reading->second.facts = std::move(facts);
        return;
    }
    Seq const first = records.front()->event.seq;
    if (auto const known = known_.find(session); known != known_.end()) {
        TurnSpans spans = std::move(known->second.spans);
        bool const next = known->second.head + 1 == first;
        forget(session);
        spans.learn(facts);
        if (next) return follow(session, std::move(spans), records);
    }
    if (!is_sampled(facts, turn)) return;
    if (begins(records)) return follow(session, TurnSpans(options_, std::move(facts)), records);
    read(state, std::move(facts), records);
}

void Tracer::ended(Delivery const& delivery) {
    if (auto const span = span_of(delivery)) exporter_.add(*span);
}

bool Tracer::is_sampled(SessionFacts const& facts, TurnNo turn) const {
    auto const received = facts.received.find(turn);
    return trace_of_turn(options_.rules, facts.session, turn,
                         received == facts.received.end() ? "" : received->second.parent)
        .sampled;
}

void Tracer::read(State const& state, SessionFacts facts, Records const& records) {
    SessionId const session = state.id;
    TurnNo const turn = turn_of(records);
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
    std::vector<Span> earlier;  // another append has given them
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

void Tracer::follow(SessionId session, TurnSpans spans, Records const& records) {
    apply(spans, records);
    if (spans.open()) keep(session, std::move(spans), records.back()->event.seq);
}

void Tracer::apply(TurnSpans& spans, Records const& records) {
    std::vector<Span> out;
    for (wire::RecordPtr const& record : records) spans.apply(record->event, out);
    for (Span const& span : out) exporter_.add(span);
}

void Tracer::keep(SessionId session, TurnSpans spans, Seq head) {
    order_.push_back(session);
    known_.insert_or_assign(session, Known{std::move(spans), head, std::prev(order_.end())});
    if (known_.size() > known_max) forget(order_.front());
}

void Tracer::forget(SessionId session) {
    auto const known = known_.find(session);
    if (known == known_.end()) return;
    order_.erase(known->second.place);
    known_.erase(known);
}

}  // namespace dormouse::telemetry
