#pragma once
// Appends of a feed with what each event is about, as it stands now.

#include "port/store.h"
#include "port/world.h"
#include "runner/runner.h"

#include <string>
#include <vector>

namespace dormouse::server {

// For each row its events as Event objects with the member `object`; of a session that is deleted
// by now it is null. Reads the history of each session that is named, one after the other. `loop`
// and `runner` outlive it. Errors: internal (damage), and those of reading.
using RowsOfEvents = std::vector<std::vector<std::string>>;
void feed_objects(port::Loop& loop, runner::Runner& runner, std::vector<port::FeedRow> rows,
                  std::string project, port::Fn<void(Result<RowsOfEvents>)> done);

}  // namespace dormouse::server
