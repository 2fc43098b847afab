#pragma once
// The members of request bodies, one row each. The rows check a body (body.h) and make its schema
// in openapi.json (tools/object_schemas.py).

#include "http/objects/fields.h"

#include <cstdint>
#include <limits>
#include <span>

namespace dormouse::http {

struct Member {
    enum class Type : std::uint8_t { text, integer, flag, object, list, any };

    std::string_view name;
    Type type = Type::any;
    Facts facts = {};  // words: other values are refused
    bool required = false;
    std::string_view missing = {};  // error text if it is absent; empty: derived from the type
    // Bounds: of a number, of the bytes of a text, of the size of an object or a list.
    std::int64_t least = std::numeric_limits<std::int64_t>::min();
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    // Error text if it is out of bounds, or null although required; empty: one that names the
    // bounds.
    std::string_view why = {};
};

struct Request {
    std::string_view name;  // name of its schema
    std::string_view about;
    std::span<Member const> members;
};

// Submissions
extern Request const result_request, error_request, callback_request, submitted_result_part,
    batch_request, batch_item_part, decision_request, rule_part, progress_request, claim_request,
    reassign_request, ask_request, asked_answer_part, choice_part;
// Sessions
extern Request const create_request, input_part, prompt_request, patch_request, cancel_request,
    fork_request, redaction_request, call_request, import_request, import_part_request;
// Tasks and mail
extern Request const task_request, task_resume_request, task_cancel_request, report_request,
    mail_request;
// Tokens
extern Request const token_request, sign_in_request, link_request;
// Devices
extern Request const device_request;
// Operations
extern Request const repair_request, retention_request, retention_messages_request, empty_request,
    import_sessions_request;

[[nodiscard]] std::span<Request const* const> all_requests();

}  // namespace dormouse::http
