#pragma once
// The receivers of notifications, as configured: one value for each receiver of a [[notify]].

#include "base/notify_kind.h"
#include "session/vocabulary.h"

#include <string>
#include <vector>

namespace dormouse::webhook {

struct Notice {
    NotifyKind kind = NotifyKind::slack;
    // Names it in rows: "notify:SLACK_URL". Its address is a secret and is not stored.
    std::string target;
    std::string url = {};                   // slack, webhook, discord, teams, ntfy
    std::string token = {};                 // slack_bot, telegram, ntfy; empty: none
    std::string api_url = {};               // slack_bot, telegram: the start of the service's URLs
    std::string channel = {};               // slack_bot, telegram
    bool buttons = false;                   // slack_bot: presses can be verified
    std::vector<std::string> command = {};  // the program and its arguments
    std::vector<std::string> on = {};
    std::vector<session::PauseReason> reasons = {};
    // email, and a device of web_push: the person's name, the projects whose calls concern them
    // (empty: all), and the roles under which they may answer ("role:answer").
    std::string person = {};
    std::vector<std::string> projects = {};
    std::vector<std::string> roles = {};
    std::vector<std::string> to = {};  // web_push: names of people; empty: all
};

}  // namespace dormouse::webhook
