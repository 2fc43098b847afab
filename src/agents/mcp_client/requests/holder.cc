#include "mcp_client/requests/holder.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace dormouse::mcp_client {
namespace {

constexpr std::string_view holder_name = "holder";

}  // namespace

session::PauseTerms held_by(Epoch holder, session::PauseTerms pause) {
    if (holder == 0) return pause;
    json::Writer state;
    state.begin_object();
    json::View(pause.state).members([&](std::string_view key, json::View member) {
        state.member_raw(key, member.raw());
    });
    pause.state = state.member(holder_name, holder).end_object().json();
    return pause;
}

Epoch holder_in(Json const& state) {
    return static_cast<Epoch>(
        std::max<std::int64_t>(json::View(state)[holder_name].integer_or(0), 0));
}

}  // namespace dormouse::mcp_client
