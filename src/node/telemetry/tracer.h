#pragma once
// Gives the spans of this process's appends to an exporter. It knows the turns that it has seen
// from their beginning. The earlier events of others (of sessions that slept, or that another
// process worked on) are among the newest records of the session's lane, or else are read from the
// journal. On the loop.

#include "base/scope.h"
#include "runner/read/reading.h"
#include "telemetry/exporter.h"
#include "telemetry/turn_spans.h"

#include <list>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dormouse::telemetry {

class Tracer {
public:
    using Records = std::vector<wire::RecordPtr>;

    // Everything outlives this.
    Tracer(port::Journal& journal, Exporter& exporter, SpanOptions options)
        : journal_(journal),
          exporter_(exporter),
          options_(std::move(options)),
          sink_([this](Span const& span) { exporter_.add(span); }) {}
    ~Tracer() = default;
    Tracer(Tracer const&) = delete;
    Tracer& operator=(Tracer const&) = delete;

    // `records` became durable; `state` is the state after them. `recent`: the newest records of
    // the session, oldest first and without gaps, as many as are in memory.
    void appended(session::State const& state, Records const& records, Records const& recent);
    void ended(Delivery const& delivery);

    static constexpr std::size_t known_max = 4'096;   // turns in memory
    static constexpr std::size_t reading_max = 64;    // sessions at once
    static constexpr std::size_t behind_max = 1'000;  // records that wait for one read
    static constexpr std::size_t read_bytes = std::size_t{4} << 20U;

private:
    struct Known {
        TurnSpans spans;
        Seq head = 0;
        std::list<SessionId>::iterator place;
    };
    struct Reading {
        SessionFacts facts;
        TurnNo turn = 0;
        Records behind;
    };

    using Place = std::unordered_map<SessionId, Known>::iterator;

    [[nodiscard]] bool is_sampled(SessionFacts const& facts, TurnNo turn) const;
    // Returns false if records are missing between what is known and these.
    [[nodiscard]] bool continues(session::State const& state, Records const& records);
    [[nodiscard]] bool waits(session::State const& state, Records const& records);
    void take_up(session::State const& state, TurnNo turn, Records const& records,
                 Records const& recent);
    void read(SessionId session, Seq from, Reading reading);
    void was_read(SessionId session, Result<Records> const& records);
    // `earlier`: from the input of the turn on, if they are known.
    void join(SessionId const& session, Reading const& reading,
              std::span<wire::RecordPtr const> earlier);
    void follow(SessionId const& session, TurnSpans spans, Records const& records);
    void apply(TurnSpans& spans, Records const& records);
    void keep(SessionId const& session, TurnSpans spans, Seq head);
    void forget(Place known);

    port::Journal& journal_;
    Exporter& exporter_;
    SpanOptions const options_;
    SpanSink const sink_;  // the exporter
    std::unordered_map<SessionId, Known> known_;
    std::list<SessionId> order_;  // of `known_`, longest unused first
    std::map<SessionId, Reading> reading_;
    Scope scope_;
};

}  // namespace dormouse::telemetry
