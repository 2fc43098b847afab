#pragma once
// Limits of the core (rule 13), and the relations that must hold between them.

#include <dormouse/time.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace dormouse::session::limits {

inline constexpr std::size_t prompt_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t output_bytes_max = std::size_t{1} << 20;
// A larger output is stored as an artifact.
inline constexpr std::size_t artifact_bytes_max = std::size_t{8} << 20;
inline constexpr std::size_t artifacts_per_outcome_max = 8;
// Images and files of an input; each is stored as an artifact.
inline constexpr std::size_t input_file_bytes_max = std::size_t{5} << 20;
inline constexpr std::size_t input_files_max = 20;
inline constexpr std::uint64_t session_artifact_bytes_max = std::uint64_t{256} << 20;
inline constexpr std::uint64_t fork_artifact_bytes_max = std::uint64_t{64} << 20;
inline constexpr std::size_t fork_artifacts_max = 10'000;
// A record of an output that is stored as an artifact shows this many bytes of its beginning and of
// its end.
inline constexpr std::size_t excerpt_bytes_max = std::size_t{4} << 10;
inline constexpr std::size_t queue_max = 100;
inline constexpr std::size_t open_calls_max = 10'000;
inline constexpr std::size_t calls_per_reply_max = 1'000;
inline constexpr std::size_t outstanding_max = 256;
inline constexpr std::size_t unnotified_turns_max = 16;  // at this count no new turn begins
inline constexpr std::uint32_t tool_concurrency_max = 64;
inline constexpr std::uint32_t progress_per_second_max = 10;
inline constexpr std::uint32_t progress_per_call_max = 10'000;
inline constexpr std::uint32_t notes_per_pause_max = 8;
inline constexpr std::uint32_t reminders_max = 100;  // of one pause to the same answerers
inline constexpr std::uint32_t import_parts_max = 64;
inline constexpr std::size_t tasks_max = 200;                // tasks that are not cleared
inline constexpr std::ptrdiff_t outcomes_together_max = 20;  // of calls, reported in one turn
inline constexpr std::size_t tasks_running_max = 8;          // of one session; the others wait
inline constexpr std::uint32_t task_depth_max = 8;           // nesting of tasks
inline constexpr std::size_t task_result_bytes_max = std::size_t{128} << 10;
inline constexpr std::uint32_t model_failures_max = 5;  // in a row, in one step
inline constexpr std::uint32_t tool_attempts_max = 5;
inline constexpr std::uint64_t seq_max = (std::uint64_t{1} << 24) - 1;
inline constexpr std::size_t mail_bytes_max = std::size_t{64} << 10;
inline constexpr std::size_t mail_bytes_of_all_max = std::size_t{64} << 20;  // size times receivers
inline constexpr std::size_t mail_receivers_max = 10'000;
inline constexpr Duration mail_ttl_max{std::int64_t{366} * 24 * 3600 * 1000};
inline constexpr std::size_t report_bytes_max = std::size_t{4} << 10;
inline constexpr std::size_t inbox_max = 1'000;
inline constexpr std::uint32_t mail_hops_max = 16;
inline constexpr std::uint32_t mail_wakes_per_minute = 10;  // of one conversation in one session
inline constexpr std::uint32_t mail_wakes_max = 50;  // of one conversation in one session, in total
inline constexpr std::size_t conversations_max = 64;  // conversations that a session remembers
// Permissions of a turn that the external agent is notified of.
inline constexpr std::size_t permissions_max = 32;
// Tool calls of an external agent, open at once.
inline constexpr std::size_t agent_tools_max = 256;
// Remembered former ids of the external agent's session.
inline constexpr std::size_t acp_left_max = 256;
inline constexpr std::size_t agent_deaths_max = 3;    // within …
inline constexpr Duration agent_deaths_time{60'000};  // … this: it is not started again
// Attempts of one turn that end without an answer.
inline constexpr std::uint32_t agent_attempts_max = 5;
// From this seq on a session takes no new input and no progress, so that open calls can still be
// settled.
inline constexpr std::uint64_t seq_full = seq_max - 1'000'000;

inline constexpr Duration pause_timeout_default{24 * 3600 * 1000};  // of a tool_result pause
inline constexpr Duration model_time_limit{600'000};                // of one request
inline constexpr Duration gate_time_limit{60'000};
inline constexpr Duration retry_base{1'000};
inline constexpr Duration retry_max{60'000};
inline constexpr Duration poll_back_off_max{600'000};  // unless poll_every is longer
// A longer delay requested by a peer is cut to this.
inline constexpr Duration retry_after_max{3'600'000};
// The time for which a capability URL still reports the outcome after its call is settled.
inline constexpr Duration capability_grace_period{std::int64_t{7} * 24 * 3600 * 1000};
inline constexpr Duration claim_max{3'600'000};
inline constexpr Duration mail_minute{60'000};

inline constexpr std::size_t cancel_reason_bytes_max = 1'000;

static_assert(
    tool_concurrency_max + 1 + unnotified_turns_max + permissions_max <= outstanding_max,
    "running tools and gates, one model request, unnotified turns, and permission answers");
static_assert(calls_per_reply_max <= open_calls_max);
static_assert(output_bytes_max < artifact_bytes_max);
static_assert(input_file_bytes_max <= artifact_bytes_max);
static_assert(fork_artifact_bytes_max <= session_artifact_bytes_max);

}  // namespace dormouse::session::limits

namespace dormouse::session {

// Limits that an operator may lower, and default reminders. Journals keep their meaning: apply()
// uses none of these.
struct Limits {
    std::size_t prompt_bytes = limits::prompt_bytes_max;
    std::size_t output_bytes = limits::output_bytes_max;
    std::size_t queue = limits::queue_max;
    std::size_t open_calls = limits::open_calls_max;
    std::size_t calls_per_reply = limits::calls_per_reply_max;
    std::uint32_t progress_per_second = limits::progress_per_second_max;
    std::uint32_t progress_per_call = limits::progress_per_call_max;
    // Defaults of PauseTerms::remind_after and remind_every for pauses that people answer.
    std::optional<Duration> remind_after = {};
    std::optional<Duration> remind_every = {};
};
inline constexpr Limits default_limits{};

}  // namespace dormouse::session
