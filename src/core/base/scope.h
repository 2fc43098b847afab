#pragma once
// Keeps callbacks from running after their owner has ended.
// Example: class Pump { void scan(); port::Loop& loop_; Scope scope_; };
//     loop_.after(seconds, scope_.guard([this] { scan(); }));
//
// Declare the scope as the last member: members are destroyed in reverse, so it ends first. A
// destructor that calls out to others calls end() before.
// A guarded callback is destroyed with all that it holds, so a `reply` in it is never called. If
// the caller must get an answer even then, keep a token and answer:
//     [this, alive = scope_.token(), reply] { if (!alive) return reply(stopping()); … }
//
// On one thread, that of the loop; guarded callbacks and tokens may be moved through others and be
// destroyed there. Costs one small allocation for each scope, none for a callback.

#include <memory>
#include <type_traits>
#include <utility>

namespace dormouse {

class Scope {
public:
    // Converts to true until the scope ends. A callback may ask again after it has called others:
    // they may have ended the scope.
    class Token {
    public:
        [[nodiscard]] explicit operator bool() const { return !life_.expired(); }

    private:
        friend Scope;
        explicit Token(std::weak_ptr<char> life) : life_(std::move(life)) {}
        std::weak_ptr<char> life_;
    };

    Scope() = default;
    Scope(Scope const&) = delete;
    Scope& operator=(Scope const&) = delete;

    [[nodiscard]] Token token() {
        if (!life_) life_ = std::make_shared<char>();
        return Token(life_);
    }

    // `callback`, which does nothing once the scope has ended. A callback that returns a value
    // cannot be guarded.
    template <class Callback> [[nodiscard]] auto guard(Callback callback) {
        return Guarded<Callback>{token(), std::move(callback)};
    }

    // Drops the callbacks guarded so far. Callbacks guarded later run until the next end().
    void end() { life_.reset(); }

private:
    template <class Callback> struct Guarded {
        Token alive;
        Callback callback;

        template <class... Args>
            requires std::is_void_v<std::invoke_result_t<Callback&, Args...>>
        void operator()(Args&&... args) {
            if (alive) callback(std::forward<Args>(args)...);
        }
    };

    std::shared_ptr<char> life_;
};

}  // namespace dormouse
