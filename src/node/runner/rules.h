#pragma once
// The standing rules of all projects, in memory: read from the store at start, then changed with
// what is durable. On the loop.

#include "port/store_rows.h"
#include "session/standing.h"
#include "session/state.h"

#include <map>
#include <string>
#include <vector>

namespace dormouse::runner {

class Rules {
public:
    static constexpr std::size_t most = 1'000;  // of one project

    struct Entry {
        session::RulePtr rule;
        std::uint64_t uses = 0;
        std::optional<Time> used = {};
    };

    // Rows that cannot be read are left out: their calls are asked about.
    explicit Rules(std::vector<port::RuleRow> const& rows);

    // The store has these rows, and no others.
    void replace(std::vector<port::RuleRow> const& rows);
    void add(session::StandingRule rule);
    void put(Entry entry);
    void count(port::RuleUse const& use);
    // Removes a rule: it answers nothing from now on. nullopt: there is none.
    std::optional<Entry> remove(std::string const& id);
    void remove_of(SessionId const& session);
    // Returns how often this process has added or removed a rule.
    [[nodiscard]] std::uint64_t changes() const { return changes_; }

    [[nodiscard]] Entry const* find(std::string const& id) const;
    // Returns all rules, by id.
    [[nodiscard]] std::vector<Entry> all() const;
    // Rules that have not expired.
    [[nodiscard]] std::size_t count(std::string const& project, Time now) const;
    // Rules of the call's project and tool whose arguments match those of the call.
    [[nodiscard]] session::MatchingRules matching(session::State const& state,
                                                  session::Call const& call) const;

private:
    std::map<std::string, Entry> by_id_;
    std::uint64_t changes_ = 0;
};

[[nodiscard]] port::RuleRow row_of(session::StandingRule const& rule);

// Returns why the submission's rule cannot be made, as far as the arguments and the other rules
// decide it.
[[nodiscard]] std::optional<Error> refuse_rule(Rules const& rules, session::State const& state,
                                               session::Call const& call,
                                               session::Submission const& what, Time now);

}  // namespace dormouse::runner
