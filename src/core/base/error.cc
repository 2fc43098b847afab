#include <dormouse/error.h>

#include "base/check.h"

#include <array>

namespace dormouse::inline v0 {

namespace {

// `next` of a code: `fix` if the caller can change the request, `retry` if the same request may
// succeed later, `stop` if the answer is final. A completed session answers wrong_state; a problem
// may then say `reopen` if that helps.
// Exit status: 1 failed, 2 the request was wrong, 3 not found, 4 conflict, 5 expired or cancelled,
// 6 not allowed, 8 refused for now, 9 written by a newer release.
constexpr std::array table{
    CodeInfo{Code::bad_json, "bad_json", Next::fix, 400, 2, "The text is not a JSON value"},
    CodeInfo{Code::unknown_field, "unknown_field", Next::fix, 400, 2,
             "The request has a field that does not exist"},
    CodeInfo{Code::bad_value, "bad_value", Next::fix, 400, 2,
             "A field or parameter has a value that is not allowed"},
    CodeInfo{Code::bad_cursor, "bad_cursor", Next::fix, 400, 2,
             "The cursor does not belong to this list"},
    CodeInfo{Code::project_required, "project_required", Next::fix, 400, 2,
             "The token serves several projects and the request names none"},
    CodeInfo{Code::unauthenticated, "unauthenticated", Next::fix, 401, 6,
             "The request has no valid token"},
    CodeInfo{Code::bad_signature, "bad_signature", Next::fix, 401, 6,
             "The signature does not match the body"},
    CodeInfo{Code::stale_signature, "stale_signature", Next::fix, 401, 6,
             "The signature's time is too far from now"},
    CodeInfo{Code::forbidden, "forbidden", Next::fix, 403, 6, "The token does not allow this"},
    CodeInfo{Code::origin_refused, "origin_refused", Next::fix, 403, 6,
             "Requests from this origin are not allowed"},
    CodeInfo{Code::not_an_answerer, "not_an_answerer", Next::stop, 403, 6,
             "This call must be answered by someone else"},
    CodeInfo{Code::not_found, "not_found", Next::fix, 404, 3, "This id or path was not found"},
    CodeInfo{Code::method_not_allowed, "method_not_allowed", Next::fix, 405, 2,
             "This path does not allow this method"},
    CodeInfo{Code::request_timeout, "request_timeout", Next::retry, 408, 8,
             "The request took too long to arrive"},
    CodeInfo{Code::conflict, "conflict", Next::stop, 409, 4,
             "Another outcome already settled this call"},
    CodeInfo{Code::cancelled, "cancelled", Next::stop, 409, 5, "The call was cancelled"},
    CodeInfo{Code::wrong_state, "wrong_state", Next::stop, 409, 4,
             "The session cannot do this in its present state"},
    CodeInfo{Code::session_busy, "session_busy", Next::retry, 409, 8,
             "The session is in the middle of a turn"},
    CodeInfo{Code::input_changed, "input_changed", Next::fix, 409, 4,
             "The arguments have changed since they were shown"},
    CodeInfo{Code::alias_taken, "alias_taken", Next::fix, 409, 4,
             "Another session holds this alias"},
    CodeInfo{Code::ambiguous, "ambiguous", Next::fix, 409, 4,
             "Several calls wait for a message and the request names none"},
    CodeInfo{Code::ambiguous_reference, "ambiguous_reference", Next::fix, 409, 4,
             "Several calls have this external reference"},
    CodeInfo{Code::delivery_reused, "delivery_reused", Next::stop, 409, 4,
             "This delivery id was used before with another body"},
    CodeInfo{Code::claimed, "claimed", Next::retry, 409, 8, "Another worker has claimed this call"},
    CodeInfo{Code::reentry_gone, "reentry_gone", Next::retry, 409, 8,
             "The tool or gate that would continue is not configured"},
    CodeInfo{Code::not_ready, "not_ready", Next::retry, 409, 8,
             "The call does not accept this outcome yet"},
    CodeInfo{Code::task_not_completed, "task_not_completed", Next::retry, 409, 8,
             "The task has not completed"},
    CodeInfo{Code::task_resuming, "task_resuming", Next::retry, 409, 8,
             "The task is already being resumed"},
    CodeInfo{Code::expired, "expired", Next::stop, 410, 5, "The call's deadline has passed"},
    CodeInfo{Code::task_session_gone, "task_session_gone", Next::stop, 410, 3,
             "The task's session was deleted"},
    CodeInfo{Code::session_gone, "session_gone", Next::stop, 410, 3, "The session was deleted"},
    CodeInfo{Code::history_gone, "history_gone", Next::fix, 410, 3,
             "This part of the history was removed by retention"},
    CodeInfo{Code::precondition_failed, "precondition_failed", Next::fix, 412, 4,
             "The session has changed since the state that the request names"},
    CodeInfo{Code::too_large, "too_large", Next::fix, 413, 2,
             "The request is larger than a limit allows"},
    CodeInfo{Code::unsupported_media_type, "unsupported_media_type", Next::fix, 415, 2,
             "The body must be JSON, with its media type in Content-Type"},
    CodeInfo{Code::wrong_host, "wrong_host", Next::fix, 421, 2,
             "The server does not answer for this host name"},
    CodeInfo{Code::headers_too_large, "headers_too_large", Next::fix, 431, 2,
             "The request's headers are larger than a limit allows"},
    CodeInfo{Code::invalid_result, "invalid_result", Next::fix, 422, 2,
             "The result does not satisfy the tool's schema; the call still waits"},
    CodeInfo{Code::invalid_arguments, "invalid_arguments", Next::fix, 422, 2,
             "The arguments do not satisfy the tool's schema"},
    CodeInfo{Code::wrong_kind, "wrong_kind", Next::fix, 422, 2,
             "The call, session or agent is of a kind that does not allow this"},
    CodeInfo{Code::wrong_tool, "wrong_tool", Next::fix, 422, 2,
             "The call belongs to a tool that this sender does not serve"},
    CodeInfo{
        Code::bad_number_or_key, "bad_number_or_key", Next::fix, 422, 2,
        "The JSON has a duplicate key, a lone surrogate or a number outside the range of double"},
    CodeInfo{Code::idempotency_mismatch, "idempotency_mismatch", Next::fix, 422, 4,
             "The idempotency key was used with another body"},
    CodeInfo{Code::rate_limited, "rate_limited", Next::retry, 429, 8,
             "Too many requests in a short time"},
    CodeInfo{Code::too_many_pending, "too_many_pending", Next::retry, 429, 8,
             "Too many calls are waiting"},
    CodeInfo{Code::inbox_full, "inbox_full", Next::retry, 429, 8, "The receiver's inbox is full"},
    CodeInfo{Code::queue_full, "queue_full", Next::retry, 429, 8,
             "Too many inputs wait for this session"},
    CodeInfo{Code::internal, "internal", Next::retry, 500, 1, "The server failed unexpectedly"},
    CodeInfo{Code::store_unavailable, "store_unavailable", Next::retry, 503, 8,
             "The store does not answer"},
    CodeInfo{Code::store_full, "store_full", Next::retry, 503, 8, "The store is full"},
    CodeInfo{Code::fail_stop, "fail_stop", Next::retry, 503, 8,
             "The store failed to write and is being opened again"},
    CodeInfo{Code::draining, "draining", Next::retry, 503, 8, "The server is shutting down"},
    CodeInfo{Code::recovering, "recovering", Next::retry, 503, 8,
             "The server is starting up and has not recovered yet"},
    CodeInfo{Code::validator_unavailable, "validator_unavailable", Next::retry, 503, 8,
             "The program that checks this tool's results failed"},
    CodeInfo{Code::agent_unavailable, "agent_unavailable", Next::retry, 503, 8,
             "The agent cannot be reached now"},
    CodeInfo{Code::overloaded, "overloaded", Next::retry, 503, 8, "The server is overloaded"},
    CodeInfo{Code::newer_format, "newer_format", Next::stop, 503, 9,
             "The data was written by a newer version"},
};

consteval bool in_order_of_enumeration() {
    for (std::size_t i = 0; i < table.size(); ++i) {
        if (table[i].code != static_cast<Code>(i)) {
            return false;
        }
    }
    return table.back().code == Code::newer_format;
}
static_assert(in_order_of_enumeration(), "one row a code, in the order of Code");

}  // namespace

std::span<CodeInfo const> codes() { return table; }

CodeInfo const& info(Code code) {
    auto const index = static_cast<std::size_t>(code);
    CHECK(index < table.size());
    return table[index];
}

std::string_view text(Next next) {
    switch (next) {
        case Next::fix: return "fix";
        case Next::retry: return "retry";
        case Next::stop: return "stop";
        case Next::reopen: return "reopen";
    }
    check_failed("a value of Next", __FILE__, __LINE__);
}

}  // namespace dormouse::inline v0
