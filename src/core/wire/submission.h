#pragma once
// What callers submit, as values of the core with the digests by which receipts are compared: the
// same for HTTP, webhooks and the library.

#include "session/command.h"

namespace dormouse::wire {

// The digest is SHA-256 over the canonical form of {"output":…}, {"error":…} or {"decision":…}.
[[nodiscard]] session::Submission submitted_result(Json output, std::string title = {},
                                                   Json metadata = {});
[[nodiscard]] session::Submission submitted_error(std::string text);
// `arguments` and `content`: null where there are none.
[[nodiscard]] session::Submission submitted_decision(bool approved, std::string reason,
                                                     Json arguments, Json content);
// "sha256:" and 64 hex digits; nullopt: anything else.
[[nodiscard]] std::optional<Sha256> parse_digest(std::string_view text);

// A person's text as a prompt.
[[nodiscard]] session::Prompt text_prompt(std::string_view text);

}  // namespace dormouse::wire
