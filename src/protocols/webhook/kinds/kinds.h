#pragma once
// The services that notifications go to: how each wants a message, and what its answers mean. A
// service is one row of the table in kinds.cc and one file beside it. Pure.

#include "json/json.h"
#include "port/http.h"
#include "webhook/notice.h"
#include "webhook/notification.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::webhook {

// A request to a service. Its URL and headers hold secrets.
struct ServiceRequest {
    std::string method = "POST";
    std::string url;
    std::vector<port::HttpHeader> headers = {};
    std::string body;
};

// The meaning of an answer. `why` holds nothing secret.
struct ServiceReply {
    bool taken = false;
    std::string reference = {};  // names the message, so that it can be changed; empty: it cannot
    std::string why = {};        // not taken: for operators
    bool permanent = false;      // the same message will never be taken
    bool gone = false;           // the receiver does not exist any more
    std::optional<Duration> retry_after = {};
};

struct ServiceAnswer {
    int status = 0;
    std::string_view body;  // at most 64 KiB
    json::View json = {};   // the body, if it is JSON
    bool is_json = false;
    bool is_change = false;  // it answers the change of a message
};

struct Service {
    // `reference` names the message to change; empty: a new message. Null: see web_push.h.
    ServiceRequest (*request)(Notice const& notice, Notification const& it,
                              std::string const& reference);
    // Called for every status; what it does not know it leaves to the status.
    ServiceReply (*reply)(ServiceAnswer const& answer);
};

// nullptr: the kind gets the notification's JSON as it is.
[[nodiscard]] Service const* service_of(Notice const& notice);
// Returns true if messages of this receiver can be changed when their call is decided.
[[nodiscard]] bool can_change(Notice const& notice);
[[nodiscard]] ServiceReply read_reply(Service const& service, int status, std::string_view body,
                                      bool is_change);

// Shared by the files of the services.

// Taken if the status is 2xx; permanent if the message itself is refused (400, 413).
[[nodiscard]] ServiceReply by_status(int status);
// Adds the service's own words to the reason, if they are a short line of plain text.
[[nodiscard]] ServiceReply with_reason(ServiceReply reply, std::string const& words);
[[nodiscard]] std::optional<Duration> seconds(json::View value);

extern Service const slack_service;
extern Service const slack_bot_service;
extern Service const discord_service;
extern Service const telegram_service;
extern Service const teams_service;
extern Service const ntfy_service;
extern Service const web_push_service;

}  // namespace dormouse::webhook
