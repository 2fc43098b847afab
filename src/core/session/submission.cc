#include "session/submission.h"

#include "json/json.h"

#include <utility>

namespace dormouse::session {

Submission submitted_result(Json output, std::string title, Json metadata) {
    Submission out;
    out.digest = sha256(json::canonical_object("output", output));
    out.output = std::move(output);
    out.title = std::move(title);
    out.metadata = std::move(metadata);
    return out;
}

Submission submitted_error(std::string text) {
    Submission out;
    out.kind = SubmissionKind::error;
    out.digest = sha256(json::canonical_object("error", Json::trusted(json::quote(text))));
    out.error = std::move(text);
    return out;
}

}  // namespace dormouse::session
