#include "runner/rules.h"

#include "base/check.h"
#include "json/json.h"
#include "wire/standing.h"

#include <algorithm>
#include <utility>

namespace dormouse::runner {

using namespace dormouse::session;

Rules::Rules(std::vector<port::RuleRow> const& rows) { replace(rows); }

void Rules::replace(std::vector<port::RuleRow> const& rows) {
    by_id_.clear();
    for (port::RuleRow const& row : rows) {
        auto rule = wire::read_rule(row.body);
        if (!rule || rule->id() != row.id) continue;
        put({std::make_shared<StandingRule const>(*std::move(rule)), row.uses, row.used});
    }
}

void Rules::add(StandingRule rule) {
    ++changes_;
    put({std::make_shared<StandingRule const>(std::move(rule)), 0, {}});
}

void Rules::put(Entry entry) {
    CHECK(entry.rule);
    std::string const id = entry.rule->id();
    by_id_.insert_or_assign(id, std::move(entry));
}

void Rules::count(port::RuleUse const& use) {
    auto const found = by_id_.find(use.id);
    if (found == by_id_.end()) return;
    ++found->second.uses;
    found->second.used = use.at;
}

std::optional<Rules::Entry> Rules::remove(std::string const& id) {
    auto const found = by_id_.find(id);
    if (found == by_id_.end()) return std::nullopt;
    ++changes_;
    Entry out = std::move(found->second);
    by_id_.erase(found);
    return out;
}

void Rules::remove_of(SessionId const& session) {
    changes_ += std::erase_if(by_id_, [&](auto const& one) {
        StandingRule const& rule = *one.second.rule;
        return rule.terms.scope == RuleScope::session && rule.session == session;
    });
}

Rules::Entry const* Rules::find(std::string const& id) const {
    auto const found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : &found->second;
}

std::vector<Rules::Entry> Rules::all() const {
    std::vector<Entry> out;
    for (auto const& [id, entry] : by_id_) out.push_back(entry);
    return out;
}

std::size_t Rules::count(std::string const& project, Time now) const {
    return static_cast<std::size_t>(std::ranges::count_if(by_id_, [&](auto const& one) {
        StandingRule const& rule = *one.second.rule;
        return rule.project == project && !rule.has_expired(now);
    }));
}

MatchingRules Rules::matching(State const& state, Call const& call) const {
    MatchingRules out;
    out.input_digest = call.spec.input_digest;
    for (auto const& [id, entry] : by_id_) {
        StandingRule const& rule = *entry.rule;
        bool const near = rule.project == state.project && rule.tool == call.spec.tool;
        if (near && wire::matches(rule, call.spec.input, call.spec.input_digest))
            out.list.push_back(entry.rule);
    }
    return out;
}

port::RuleRow row_of(StandingRule const& rule) {
    port::RuleRow row;
    row.id = rule.id();
    row.body = wire::write_rule(rule);
    if (rule.terms.scope == RuleScope::session) row.session = rule.session;
    return row;
}

std::optional<Error> refuse_rule(Rules const& rules, State const& state, Call const& call,
                                 Submission const& what, Time now) {
    if (!what.rule) return std::nullopt;
    if (auto why = wire::unmatched(what.rule->match, call.spec.input); !why.empty()) {
        return Error{Code::bad_value, "/rule/match: " + why,
                     Json::trusted(R"({"pointer":"/rule/match"})")};
    }
    if (rules.count(state.project, now) < Rules::most) return std::nullopt;
    return Error{Code::wrong_state, "The project has 1,000 standing rules; revoke some."};
}

}  // namespace dormouse::runner
