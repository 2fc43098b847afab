#pragma once
// Random scenarios of sessions, produced by session/testing/world.h, for tests of what is derived
// from journals.

#include "json/json.h"
#include "session/testing/world.h"
#include "wire/journal/history.h"

#include <array>
#include <random>
#include <vector>

namespace dormouse::wire::testing {

// A session after `steps` random steps. The same seed gives the same scenario.
[[nodiscard]] inline session::testing::Given story(std::uint32_t seed, int steps) {
    using session::testing::Deed;
    constexpr std::array deeds{Deed::prompt,  Deed::answer,  Deed::answer,  Deed::answer,
                               Deed::answer,  Deed::reply,   Deed::reply,   Deed::deliver,
                               Deed::deliver, Deed::deliver, Deed::trouble, Deed::late_outcome,
                               Deed::cancel,  Deed::time,    Deed::crash,   Deed::move,
                               Deed::worker,  Deed::task,    Deed::task};
    std::mt19937 chance(seed);
    session::testing::World world(seed % 12);
    for (int i = 0; i < steps; ++i) {
        Deed const deed = deeds[chance() % deeds.size()];
        auto const a = static_cast<std::uint32_t>(chance() % 64);
        auto const b = static_cast<std::uint32_t>(chance() % 64);
        world.step({deed, a, b});
    }
    return world.session;
}

[[nodiscard]] inline std::vector<RecordPtr> records_of(session::testing::Given const& session) {
    std::vector<RecordPtr> out;
    for (session::Event const& event : session.archive.log)
        out.push_back(record(session.id, event));
    return out;
}

[[nodiscard]] inline History history_of(session::testing::Given const& session) {
    History history(session.id);
    for (RecordPtr const& one : records_of(session)) history.add(*one);
    return history;
}

// The number of messages that lists show.
[[nodiscard]] inline std::size_t listed(History const& history) {
    auto count = json::View(history.forked_messages()).size();
    for (auto const& [seq, message] : history.messages()) {
        if (!message.dropped && message.turn != 0) ++count;
    }
    return count;
}

}  // namespace dormouse::wire::testing
