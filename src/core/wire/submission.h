#pragma once
// Submissions of callers as values of the core, with the digests by which receipts are compared.
// The same for HTTP, webhooks and the library.

#include "session/command.h"
#include "session/submission.h"

namespace dormouse::wire {

using session::submitted_error;
using session::submitted_result;
// The digest is SHA-256 of the canonical form of {"decision":…}.
// `arguments` and `content`: null if absent. A decision with a rule differs from one without.
[[nodiscard]] session::Submission submitted_decision(bool approved, std::string reason,
                                                     Json arguments, Json content,
                                                     std::optional<session::RuleTerms> rule = {});
// The digest of a result that has files: of {"files":[{"name","mime","digest"}…],"output":…}.
[[nodiscard]] Sha256 digest_with_files(session::Submission const& what,
                                       std::vector<session::InputFile> const& files);
// "sha256:" and 64 hex digits; nullopt: any other form.
[[nodiscard]] std::optional<Sha256> parse_digest(std::string_view text);

// A person's text as a prompt.
[[nodiscard]] session::Prompt text_prompt(std::string_view text);

}  // namespace dormouse::wire
