#pragma once
// The keys of [limits].

#include "config/rows/rows.h"

namespace dormouse::config::rows {

inline constexpr Key limits_rows[] = {
    number<&Limits::submissions_per_token_per_s>(
        "submissions_per_token_per_s", {1, many},
        "Outcomes and progress submitted with one token, except from this machine; more get 429."),
    number<&Limits::submissions_per_call_per_s>("submissions_per_call_per_s", {1, many},
                                                "The same for one pending call."),
    number<&Limits::failed_auth_per_address_per_s>(
        "failed_auth_per_address_per_s", {1, many},
        "Requests without a valid token from one address; more get 429."),
    number<&Limits::connections>("connections", {1, many}, "Connections at once."),
    number<&Limits::connections_per_address>(
        "connections_per_address", {1, many},
        "Connections of one address (IPv6: one /64), except this machine and trusted proxies."),
    number<&Limits::buffer_bytes>("buffer_bytes", {16 * mib, 4'294'967'295},
                                  "Bytes of unfinished requests and unsent answers; a tenth "
                                  "without a valid token. More get 503."),
    number<&Limits::header_bytes>("header_bytes", {1'024, mib},
                                  "Bytes of a request's head; longer ones get 431."),
    duration<&Limits::header_time_limit>("header_time_limit", {100, hour},
                                         "Time limit to receive a request's head."),
    duration<&Limits::body_time_limit>("body_time_limit", {100, hour},
                                       "Time limit to receive a request's body."),
    duration<&Limits::idle_time_limit>("idle_time_limit", {100, day},
                                       "Idle time after which a connection is closed."),
    duration<&Limits::heartbeat>("heartbeat", {100, hour},
                                 "Interval of comments on a silent event stream."),
    number<&Limits::resident_sessions>(
        "resident_sessions", {1, many},
        "Sessions kept in memory; idle ones beyond it are released, busy ones are not."),
    number<&Limits::resident_bytes>(
        "resident_bytes", {mib, 4'000'000'000},
        "Approximate memory of idle sessions; beyond it the longest idle ones are released."),
    duration<&Limits::resident_time>("resident_time", {second, day},
                                     "Idle time after which a session leaves memory."),
    number<&Limits::validators_at_once>("validators_at_once", {1, 1'000},
                                        "Validators of results that run at once."),
    number<&Limits::validators_waiting>("validators_waiting", {0, 100'000},
                                        "Results that wait for their validator; more get 503."),
    number<&Limits::prompt_bytes>("prompt_bytes", {1'024, mib},
                                  "Bytes of a prompt's text; longer ones get 413."),
    number<&Limits::output_bytes>(
        "output_bytes", {1'024, mib},
        "Bytes of an output or a result in the journal; longer ones become artifacts."),
    number<&Limits::queued_prompts>("queued_prompts", {1, 100},
                                    "Prompts that wait for a session's open turn; more get 429."),
    number<&Limits::open_calls>("open_calls", {1, 10'000}, "Open tool calls of one session."),
    number<&Limits::waiting_calls>("waiting_calls", {1, 1'000'000},
                                   "Waiting calls of one project at which POST /api/pending is "
                                   "refused."),
    number<&Limits::calls_per_reply>("calls_per_reply", {1, 1'000}, "Tool calls of one reply."),
    number<&Limits::progress_per_s>("progress_per_s", {1, 10},
                                    "Progress reports of one call each second."),
    number<&Limits::progress_per_call>("progress_per_call", {1, 10'000},
                                       "Total progress reports of one call."),
};

}  // namespace dormouse::config::rows
