#pragma once
// What is observed of agents that are programs, as JSON: in events and in snapshots.

#include "json/json.h"
#include "session/program.h"

namespace dormouse::wire {

void write_news(json::Writer& out, session::News const& what);  // members
[[nodiscard]] session::News read_news(json::View object);
// Nothing when it is the usual one.
void write_program_turn(json::Writer& out, session::ProgramTurn const& turn);
[[nodiscard]] session::ProgramTurn read_program_turn(json::View object);

}  // namespace dormouse::wire
