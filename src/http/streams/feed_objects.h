#pragma once
// Appends of a feed with the current object of each event.

#include "port/store.h"
#include "port/world.h"
#include "runner/runner.h"

#include <string>
#include <vector>

namespace dormouse::http {

// Writes the events of each row as Event objects with the member `object`, which is null for a
// deleted session. Reads the history of each named session, one after the other. `loop` and
// `runner` outlive it. Errors: internal (damage), and those of reads.
using RowsOfEvents = std::vector<std::vector<std::string>>;
void feed_objects(port::Loop& loop, runner::Runner& runner, std::vector<port::FeedRow> rows,
                  port::Fn<void(Result<RowsOfEvents>)> done);

}  // namespace dormouse::http
