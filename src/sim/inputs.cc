#include "sim/inputs.h"

#include "json/json.h"
#include "session/parts.h"

namespace dormouse::sim {

using namespace dormouse::session;

namespace {

std::string draw_text(World& world) {
    std::string const target = "t" + std::to_string(world.below(100));
    std::string const time = std::to_string(world.below(20)) + "s";
    std::string const other = alias_of(1 + world.below(6));
    switch (world.below(22)) {
        case 0: return "hello " + target;
        case 1:
        case 2: return "deploy " + target;
        case 3: return "deploy " + target + " and b and c";
        case 4: return "deploy " + target + " and b within " + time;
        case 5: return "approve " + target;
        case 6: return "approve-deploy " + target;
        case 7: return "ask what about " + target + "?";
        case 8: return "wait " + time;
        case 9: return "fail";
        case 10: return "sleepy " + time;
        case 11: return "sleepy-never " + time;
        case 12: return "job " + target;
        case 13: return "job-ask " + target;
        case 14: return "job-never " + target;
        case 15:
        case 16: return "tell " + other + " hello " + target;
        case 17: return "tell " + other + " deploy " + target;
        case 18: return "tell " + other + " tell " + alias_of(1 + world.below(6)) + " thanks";
        case 19: return "background job " + target;
        case 20: return "background tell " + other + " from the task";
        default: return "background background report " + target;
    }
}

}  // namespace

std::string alias_of(std::uint64_t number) { return "s" + std::to_string(number); }

Prompt prompt_of(std::string const& text) {
    Prompt prompt;
    prompt.parts = session::text_parts(text);
    prompt.answer_output = Json::trusted(json::quote(text));
    prompt.answer_digest = sha256(json::canonical_object("output", prompt.answer_output));
    return prompt;
}

Prompt draw_prompt(World& world) {
    Prompt prompt = prompt_of(draw_text(world));
    constexpr PromptMode modes[] = {PromptMode::queue, PromptMode::steer, PromptMode::interrupt,
                                    PromptMode::reject};
    if (world.happens(600)) prompt.when = modes[world.below(4)];
    return prompt;
}

Submission result(unsigned variant) {
    Submission what;
    // The others are too large for a record and become artifacts.
    std::string const rest(variant == 0 ? 0 : output_bytes, '.');
    what.output = Json::trusted(json::quote("result " + std::to_string(variant) + rest));
    what.digest = sha256(json::canonical_object("output", what.output));
    return what;
}

Submission error(unsigned variant) {
    Submission what;
    what.kind = SubmissionKind::error;
    what.error = "error " + std::to_string(variant);
    what.digest = sha256(json::canonical_object("error", Json::trusted(json::quote(what.error))));
    return what;
}

Submission decision(bool approved) {
    Submission what;
    what.kind = SubmissionKind::decision;
    what.approved = approved;
    json::Writer out;
    out.begin_object().member("approved", approved).end_object();
    what.digest = sha256(json::canonical_object("decision", out.json()));
    return what;
}

Submission doubt_answer(std::string const& action) {
    Submission what = decision(true);
    json::Writer content;
    content.begin_object().member("action", action).end_object();
    what.content = content.json();
    what.action = action;
    what.output = Json::trusted(R"("said so")");
    what.digest = sha256(json::canonical_object("decision", what.content));
    return what;
}

Submission fitting(PauseReason reason, unsigned variant) {
    bool const decides = reason == PauseReason::approval || reason == PauseReason::elicitation;
    return decides ? decision(variant == 0) : result(variant);
}

}  // namespace dormouse::sim
