#pragma once
// Errors are values: every operation that may fail returns Result<T>. `code` is stable, `detail`
// describes this occurrence, and the table below says what to do next. The server, the command line
// and docs/errors/ all use this one table (a test compares them).

#include <dormouse/json.h>

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace dormouse::inline v0 {

// The next step for the caller. Part of every problem document.
enum class Next : std::uint8_t { fix, retry, stop, reopen };

// Stable codes (docs/errors). Their text on the wire is the enumerator's name.
enum class Code : std::uint8_t {
    bad_json,
    unknown_field,
    bad_value,
    bad_cursor,
    project_required,
    unauthenticated,
    bad_signature,
    stale_signature,
    forbidden,
    origin_refused,
    not_an_answerer,
    not_found,
    method_not_allowed,
    request_timeout,
    conflict,
    cancelled,
    wrong_state,
    session_busy,
    input_changed,
    alias_taken,
    ambiguous,
    ambiguous_reference,
    delivery_reused,
    claimed,
    reentry_gone,
    not_ready,
    task_not_completed,
    task_resuming,
    expired,
    task_session_gone,
    session_gone,
    history_gone,
    precondition_failed,
    too_large,
    unsupported_media_type,
    wrong_host,
    headers_too_large,
    invalid_result,
    invalid_arguments,
    wrong_kind,
    wrong_tool,
    bad_number_or_key,
    idempotency_mismatch,
    rate_limited,
    too_many_pending,
    inbox_full,
    queue_full,
    internal,
    store_unavailable,
    store_full,
    fail_stop,
    draining,
    recovering,
    validator_unavailable,
    agent_unavailable,
    overloaded,
    newer_format,
};

struct CodeInfo {
    Code code;
    std::string_view text;  // such as "not_found": on the wire, and in docs/errors/<text>.md
    Next next;
    std::uint16_t http;      // HTTP status
    std::uint8_t exit;       // exit status of the command line
    std::string_view title;  // one sentence, the same for every occurrence
};

// One row for each code, in the order of the enumeration.
[[nodiscard]] std::span<CodeInfo const> codes();
[[nodiscard]] CodeInfo const& info(Code code);
[[nodiscard]] std::string_view text(Next next);

struct Error {
    Code code = Code::internal;
    std::string detail = {};  // describes this occurrence, for people
    Json extra = {};  // a JSON object with the code's extra fields (receipt, digest, …), or null
    std::int64_t retry_after_ms = 0;  // 0: unknown
};

template <class T> using Result = std::expected<T, Error>;

[[nodiscard]] inline std::unexpected<Error> fail(Code code, std::string detail, Json extra = {}) {
    return std::unexpected<Error>(Error{code, std::move(detail), std::move(extra), 0});
}

}  // namespace dormouse::inline v0

#pragma GCC visibility pop
