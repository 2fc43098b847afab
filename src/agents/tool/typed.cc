// Shared by all typed functions.
#include "tool/names.h"

#include <dormouse/tool.h>

namespace dormouse::inline v0::detail {

RawOutcome done(Result<Json> output, std::string title, Json metadata,
                std::vector<Artifact> artifacts) {
    if (!output) return Failed{"the tool's output has no JSON form: " + output.error().detail};
    Done<Json> out(std::move(*output), std::move(title), std::move(metadata));
    out.artifacts = std::move(artifacts);
    return out;
}

RawOutcome paused(Await await, Result<Json> placeholder, PauseOptions options) {
    // The work outside has started: a placeholder that cannot be shown does not undo it.
    return Paused{await, placeholder ? std::move(*placeholder) : Json(), std::move(options)};
}

RawOutcome misread(Error const& error) {
    return Failed{"the arguments do not fit: " + error.detail};
}

RawOutcome failed(Error const& error) {
    std::string text(info(error.code).text);
    if (!error.detail.empty()) text += ": " + error.detail;
    return Failed{std::move(text)};
}

RawOutcome answered(Resumed const& resumed) {
    switch (resumed.kind) {
        case SubmissionKind::result: return Done<Json>(resumed.output, {}, resumed.metadata);
        case SubmissionKind::error: return Failed{resumed.error};
        case SubmissionKind::decision:
        case SubmissionKind::cancel:
        case SubmissionKind::expiry: break;
    }
    if (!resumed.approved)
        return Failed{"denied: " + (resumed.reason.empty() ? "no reason given" : resumed.reason)};
    return Failed{"the tool has no function that continues after an answer"};
}

void inspect(Declaration& declaration, Type const& input, Type const& result, bool goes_on) {
    for (Type const* type : {&input, &result}) {
        if (declaration.mistake.empty()) declaration.mistake = mistakes(*type);
    }
    PauseSet const& may = declaration.may_pause;
    bool const answers = may.has(PauseReason::approval) || may.has(PauseReason::elicitation) ||
                         may.has(PauseReason::handoff);
    if (declaration.mistake.empty() && answers && !goes_on) {
        declaration.mistake =
            "it may pause for an answer to continue with, and has no second function that does";
    }
}

}  // namespace dormouse::inline v0::detail
