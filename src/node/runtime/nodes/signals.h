#pragma once
// Messages between the processes of a shared store: that one has appended, and texts of what is
// attached to them. They are hints, which may be lost. On the loop.

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
    struct Services {
        port::Loop& loop;
        port::Channel& channel;
        port::Workers& thread;  // one, for this alone
    };
    struct Listener {
        // Another process has appended.
        std::function<void()> moved;
        // Called with a text that another process published.
        std::function<void(Epoch from, std::string_view text)> on_message;
    };

    // All in `services` outlive this, and no job runs on its thread any more when this is
    // destroyed.
    explicit Signals(Services services) : services_(services) {}
    void start(Listener listener) { listener_ = std::move(listener); }

    // This process, whose epoch is `self`, has appended. Appends within `apart` are published once.
    void moved(Epoch self);
    // Publishes the text to the other processes. It is lost if too many texts wait already.
    // REQUIRES: text.size() <= text_max.
    void publish(Epoch self, std::string_view text);
    // Handles a message that the channel received. Returns false if it is of another kind.
    bool on_message(Epoch self, std::string_view message);

    static constexpr Duration apart{10};
    static constexpr std::size_t text_max = port::SharedStore::message_bytes_max - 32;
    static constexpr std::size_t waiting_max = std::size_t{1} << 20;  // bytes

private:
    void send();

    Services const services_;
    Listener listener_ = {};
    std::string moved_;                 // empty: nothing to publish
    std::vector<std::string> waiting_;  // to be published, oldest first
    std::size_t waiting_bytes_ = 0;
    bool sending_ = false;
    Scope scope_;
};

}  // namespace dormouse::runtime
