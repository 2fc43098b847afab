#pragma once
// Reserves aliases. The store refuses an append whose alias another session has; asking first makes
// the error an answer to the claimant alone. On the loop.

#include "base/scope.h"
#include "port/world.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::runner {

class Aliases {
public:
    explicit Aliases(port::StoreView<port::ListStore> lists) : lists_(lists) {}

    // The alias stays reserved while the claim exists.
    using Claim = std::shared_ptr<void>;
    // One claim for an alias at a time; others wait. Errors: alias_taken, if a session other than
    // `self` has it.
    void claim(std::string const& project, std::string const& alias, SessionId self,
               port::Fn<void(Result<Claim>)> done);

private:
    using Key = std::pair<std::string, std::string>;  // project, alias

    void ask(Key const& key, SessionId self, port::Fn<void(Result<Claim>)> done);
    void release(Key const& key);

    port::StoreView<port::ListStore> lists_;
    std::map<Key, std::vector<port::Fn<void()>>> claimed_;  // with those that wait
    Scope scope_;
};

}  // namespace dormouse::runner
