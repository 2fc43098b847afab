#pragma once
// The services that notify people: `kind` of a [[notify]].

#include <cstdint>

namespace dormouse {

enum class NotifyKind : std::uint8_t {
    slack,
    webhook,
    command,
    slack_bot,
    discord,
    telegram,
    teams,
    ntfy,
    email,
    web_push
};

}  // namespace dormouse
