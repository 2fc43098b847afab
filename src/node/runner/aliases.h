#pragma once
// Who may take which alias. The store refuses an append whose alias another session has; here it is
// asked before, so that the answer is the claimant's alone. On the loop.

#include "port/world.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::runner {

class Aliases {
public:
    explicit Aliases(port::Part<port::ListStore> lists) : lists_(lists) {}

    // Nobody else takes the alias as long as it is kept.
    using Claim = std::shared_ptr<void>;
    // One claim under an alias at a time; the others wait. Errors: alias_taken, when another
    // session than `self` has it.
    void claim(std::string const& project, std::string const& alias, SessionId self,
               port::Fn<void(Result<Claim>)> done);

private:
    using Key = std::pair<std::string, std::string>;  // project, alias

    void ask(Key const& key, SessionId self, port::Fn<void(Result<Claim>)> done);
    void release(Key const& key);

    port::Part<port::ListStore> lists_;
    std::map<Key, std::vector<port::Fn<void()>>> claimed_;  // and who waits
    std::shared_ptr<Aliases*> self_ = std::make_shared<Aliases*>(this);
};

}  // namespace dormouse::runner
