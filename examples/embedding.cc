// A program with its own event loop: operations take a completion instead of blocking, and an
// observer receives a session's events, in order, from any event on.
//
// Prints:
//   session_created
//   input_received
//   turn_started
//   model_requested
//   model_replied
//   turn_ended
//   Good morning.
#include <dormouse/dormouse.h>

#include <condition_variable>
#include <iostream>
#include <mutex>

int main() {
    dormouse::Script script;
    script.otherwise().says("Good morning.");
    auto runtime = dormouse::Runtime::open({
        .store = ":memory:",
        .agents = {{.name = "host", .model = script.model()}},
    });
    if (!runtime) return std::cerr << runtime.error().detail << '\n', 1;

    std::mutex mutex;
    std::condition_variable changed;
    std::optional<dormouse::SessionId> session;
    bool ended = false;

    runtime->create({.agent = "host", .prompt = "Hello?"},
                    [&](dormouse::Result<dormouse::SessionId> made) {
                        std::lock_guard const lock(mutex);
                        session = made.value();
                        changed.notify_all();
                    });
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return session.has_value(); });
    auto const following = runtime->follow(*session, 0, [&](dormouse::Event const& event) {
        std::lock_guard const guard(mutex);
        std::cout << event.type << '\n';
        ended = ended || event.type == "turn_ended";
        changed.notify_all();
    });
    changed.wait(lock, [&] { return ended; });
    lock.unlock();
    std::cout << runtime->last_reply(*session).value() << '\n';
}
