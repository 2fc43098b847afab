#pragma once
// The `data` of each event type, written and read. Members that have their usual value are left
// out. docs/reference/events.md lists them.

#include "json/json.h"
#include "session/event.h"

namespace dormouse::wire {

void write_event_data(json::Writer& out, SessionId const& session, session::Event const& event);

// nullopt: a type that this release does not know.
[[nodiscard]] std::optional<session::Event::Body> read_event_data(SessionId const& session, Seq seq,
                                                                  std::string_view type,
                                                                  json::View data);

void write_pause_terms(json::Writer& out,
                       session::PauseTerms const& terms);  // members, not the object
[[nodiscard]] session::PauseTerms read_pause_terms(json::View object);
void write_call_spec(json::Writer& out, session::CallSpec const& spec);  // members
[[nodiscard]] session::CallSpec read_call_spec(json::View object);
void write_submission(json::Writer& out,
                      session::Submission const& what);  // one of result, error, decision
[[nodiscard]] session::Submission read_submission(json::View object);
void write_receipt(json::Writer& out, session::Receipt const& receipt);  // members
[[nodiscard]] session::Receipt read_receipt(SessionId const& session, json::View object);
void write_usage(json::Writer& out, session::Usage const& usage);  // the object
[[nodiscard]] session::Usage read_usage(json::View object);
void write_turn_terms(json::Writer& out,
                      session::TurnTerms const& terms);  // members that differ from the default
[[nodiscard]] session::TurnTerms read_turn_terms(json::View object);

// Milliseconds; nothing when there is none.
void write_duration(json::Writer& out, std::string_view name,
                    std::optional<Duration> const& duration);
[[nodiscard]] std::optional<Duration> read_duration(json::View view);
[[nodiscard]] Sha256 read_digest(json::View text);  // "sha256:…"; zeros when absent

}  // namespace dormouse::wire
