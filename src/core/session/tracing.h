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

// The value of a traceparent header; nullopt: it is malformed, and is to be ignored. A later
// version is read as far as version 00 goes.
[[nodiscard]] std::optional<TraceContext> parse_traceparent(std::string_view value);
// "00-<trace>-<span>-01"
[[nodiscard]] std::string text(TraceContext const& context);

// What is traced.
struct TraceRules {
    static constexpr std::uint32_t all = 1'000'000;
    bool on = false;  // false: a received context is passed on unchanged
    // Of a million turns without a received context; a received one says itself whether it is
    // sampled.
    std::uint32_t sampled = all;
    friend bool operator==(TraceRules const&, TraceRules const&) = default;
};

// The context of a turn whose input came with `received` (InputReceived::trace; may be empty).
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
// Of the n-th message that an event sends.
[[nodiscard]] SpanId delivery_span(SessionId const& from, Seq event, std::uint32_t n,
                                   std::uint32_t attempt);

// The traceparent for the model or tool that the effect asks; empty: none.
[[nodiscard]] std::string traceparent_of(TraceRules const& rules, SessionId const& session,
                                         AskModel const& ask);
[[nodiscard]] std::string traceparent_of(TraceRules const& rules, RunTool const& run);

}  // namespace dormouse::session
