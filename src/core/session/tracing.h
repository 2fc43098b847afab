#pragma once
// Trace contexts (W3C Trace Context, version 00) and the ids of spans. All ids follow from the
// journal: a process that wakes a session, after a restart or on another machine, continues the
// trace, and nothing is stored for it. Pure.

#include "session/effect.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace dormouse::session {

using TraceId = Bits128;
using SpanId = std::array<std::uint8_t, 8>;

struct TraceContext {
    TraceId trace{};
    SpanId span{};  // of the sender; all zero in a turn that began without one
    bool sampled = false;
    friend bool operator==(TraceContext const&, TraceContext const&) = default;
};

// Parses a traceparent header; nullopt: it is malformed and must be ignored. In headers of later
// versions, it reads only the fields of version 00.
[[nodiscard]] std::optional<TraceContext> parse_traceparent(std::string_view value);
// "00-<trace>-<span>-01"
[[nodiscard]] std::string text(TraceContext const& context);

// Limits of a tracestate header (W3C Trace Context, level 1).
inline constexpr std::size_t tracestate_bytes_max = 512;
inline constexpr std::size_t tracestate_members_max = 32;
// Returns the members of the header without surrounding spaces and without empty members; empty:
// the header is malformed or too long, and must be ignored.
[[nodiscard]] std::string checked_tracestate(std::string_view value);
// Checks the trace headers of a request. `state` counts only with a valid `parent`.
[[nodiscard]] TraceHeaders read_trace(std::string_view parent, std::string_view state);

// Whether turns are traced, and which of them are sampled.
struct TraceRules {
    static constexpr std::uint32_t all = 1'000'000;
    bool on = false;  // false: a received context is passed on unchanged
    // The share of turns that are sampled, in millionths. A turn with a received context follows
    // the flag of that context.
    std::uint32_t sampled = all;
    friend bool operator==(TraceRules const&, TraceRules const&) = default;
};

// The context of a turn whose input came with `received` (TraceHeaders::parent; may be empty).
[[nodiscard]] TraceContext trace_of_turn(TraceRules const& rules, SessionId const& session,
                                         TurnNo turn, std::string_view received);

// The spans of a session. A turn has one until its first pause, and one more from each event that
// resumes it (`since`).
[[nodiscard]] SpanId turn_span(SessionId const& session, TurnNo turn);
[[nodiscard]] SpanId resumed_span(SessionId const& session, TurnNo turn, Seq since);
[[nodiscard]] SpanId model_span(SessionId const& session, TurnNo turn, std::uint32_t step,
                                std::uint32_t attempt);
[[nodiscard]] SpanId tool_span(SessionId const& session, CallNo call, Generation generation,
                               std::uint32_t attempt);
// Returns the span of the n-th message that an event sends.
[[nodiscard]] SpanId delivery_span(SessionId const& from, Seq event, std::uint32_t n,
                                   std::uint32_t attempt);

// Returns the span of the event that sends mail, or begins a run of a task.
[[nodiscard]] SpanId sent_span(SessionId const& from, Seq event);

// Returns the headers that the turn passes on, with `span` as the parent. With the rules off, these
// are the headers that it received.
[[nodiscard]] TraceHeaders passed_on(TraceRules const& rules, SessionId const& session, TurnNo turn,
                                     TraceHeaders const& received, SpanId const& span);
// The same for the model, tool or gate that the effect asks. A gate has no span of its own: it gets
// the turn's first one.
[[nodiscard]] TraceHeaders passed_on(TraceRules const& rules, SessionId const& session,
                                     AskModel const& ask);
[[nodiscard]] TraceHeaders passed_on(TraceRules const& rules, RunTool const& run);
[[nodiscard]] TraceHeaders passed_on(TraceRules const& rules, SessionId const& session,
                                     AskGate const& ask);

}  // namespace dormouse::session
