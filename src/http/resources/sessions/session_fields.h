#pragma once
// The members of the answers to a prompt, a call from outside the model, a part of an import and a
// request for an agent's own screen (http/objects/fields.h).

#include "http/objects/fields.h"
#include "port/catalogue.h"
#include "session/decide.h"

namespace dormouse::http {

struct AcceptedPrompt {
    SessionId session;
    Ref<session::Answer> answer;

    [[nodiscard]] TurnText turn() const { return {session, answer.get().turn}; }
    [[nodiscard]] MessageText message() const { return {session, answer.get().seq}; }
    [[nodiscard]] std::optional<TurnText> behind() const {
        auto const& turn = answer.get().behind;
        return turn ? std::optional(TurnText{session, *turn}) : std::nullopt;
    }
};
template <>
inline constexpr auto rows<AcceptedPrompt> =
    object("Accepted", "A prompt that was taken.", field("turnID", &AcceptedPrompt::turn),
           field("messageID", &AcceptedPrompt::message),
           of(&AcceptedPrompt::answer, field("seq", &session::Answer::seq)),
           field("queuedBehind", &AcceptedPrompt::behind));

struct CallAnswer {
    TaskText task;
    std::string tool;
    Json arguments;
    bool duplicate = false;
};
template <>
inline constexpr auto rows<CallAnswer> = object(
    "CallAnswer", "", field("taskID", &CallAnswer::task), field("tool", &CallAnswer::tool),
    field("arguments", &CallAnswer::arguments, {.more = R"("type":"object","properties":{})"}),
    field("duplicate", &CallAnswer::duplicate));

struct ImportedPart {
    std::uint32_t part = 0;
    bool duplicate = false;
};
template <>
inline constexpr auto rows<ImportedPart> =
    object("ImportedPart", "", field("part", &ImportedPart::part),
           field("duplicate", &ImportedPart::duplicate));

template <>
inline constexpr auto rows<port::AttachInfo> = object(
    "AttachInfo", "Access to the external agent's own screen.",
    field("url", &port::AttachInfo::url),
    field("acpSessionID", &port::AttachInfo::session, "The agent's own id of the session."),
    field("cwd", &port::AttachInfo::folder),
    field("command", &port::AttachInfo::command, "Run it to open the screen."),
    field("environment",
          [](port::AttachInfo const& info) {
              json::Writer out;
              return out.begin_object().member(info.variable, info.password).end_object().json();
          },
          {.about = "The variable that holds the password.",
           .more = R"("type":"object","additionalProperties":{"type":"string"})"}),
    field("leaseMs", &port::AttachInfo::lease,
          "Time for which the agent stays awake; another request starts this time again."));

}  // namespace dormouse::http
