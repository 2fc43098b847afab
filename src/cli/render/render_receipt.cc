// Renders what became of a submission.

#include "cli/render/render.h"

#include "base/text/text.h"

namespace dormouse::cli {

std::string submission_text(json::View answer) {
    auto const outcome = answer["outcome"].string_or("applied");
    auto const receipt = answer["receipt"];
    auto out = escape_for_terminal(outcome);
    if (outcome == "duplicate")
        out = "duplicate: the same outcome was already accepted; this is its receipt";
    if (outcome == "counted") out = "counted: more votes are needed";
    if (!receipt.exists() || receipt.is_null()) return out + "\n";
    // The receipt of a webhook has no kind and no id.
    std::string parts;
    auto const add = [&](std::string_view label, json::View member) {
        if (auto const text = member.string())
            parts += (parts.empty() ? "" : ", ") + std::string(label) + escape_for_terminal(*text);
    };
    for (auto const name : {"kind", "status", "digest"}) add("", receipt[name]);
    add("receipt ", receipt["id"]);
    out += "\n  " + parts + "\n";
    if (auto const rule = answer["ruleID"].string())
        out += "  later calls are allowed by the rule " + escape_for_terminal(*rule) + "\n";
    return out;
}

}  // namespace dormouse::cli
