// Renders the answer of `explain`.

#include "cli/render/render.h"

#include "base/text/text.h"

#include <string>

namespace dormouse::cli {

namespace {

std::string clean(json::View value) { return escape_for_terminal(plain(value)); }

}  // namespace

std::string explain_text(json::View answer, Time now, Style style) {
    auto const session = answer["session"];
    auto out = session_text(session, now, style);
    answer["calls"].elements([&](json::View call) {
        out += "\n" + pending_text(call["pending"], now, style);
        out += "attempts  " + clean(call["attempts"]) + "\n";
    });
    if (answer["calls"].size() == 0) out += "no call of it ever waited\n";
    answer["byRules"].elements([&](json::View one) {
        out += "allowed   " + clean(one["callID"]) + " " + clean(one["tool"]) + " by " +
               clean(one["by"]["name"]) + "'s rule " + clean(one["ruleID"]) + " (gate " +
               clean(one["gate"]) + ")\n";
    });
    if (auto const node = answer["waitsFor"].string())
        out += style(Paint::red, "\nblocked   ") + "it continues only on the server " +
               escape_for_terminal(*node) + ", which does not run\n" +
               "next      start that server, or: dormouse move " + clean(session["id"]) +
               " --to NODE\n";
    answer["missingGates"].elements([&](json::View gate) {
        out += style(Paint::red, "\nblocked   ") + clean(gate["callID"]) + " waits for the gate '" +
               clean(gate["gate"]) + "', which is not configured\n";
        out += "next      " + clean(gate["next"]) + "\n";
    });
    return out;
}

}  // namespace dormouse::cli
