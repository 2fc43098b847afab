#include "runner/aliases.h"

#include "base/check.h"
#include "port/store.h"

#include <utility>

namespace dormouse::runner {

void Aliases::claim(std::string const& project, std::string const& alias, SessionId self,
                    port::Fn<void(Result<Claim>)> done) {
    CHECK(done && !alias.empty());
    Key const key{project, alias};
    if (auto const racing = claimed_.find(key); racing != claimed_.end()) {
        racing->second.push_back([this, key, self, done = std::move(done)]() mutable {
            claim(key.first, key.second, self, std::move(done));
        });
        return;
    }
    claimed_.try_emplace(key);
    ask(key, self, std::move(done));
}

void Aliases::ask(Key const& key, SessionId self, port::Fn<void(Result<Claim>)> done) {
    CHECK(done && claimed_.contains(key));
    Claim claim(nullptr, scope_.guard([this, key](void*) { release(key); }));
    auto question = [key](port::ListStore& store) {
        return store.aliases(key.first, key.second, 2);
    };
    port::ask(
        lists_, std::move(question),
        [key, self, claim = std::move(claim),
         done = std::move(done)](Result<std::vector<port::SessionRow>> found) mutable {
            if (!found) return done(std::unexpected(std::move(found.error())));
            for (port::SessionRow const& row : *found) {
                if (row.id == self) continue;
                return done(fail(Code::alias_taken, "Another session (" + row.id.text() +
                                                        ") holds the alias '" + key.second + "'."));
            }
            done(std::move(claim));
        });
}

void Aliases::release(Key const& key) {
    auto waiting = claimed_.extract(key);
    if (!waiting) return;
    for (auto& next : waiting.mapped()) next();
}

}  // namespace dormouse::runner
