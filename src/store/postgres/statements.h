#pragma once
// All statements of a serving store.

#include <cstdint>

namespace dormouse::store::postgres {

// Each calls one function of writer_functions.cc, append_function.cc or versions.cc, except the
// first two, newest_call and those that may be repeated: propose, agreed, drop_setting, is_copy,
// settle, claim, put_data_keys.
enum class Write : std::uint8_t {
    free_writers,
    forget_nodes,
    register_node,
    leave,
    take_block,
    propose,
    agreed,
    drop_setting,
    is_copy,
    settle,
    claim,
    newest_call,
    append,
    messages,
    drop_delivered,
    drop_given_up,
    trim_audit,
    keep,
    drop_kept,
    change_tokens,
    change_devices,
    drop_rule,
    put_data_keys,
};

enum class Read : std::uint8_t {
    session,
    load,
    frames,
    page,
    lookup,
    day_sums,
    pending,
    due,
    next_due,
    largest_number,
    sessions,
    all_sessions,
    session_bytes,
    journal_bytes,
    heads,
    completed_until,
    aliases,
    alias,
    projects,
    counts,
    pending_open,
    pending_any,
    pending_of_session,
    pending_by_ref,
    open_pending,
    count_waiting,
    waiting_sessions,
    sessions_in_error,
    pending_rows,
    key_rows,
    newest,
    created,
    artifact,
    artifact_piece,
    feed_horizon,
    feed_bounds,
    feed,
    feed_head,
    due_messages,
    due_by_target,
    post,
    list_messages,
    count_given_up,
    secret,
    sent,
    delivered,
    kept,
    tokens,
    token_of,
    devices,
    data_keys,
    rules,
    audit,
    ping,
    node,
};

[[nodiscard]] char const* sql(Write name);
[[nodiscard]] char const* sql(Read name);

}  // namespace dormouse::store::postgres
