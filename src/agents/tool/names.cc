#include "tool/names.h"

#include "base/text/chars.h"
#include "base/text/text.h"

#include <algorithm>
#include <exception>

namespace dormouse::tools {

std::string wrong_name(std::string_view name) {
    if (name.empty()) return "a tool needs a name";
    if (name.size() > name_max)
        return "a tool's name must be at most " + std::to_string(name_max) + " characters";
    if (is_made_of(name, "_-")) return {};
    return "a tool's name must consist of letters, digits, _ and -: '" + escape_for_terminal(name) +
           "'";
}

std::string wrong(Declaration const& declaration) {
    if (auto why = wrong_name(declaration.name); !why.empty()) return why;
    std::string const about = "tool '" + declaration.name + "': ";
    if (!declaration.mistake.empty()) return about + declaration.mistake;
    for (auto const& [name, schema] : {std::pair("input", &declaration.input_schema),
                                       std::pair("result", &declaration.result_schema)}) {
        if (schema->is_null()) continue;
        if (auto const read = json::check(schema->text()); !read)
            return about + "its " + name + " schema is not JSON: " + read.error().detail;
        // A broken schema reports itself for any value.
        auto const found = json::violations(*schema, Json::trusted("{}"));
        if (!found.empty() && found.front().pointer == "#")
            return about + "its " + name + " schema: " + found.front().message;
    }
    if (declaration.may_pause.has(PauseReason::handoff))
        return about + "it must not pause for a hand-off, which only the runtime can answer";
    if (declaration.input_schema.is_null()) return about + "it has no input schema";
    if (declaration.time_limit <= Duration()) return about + "its time limit must be above zero";
    if (declaration.output_limit == 0) return about + "its output limit must not be zero";
    if (declaration.within && *declaration.within <= Duration())
        return about + "the deadline of its pauses must be above zero";
    return {};
}

std::optional<std::string> refusal_of(Declaration const& declaration, Json const& result) {
    if (!declaration.validate) return std::nullopt;
    try {
        return declaration.validate(result);
    } catch (std::exception const& error) {
        return std::string("its validator threw: ") + error.what();
    } catch (...) {
        return "its validator threw a value that is not an exception";
    }
}

std::string describe(std::vector<json::Violation> const& violations) {
    std::string text;
    for (json::Violation const& one : violations) {
        std::string const place = one.pointer.empty() ? "" : one.pointer + " ";
        std::string const line = " " + place + one.message + ";";
        if (text.find(line) == std::string::npos) text += line;
    }
    if (!text.empty()) text.pop_back();
    return text;
}

}  // namespace dormouse::tools
