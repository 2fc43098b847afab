#pragma once
// Every statement that the store runs while it serves, in one list for each connection. A test asks
// the planner about each: none may scan a table or sort (EXPLAIN QUERY PLAN says SCAN, USE TEMP
// B-TREE).

#include <cstdint>
#include <span>

namespace dormouse::store::sqlite {

enum class Write : std::uint8_t {
    begin,
    commit,
    rollback,
    savepoint,
    release,
    undo,
    find_session,
    find_alias,
    find_head,
    find_name,
    add_name,
    add_frame,
    add_session,
    put_session,
    put_wake,
    clear_wake,
    put_pending,
    add_key,
    put_snapshot,
    add_created,
    erase_frames,
    erase_pending,
    erase_keys,
    erase_snapshot,
    mark_deleted,
    add_artifact,
    erase_artifacts,
    add_feed,
    trim_feed,
    add_post,
    take_post,
    put_post,
    put_secret,
    erase_secrets,
    add_delivered,
    forget_kept,
    find_delivered,
    add_kept,
    put_token,
    drop_token,
    add_audit,
    drop_delivered,
};

enum class Read : std::uint8_t {
    begin,
    end,
    ping,
    session,
    snapshot,
    wake,
    frames,
    frames_from,
    key,
    pending,
    due_at,
    due_after,
    next_due,
    largest_number,
    sessions,
    all_sessions,
    session_bytes,
    completed_until,
    aliases,
    alias,
    pending_open,
    pending_any,
    pending_of_session,
    pending_by_ref,
    pending_count,
    pending_sessions,
    pending_rows,
    key_rows,
    created,
    artifact,
    feed_head,
    feed_oldest,
    feed,
    due_posts,
    next_target,
    due_to_target,
    post,
    largest_made,
    secret,
    delivered,
    kept_one,
    kept,
    tokens,
    audit,
    audit_head,
    list_posts,
};

// In the order of the enumerations.
[[nodiscard]] std::span<char const* const> write_statements();
[[nodiscard]] std::span<char const* const> read_statements();

}  // namespace dormouse::store::sqlite
