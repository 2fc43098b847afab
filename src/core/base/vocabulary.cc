#include <dormouse/vocabulary.h>

#include "base/enum_words.h"

namespace dormouse::inline v0 {

std::string_view text(PauseReason v) { return word_of(v); }
std::string_view text(CallStatus v) { return word_of(v); }
std::string_view text(SubmissionKind v) { return word_of(v); }
std::string_view text(CrashPolicy v) { return word_of(v); }
std::string_view text(Activity v) { return word_of(v); }
std::string_view text(TaskStatus v) { return word_of(v); }
std::string_view text(PromptMode v) { return word_of(v); }
std::string_view text(ActorType v) { return word_of(v); }

}  // namespace dormouse::inline v0
