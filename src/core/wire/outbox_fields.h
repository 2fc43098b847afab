#pragma once
// Fields of messages between sessions.

#include "session/outbox_message.h"
#include "wire/part_fields.h"

namespace dormouse::wire {

// RunEnded::reply: parts of a reply at the sender, written as their text for the receiver.
struct ReplyForm : Form<Json> {
    static void write(json::Writer& out, Json const& reply, FieldContext const& context);
};

template <>
inline constexpr auto rows<StartRun> = std::tuple(
    field("task", &StartRun::task), field("run", &StartRun::run),
    field("projectID", &StartRun::project), field("agentID", &StartRun::agent),
    field("title", &StartRun::title), field("cwd", &StartRun::cwd),
    field("parts", &StartRun::parts), field("by", &StartRun::by),
    maybe("depth", &StartRun::depth, 1), maybe("fork", &StartRun::fork), Inline(&StartRun::trace));
template <>
inline constexpr auto rows<StopRun> = std::tuple(
    field("task", &StopRun::task), field("run", &StopRun::run), field("ends", &StopRun::ends),
    field("why", &StopRun::why), maybe("reason", &StopRun::reason));
template <>
inline constexpr auto rows<RunEnded> =
    std::tuple(field("task", &RunEnded::task), field("run", &RunEnded::run),
               field("finishReason", &RunEnded::finish, FinishReason::error),
               field<ReplyForm>("said", &RunEnded::reply), field("error", &RunEnded::error),
               field("gone", &RunEnded::gone));
template <>
inline constexpr auto rows<RunProgress> =
    std::tuple(field("task", &RunProgress::task), field("run", &RunProgress::run),
               field("text", &RunProgress::text));
template <>
inline constexpr auto rows<MailLost> =
    std::tuple(field("mailID", &MailLost::mail), field<OneOfForm<MailTarget>>("to", &MailLost::to));

}  // namespace dormouse::wire
