#include "wire/standing.h"

#include "json/json.h"
#include "wire/part_fields.h"

#include <algorithm>

namespace dormouse::wire {

using namespace dormouse::session;

// The project and the arguments are repeated, so that a rule outlives its session.
template <>
inline constexpr auto rows<StandingRule> = std::tuple(
    field("sessionID", &StandingRule::session), field("seq", &StandingRule::seq),
    Inline(&StandingRule::terms), field("project", &StandingRule::project),
    field("agent", &StandingRule::agent), field("gate", &StandingRule::gate),
    field("tool", &StandingRule::tool), field("definition", &StandingRule::definition),
    field("input", &StandingRule::input), field("by", &StandingRule::by),
    field("at", &StandingRule::at), maybe("expires", &StandingRule::expires),
    Derived([](StandingRule& rule) { rule.input_digest = sha256(json::canonical(rule.input)); }));

std::string write_rule(StandingRule const& rule) {
    json::Writer out;
    Form<StandingRule>::write(out, rule, {});
    return out.take();
}

Result<StandingRule> read_rule(std::string_view text) {
    auto const checked = json::check(text);
    auto rule = checked ? Form<StandingRule>::read(json::View(*checked), {}) : std::nullopt;
    bool const whole = rule && rule->seq > 0 && !rule->project.empty() && !rule->gate.empty() &&
                       !rule->tool.empty() && rule->definition != Sha256{};
    bool const bounded = rule && (rule->expires || rule->terms.scope == RuleScope::session);
    if (whole && bounded) return *std::move(rule);
    return fail(Code::internal, "a standing rule cannot be read");
}

bool matches(StandingRule const& rule, Json const& input, Sha256 const& input_digest) {
    if (rule.terms.match.empty()) return rule.input_digest == input_digest;
    json::View const saw(rule.input);
    json::View const now(input);
    if (saw.kind() != json::Kind::object || now.kind() != json::Kind::object) return false;
    if (saw.size() != now.size()) return false;
    bool same_names = true;
    saw.members(
        [&](std::string_view name, json::View) { same_names = same_names && now[name].exists(); });
    return same_names && std::ranges::all_of(rule.terms.match, [&](std::string const& name) {
               return saw[name].exists() &&
                      json::canonical(saw[name].copy()) == json::canonical(now[name].copy());
           });
}

std::string unmatched(std::vector<std::string> const& names, Json const& input) {
    json::View const arguments(input);
    for (std::string const& name : names) {
        if (arguments.kind() != json::Kind::object || !arguments[name].exists())
            return "names '" + name + "', which is not an argument of this call";
    }
    return {};
}

}  // namespace dormouse::wire
