#pragma once
// Submissions with their digests, by which receipts are compared. The digest is SHA-256 of the
// canonical form of {"output":…} or {"error":…}.

#include "session/vocabulary.h"

#include <string>

namespace dormouse::session {

[[nodiscard]] Submission submitted_result(Json output, std::string title = {}, Json metadata = {});
[[nodiscard]] Submission submitted_error(std::string text);

}  // namespace dormouse::session
