#pragma once
// What the processes of a shared store tell each other at once: that one has appended, and texts of
// what is attached to them. All of it are hints, which may be lost. On the loop.

#include "base/scope.h"
#include "port/effects.h"
#include "port/shared_store.h"
#include "port/world.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::runtime {

class Signals {
public:
    struct World {
        port::Loop& loop;
        port::Channel& channel;
        port::Workers& thread;  // one, for this alone
    };
    struct Listener {
        // Another process has appended.
        std::function<void()> moved;
        // Another process said this.
        std::function<void(Epoch from, std::string_view text)> said;
    };

    // All in `world` outlive this, and no job runs on its thread any more when this is destroyed.
    explicit Signals(World world) : world_(world) {}
    void start(Listener listener) { listener_ = std::move(listener); }

    // This process, whose epoch is `self`, has appended. Appends within `apart` are said once.
    void moved(Epoch self);
    // Says the text to the others, unless too much waits to be said: then it is lost. REQUIRES:
    // text.size() <= text_max.
    void say(Epoch self, std::string_view text);
    // The store returned this from hear(). Returns false if it is of another kind.
    bool heard(Epoch self, std::string_view said);

    static constexpr Duration apart{10};
    static constexpr std::size_t text_max = port::SharedStore::said_max - 32;
    static constexpr std::size_t waiting_max = std::size_t{1} << 20;  // bytes

private:
    void send();

    World const world_;
    Listener listener_ = {};
    std::string moved_;                 // not empty: to be said
    std::vector<std::string> waiting_;  // to be said, oldest first
    std::size_t waiting_bytes_ = 0;
    bool sending_ = false;
    Scope scope_;
};

}  // namespace dormouse::runtime
