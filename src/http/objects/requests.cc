#include "http/objects/requests.h"

#include "session/limits.h"

namespace dormouse::http {

namespace {

using Type = Member::Type;

// A member that may be left out, or be null.
constexpr Member text(std::string_view name, Facts facts = {}) {
    return {.name = name, .type = Type::text, .facts = facts};
}
constexpr Member integer(std::string_view name, Facts facts = {}) {
    return {.name = name, .type = Type::integer, .facts = facts};
}
constexpr Member flag(std::string_view name, Facts facts = {}) {
    return {.name = name, .type = Type::flag, .facts = facts};
}
constexpr Member object(std::string_view name, Facts facts = {}) {
    return {.name = name, .type = Type::object, .facts = facts};
}
constexpr Member list(std::string_view name, Facts facts = {}) {
    return {.name = name, .type = Type::list, .facts = facts};
}
constexpr Member any(std::string_view name, Facts facts = {}) {
    return {.name = name, .type = Type::any, .facts = facts};
}
constexpr Member required(Member member, std::string_view missing = {}) {
    member.required = true;
    member.missing = missing;
    return member;
}
constexpr Member at_most(std::int64_t most, Member member) {
    member.most = most;
    return member;
}
constexpr Member between(std::int64_t least, std::int64_t most, Member member,
                         std::string_view why = {}) {
    member.least = least;
    member.most = most;
    member.why = why;
    return member;
}
constexpr Member not_empty(Member member) {
    member.least = 1;
    return member;
}

constexpr std::int64_t day_ms = 86'400'000;
constexpr std::int64_t age_ms_max = 36'600 * day_ms;  // a hundred years

constexpr Facts result_facts{
    .more = R"("properties":{"output":{"description":"Required; may be null."},)"
            R"("title":{"type":["string","null"]},"metadata":{"description":"Any JSON value."}},)"
            R"("required":["output"],"additionalProperties":false)"};
constexpr Member labels =
    at_most(64, object("labels", {.more = R"("additionalProperties":{"type":"string"})"}));
constexpr Member title = at_most(1'000, text("title"));
constexpr Member reason = at_most(std::int64_t{session::limits::cancel_reason_bytes_max},
                                  text("reason", {"Why: for people and the model."}));
constexpr Member parts =
    list("parts", {.more = R"("items":{"$ref":"#/components/schemas/InputPart"})"});
constexpr Facts names{.more = R"("items":{"type":"string"},"minItems":1)"};

constexpr Member result_object = [] {
    Member member = object("result", result_facts);
    member.why = "must be an object with output";
    return member;
}();
constexpr Member pending_id = required(text("pendingID"));
constexpr Member submitted_result[] = {required(any("output")), text("title"), any("metadata")};
// Bytes of an image or a file as base64.
constexpr std::string_view file_items =
    R"("items":{"type":"object","properties":{"type":{"enum":["file","image"],"type":"string"},)"
    R"("mime":{"type":"string"},"name":{"type":["string","null"]},)"
    R"("alt":{"type":["string","null"]},)"
    R"("data":{"type":"string","contentEncoding":"base64"}},"required":["mime","data"],)"
    R"("additionalProperties":false})";
constexpr Member result_members[] = {
    required(result_object), pending_id,
    at_most(20, list("files", {.about = "Files for the answer to a question; PendingCall.files "
                                        "says how many it takes. Each has at most 5 MiB.",
                               .more = file_items}))};
constexpr Member error_members[] = {required(text("error")), pending_id};
// The address names the call.
constexpr Member callback_members[] = {text("pendingID"), result_object, text("error")};
constexpr Member batch_item[] = {result_object, text("error"), text("pendingID")};
constexpr Member batch_members[] = {required(
    at_most(
        1'000,
        list("items", {.more = R"("items":{"oneOf":[{"$ref":"#/components/schemas/ResultRequest"},)"
                               R"({"$ref":"#/components/schemas/ErrorRequest"}]})"})),
    "is missing: an array of {pendingID, result | error}")};
constexpr Member rule_members[] = {
    required(text("scope", {.about = "Later calls of this session, or of the whole project.",
                            .words = "session project"})),
    at_most(64, not_empty(list(
                    "match",
                    {.about = "Names of the arguments that must be equal to those that were shown; "
                              "the others may differ. Left out: all.",
                     .more = R"("items":{"type":"string"})"}))),
    between(
        1'000, 366 * day_ms,
        integer("forMs", {.about = "How long the rule is valid. Default: 30 days for a rule of the "
                                   "project; the session's life for a rule of the session."})),
};
constexpr Member decision_members[] = {
    required(flag("approved")),
    text("inputDigest",
         {.about = "Digest of the arguments that the person was shown: PendingCall.inputDigest.",
          .more = R"("pattern":"^sha256:[0-9a-f]{64}$")"}),
    text("reason"),
    any("arguments", {"Replaces the arguments of the call."}),
    any("content"),
    object("rule", {.about = "Answers later calls like this one, too.",
                    .more = R"("$ref":"#/components/schemas/RuleRequest")"}),
    pending_id,
};
constexpr Member progress_members[] = {required(any("payload", {"Up to 64 KiB."})),
                                       at_most(256, text("key")), pending_id};
constexpr Member reassign_members[] = {required(
    between(1, 20,
            list("to", {.about = "Names, or role:answer, role:operate, role:admin.",
                        .more = R"("items":{"type":"string","minLength":1,"maxLength":69})"}),
            "must be 1 to 20 names or roles"))};
constexpr std::string_view answerer_items =
    R"("items":{"type":"string","minLength":1,"maxLength":69})";
constexpr std::int64_t year_ms = 366 * day_ms;
constexpr Member asked_answer_members[] = {
    at_most(20, list("from", {.about = "Names, or role:answer, role:operate, role:admin. Left "
                                       "out: anyone with the right to answer.",
                              .more = answerer_items})),
    between(
        1, 20,
        integer("need", {"Number of people who must agree. Default: 1. One denial is enough."})),
    flag("forbidRequester", {"The caller may not answer. Default: false."}),
    at_most(20, list("escalateTo",
                     {.about = "The people who are asked when the deadline passes; the call then "
                               "waits as long again.",
                      .more = answerer_items})),
};
constexpr Member choice_members[] = {
    required(between(1, 200, text("title", {"The answer, if it is chosen."}))),
    at_most(1'000, text("description")),
};
constexpr Member ask_members[] = {
    required(between(1, 16'384, text("question", {"Shown as the heading; may be Markdown."}))),
    text("kind",
         {.about = "approval: a person approves or denies. answer: a person answers. result: a job "
                   "reports its result. Default: answer with choices or a schema, else approval.",
          .words = "approval answer result"}),
    text("tool", {.about = "Subject, for lists and filters. Default: ask.",
                  .more = R"("pattern":"^[A-Za-z0-9_.:/-]{1,128}$")"}),
    object("arguments",
           {.about = "Shown with the question; the decision is bound to them. At most 64 KiB.",
            .more = R"("properties":{},"additionalProperties":true)"}),
    between(1, 20,
            list("choices", {.about = "Kind answer only: the answer is the title of one.",
                             .more = R"("items":{"$ref":"#/components/schemas/Choice"})"})),
    object("schema", {.about = "JSON Schema of the answer or the result, at most 32 KiB; other "
                               "values are refused, and the call still waits.",
                      .more = R"("properties":{},"additionalProperties":true)"}),
    object("answer", {.about = "The people who may answer. Not with kind result.",
                      .more = R"("$ref":"#/components/schemas/AskAnswerers")"}),
    between(1'000, year_ms,
            integer("withinMs", {"Time until the deadline. Default: none; of kind result a day."})),
    text("onDeadline", {.about = "The action at the deadline: the call expires, or an approval "
                                 "is denied. Default: expire.",
                        .words = "expire deny"}),
    between(1'000, year_ms,
            integer("remindAfterMs", {"The answerers are reminded after this time."})),
    between(1'000, year_ms, integer("remindEveryMs", {"Then again at this interval."})),
    at_most(2'048, text("webhookURL", {"Gets the outcome, as of any call."})),
    at_most(1'024, text("webhookSecret", {"Signs these webhooks."})),
    at_most(512, text("externalRef", {"Your name of it; lists filter by it."})),
};
constexpr Member claim_members[] = {
    between(0, 3'600'000, integer("forMs"), "must be 0 (given back) to 3600000")};

constexpr Member input_members[] = {text("text"), parts};
constexpr Member create_members[] = {
    required(text("agentID")),
    text("alias"),
    title,
    text("cwd"),
    labels,
    object("prompt", {.more = R"("$ref":"#/components/schemas/Input")"}),
};
constexpr Member prompt_members[] = {
    text("text"),
    parts,
    text("when", {.words = "queue steer interrupt reject"}),
    text("answers", {"The pendingID of the question that this answers."}),
    flag("reopen"),
};
constexpr Member patch_members[] = {
    title, text("alias"), labels,
    text("node", {"The server on which the session continues, of several that share the store: a "
                  "name of GET /api/nodes."})};
constexpr Member cancel_members[] = {flag("turn"), flag("all"), text("pendingID"), reason};
constexpr Member fork_members[] = {
    between(1, std::numeric_limits<std::int64_t>::max(), integer("seq")), title};
constexpr Member redaction_members[] = {
    text("messageID", {"The message; also the id of one that a fork or an import brought. Exactly "
                       "one of the ids and of `title`, `alias`, `labels` and `label` is "
                       "required."}),
    text("callID", {"A tool call: its arguments and its outcome."}),
    text("pendingID", {"The same, by the id of one of its pauses."}),
    text("mailID", {"A mail that the session sent or got: in all sessions that have it."}),
    text("taskID", {"A task of the session: its prompts and results, here and in its session."}),
    text("turnID", {"A turn: its prompts and replies with their calls, and the reason with which "
                    "it was cancelled."}),
    text("partID", {"One call in a message that a fork or an import brought."}),
    flag("title", {"The title, and all former ones."}),
    flag("alias", {"The alias, and all former ones, also where mail names the session by it."}),
    flag("labels", {"All labels, also former ones."}),
    text("label", {"The label with this key: its value, and former ones. The key stays."}),
    at_most(std::int64_t{session::limits::cancel_reason_bytes_max},
            text("reason", {"Why: for the audit. It must not have the content."})),
    flag("forks", {"Forks, and what the session was forked from, lose it, too."}),
    flag("dryRun", {"Nothing is removed; the answer is what would be."}),
};
constexpr Member call_members[] = {
    required(text("tool")),
    object("arguments", {.about = "They must fit the schema of the tool.",
                         .more = R"("properties":{},"additionalProperties":true)"}),
    at_most(255, text("key", {"Calls with the same tool and arguments are the same call while one "
                              "is open, unless this differs."})),
};
constexpr Member messages = required(
    between(1, 20'000,
            list("messages", {.more = R"("items":{"$ref":"#/components/schemas/ImportMessage"})"}),
            "must be an array of 1 to 20000 messages"),
    "must be an array of 1 to 20000 messages");
constexpr Member import_members[] = {
    required(text("agentID")),
    title,
    at_most(4'096, text("source", {"Where it was stored; becomes a label."})),
    at_most(4'096, text("cwd", {"The folder that the session works in, if its agent is a program; "
                                "else becomes a label."})),
    messages,
    integer("parts", {"The number of requests of this import; part of its idempotency key only."}),
    text("digest", {"The digest of all messages; part of the idempotency key only."}),
};
constexpr Member import_part_members[] = {
    required(between(2, std::numeric_limits<std::int64_t>::max(),
                     integer("part", {.more = R"("maximum":64)"}),
                     "must be at least 2: part 1 creates the session"),
             "must be at least 2: part 1 creates the session"),
    messages,
};

constexpr Member task_members[] = {
    required(text("agentID")),
    required(not_empty(text("prompt"))),
    at_most(1'000, text("description")),
    flag("fork", {"The task begins with a copy of the session's messages."}),
};
constexpr Member task_resume_members[] = {required(not_empty(text("message")))};
constexpr Member task_cancel_members[] = {reason};
constexpr Member report_members[] = {required(not_empty(text("text", {"Up to 4 KiB."})))};
constexpr std::string_view receivers =
    R"("anyOf":[{"type":"string","minLength":1,"maxLength":129},{"type":"array","minItems":1,)"
    R"("maxItems":1000,"items":{"type":"string","minLength":1,"maxLength":129}},{"type":"null"}])";
constexpr Member mail_members[] = {
    text("from", {"In the name of this session: its id or alias. Without it the mail is yours."}),
    any("to", {.about = "Aliases or ids of sessions, or PROJECT/ALIAS of a project to which the "
                        "sender’s may write; without it everybody of the project that has an "
                        "alias.",
               .more = receivers}),
    required(not_empty(text("text", {"Up to 64 KiB."}))),
    text("replyTo", {"The mail that this answers."}),
    flag("resume", {"Which receivers wake. true: idle ones and those that wait for a call. false: "
                    "none. Default: idle ones."}),
    between(1, session::limits::mail_ttl_max.count(),
            integer("ttl", {"Milliseconds. Mail that is unread after this time expires, and its "
                            "sender is notified."}),
            "must be 1 ms to 366 days, in ms"),
};

constexpr Member token_members[] = {
    required(text("name", {.more = R"("pattern":"^[A-Za-z0-9_.@-]{1,64}$")"})),
    required(text("role", {.words = "admin operate answer read"})),
    at_most(64, list("projects", names)),
    at_most(64, list("agents", names)),
    integer("ttlMs", {.about = "Lifetime; a token without it does not expire, a link lives "
                               "10 minutes.",
                      .more = R"("minimum":1000)"}),
};
constexpr Member link_members[] = {required(text("code", {"The part after # in the link."}))};
constexpr Member sign_in_members[] = {
    required(text("code")),
    text("next", {"The path of this server to go to afterwards."}),
};

constexpr Member device_members[] = {
    required(at_most(2'048, text("endpoint", {"The address at the push service."}))),
    required(at_most(128, text("p256dh", {"The browser's public key, in base64url."}))),
    required(at_most(32, text("auth", {"The browser's secret, in base64url."}))),
    between(1, 100, text("label", {"Name for the person. Default: \"A browser\"."})),
};

constexpr Member dry_run = flag("dryRun", {"Changes nothing. Default: false."});
constexpr Member repair_members[] = {dry_run, text("cursor", {"next of the page before."})};
constexpr Member retention_members[] = {
    dry_run,
    between(0, age_ms_max,
            integer("completedAfterMs", {"Default: completed_after of [retention]."})),
    between(0, age_ms_max, integer("auditAfterMs", {"Default: audit_after of [retention]."})),
    between(0, age_ms_max,
            integer("deadDeliveriesAfterMs", {"Default: dead_deliveries_after of [retention]."})),
};
constexpr Member retention_messages_members[] = {
    dry_run,
    between(100, std::int64_t{session::limits::seq_max},
            integer("messagesPerSession",
                    {"If this and the next two are missing: the limits of [retention]."})),
    between(0, age_ms_max, integer("messageAgeMs", {"Removes turns that ended longer ago."})),
    between(65'536, std::int64_t{1} << 50,
            integer("sessionBytes", {"Largest size of a session's journal."})),
    text("sessionID", {"Only this one."}),
    text("after", {"`next` of the previous answer; not with sessionID."}),
};

constexpr Member import_sessions_members[] = {
    required(not_empty(list(
        "lines",
        {.about =
             "Lines of an export as they are in the file: the first, whole sessions, the last.",
         .more = R"("items":{"type":"string"})"}))),
    between(
        2, std::numeric_limits<std::int64_t>::max(),
        integer("line", {"The number of the second line in the file, for errors. Default: 2."})),
    flag("start",
         {"Also sessions that have something to do: they continue here at once. Default: false."}),
    flag("restoreDeleted",
         {"Also completed sessions that were deleted here: they come back under their ids. "
          "Default: false."}),
    dry_run,
};

}  // namespace

Request const result_request{"ResultRequest", "", result_members};
Request const error_request{"ErrorRequest", "", error_members};
Request const callback_request{"CallbackRequest", "One of result and error.", callback_members};
Request const submitted_result_part{"", "", submitted_result};
Request const batch_request{"BatchRequest", "", batch_members};
Request const batch_item_part{"", "", batch_item};
Request const decision_request{"DecisionRequest", "", decision_members};
Request const rule_part{"RuleRequest", "The standing rule that an approval makes.", rule_members};
Request const progress_request{"ProgressRequest", "", progress_members};
Request const claim_request{"ClaimRequest", "", claim_members};
Request const ask_request{"AskRequest", "A call that people or a job outside settle.", ask_members};
Request const asked_answer_part{"AskAnswerers", "", asked_answer_members};
Request const choice_part{"Choice", "", choice_members};
Request const reassign_request{"ReassignRequest", "The only people who may answer.",
                               reassign_members};

Request const create_request{"CreateRequest", "", create_members};
Request const input_part{"Input", "Exactly one of text and parts. Up to 1 MiB of text.",
                         input_members};
Request const prompt_request{"PromptRequest", "", prompt_members};
Request const patch_request{"PatchRequest", "", patch_members};
Request const cancel_request{"CancelRequest", "At most one of turn, all and the call.",
                             cancel_members};
Request const fork_request{"ForkRequest", "", fork_members};
Request const redaction_request{"RedactionRequest", "", redaction_members};
Request const call_request{"CallRequest", "", call_members};
Request const import_request{"ImportRequest", "", import_members};
Request const import_part_request{"ImportPart", "", import_part_members};

Request const task_request{"TaskRequest", "", task_members};
Request const task_resume_request{"TaskResumeRequest", "", task_resume_members};
Request const task_cancel_request{"CancelTaskRequest", "", task_cancel_members};
Request const report_request{"ReportRequest", "A progress report of a task.", report_members};
Request const mail_request{"MailRequest", "", mail_members};

Request const token_request{"TokenRequest", "", token_members};
Request const link_request{"LinkRequest", "", link_members};
Request const sign_in_request{"SignInRequest", "", sign_in_members};

Request const device_request{"DeviceRequest", "A subscription of the browser's Push API.",
                             device_members};

Request const repair_request{"RepairRequest", "", repair_members};
Request const retention_request{"RetentionRequest", "", retention_members};
Request const retention_messages_request{"RetentionMessagesRequest", "",
                                         retention_messages_members};
Request const import_sessions_request{"ImportSessionsRequest", "", import_sessions_members};
Request const empty_request{"Nothing", "No members.", {}};

std::span<Request const* const> all_requests() {
    static constexpr Request const* all[] = {
        &result_request,    &error_request,       &callback_request,
        &ask_request,       &asked_answer_part,   &choice_part,
        &batch_request,     &decision_request,    &rule_part,
        &progress_request,  &claim_request,       &reassign_request,
        &create_request,    &input_part,          &prompt_request,
        &patch_request,     &cancel_request,      &fork_request,
        &call_request,      &import_request,      &import_part_request,
        &task_request,      &task_resume_request, &task_cancel_request,
        &report_request,    &mail_request,        &token_request,
        &link_request,      &sign_in_request,     &device_request,
        &repair_request,    &retention_request,   &retention_messages_request,
        &redaction_request, &empty_request,       &import_sessions_request};
    return all;
}

}  // namespace dormouse::http
