#include "json/json.h"
#include "runtime/engine/engine.h"

#include <algorithm>
#include <mutex>

// Follows a session and its descendants.
namespace dormouse {

// Several threads observe several sessions: the mutex lets one at a time call the observer. It is
// recursive because the observer may end the subscription.
struct Runtime::Engine::Family {
    std::function<void(Event const&)> observer;
    std::recursive_mutex mutex;
    bool ended = false;               // protected by mutex, as is
    std::vector<Following> branches;  // one for each session

    // An exception ends all branches, not only this one.
    bool tell(Event const& event) {
        std::lock_guard const lock(mutex);
        if (ended) return false;
        try {
            observer(event);
        } catch (...) {
            ended = true;
            throw;
        }
        return !ended;
    }
    void add(Following branch) {
        std::lock_guard const lock(mutex);
        if (!ended) branches.push_back(std::move(branch));
    }
    void end() {
        std::vector<Following> ending;
        {
            std::lock_guard const lock(mutex);
            ended = true;
            ending = std::exchange(branches, {});
        }
        // Without the lock: each waits for its running observer.
        ending.clear();
    }
    bool is_over() {
        std::lock_guard const lock(mutex);
        return ended;
    }
};

void Runtime::Engine::follow_all(SessionId session, Seq after,
                                 std::function<void(Event const&)> observer,
                                 runtime::Reply<Following> reply) {
    auto const family = std::make_shared<Family>();
    family->observer = std::move(observer);
    auto answer = [family, reply = std::move(reply)](Result<void> joined) mutable {
        if (!joined) return reply(std::unexpected(std::move(joined.error())));
        auto const end = [family](void*) { family->end(); };
        reply(Following(std::shared_ptr<void>(nullptr, end)));
    };
    join(family, session, after, runtime::Reply<void>(std::move(answer)));
}

void Runtime::Engine::join(std::shared_ptr<Family> const& family, SessionId session, Seq after,
                           runtime::Reply<void> joined) {
    auto observer = [this, callbacks = callbacks_.share(), family](Event const& event) {
        if (!family->tell(event) || event.type != "task_started") return;
        auto const child = SessionId::parse(json::View(event.data)["sessionID"].string_or(""));
        if (child) callbacks->post([=, this] { join_child(family, *child, Duration(5)); });
    };
    auto add = [family, joined = std::move(joined)](Result<Following> branch) mutable {
        if (!branch) return joined(std::unexpected(std::move(branch.error())));
        family->add(*std::move(branch));
        joined({});
    };
    follow(session, after, std::move(observer), {}, runtime::Reply<Following>(std::move(add)));
}

// A child exists a moment after its parent has started it, later if it is queued, and never if it
// is withdrawn.
void Runtime::Engine::join_child(std::shared_ptr<Family> const& family, SessionId child,
                                 Duration wait) {
    if (family->is_over()) return;
    auto again = [=, this](Result<void> joined) {
        if (joined || joined.error().code != Code::not_found) return;
        Duration const longer = std::min(wait * 2, Duration(1'000));
        services_.loop.after(wait, [=, this] { join_child(family, child, longer); });
    };
    join(family, child, 0, runtime::Reply<void>(std::move(again)));
}

}  // namespace dormouse
