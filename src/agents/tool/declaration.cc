#include "tool/names.h"

#include "json/json.h"
#include "json/schema/schema.h"

#include <dormouse/tool.h>

namespace dormouse::inline v0 {

namespace {

std::string_view sentence(PauseReason reason) {
    switch (reason) {
        case PauseReason::tool_result:
            return "This tool may take long: a call may answer at first that it is pending. Its "
                   "result then comes by itself, as the result of that call. Do not call the tool "
                   "again for the same operation meanwhile.";
        case PauseReason::user_input:
            return "This tool asks the user, whose next message is the answer. Do not call it "
                   "again "
                   "for the same question meanwhile.";
        case PauseReason::approval:
            return "A person may have to approve a call of this tool before it continues. Its "
                   "result "
                   "then comes by itself. Do not call it again for the same operation meanwhile.";
        case PauseReason::elicitation:
            return "This tool may ask a person for more before it continues. Its result then comes "
                   "by "
                   "itself. Do not call it again for the same operation meanwhile.";
        case PauseReason::handoff:
            return "This tool may hand its work on, and its result comes by itself when that is "
                   "done. Do not call it again for the same operation meanwhile.";
        case PauseReason::budget: break;  // tools never pause for it
    }
    return "";
}

std::string hint_of(Declaration const& declaration) {
    if (!declaration.hint.empty()) return declaration.hint;
    std::string out;
    for (PauseReason const reason : declaration.may_pause.reasons()) {
        if (!out.empty()) out += ' ';
        out += sentence(reason);
    }
    return out;
}

}  // namespace

std::vector<PauseReason> PauseSet::reasons() const {
    std::vector<PauseReason> out;
    for (unsigned i = 0; i <= static_cast<unsigned>(PauseReason::handoff); ++i) {
        if (auto const reason = static_cast<PauseReason>(i); has(reason)) out.push_back(reason);
    }
    return out;
}

std::string described(Declaration const& declaration) {
    std::string const hint = declaration.may_pause.empty() ? "" : hint_of(declaration);
    std::string const& text = declaration.description;
    if (hint.empty() || text.find(hint) != std::string::npos) return text;
    return text.empty() ? hint : text + "\n\n" + hint;
}

Result<void> check_result(Declaration const& declaration, Json const& result) {
    if (auto const read = json::check(result.text()); !read)
        return fail(Code::invalid_result, "the result is not JSON: " + read.error().detail);
    if (!declaration.result_schema.is_null()) {
        auto const found = json::violations(declaration.result_schema, result);
        if (!found.empty())
            return fail(Code::invalid_result, "the result does not fit:" + tools::describe(found));
    }
    if (auto why = tools::refusal_of(declaration, result))
        return fail(Code::invalid_result, "the result is refused: " + *why);
    return {};
}

}  // namespace dormouse::inline v0
