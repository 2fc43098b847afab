#pragma once
// The story that `demo` tells: a session calls a tool that takes long, sleeps, and wakes once when
// the result comes. Each step checks what the server answers before it prints a line.

#include "cli/client/client.h"
#include "cli/commands/commands.h"
#include "json/json.h"

#include <chrono>
#include <string>
#include <string_view>

namespace dormouse::cli {

[[nodiscard]] std::unexpected<Failure> broken(std::string what);

class DemoStory {
public:
    explicit DemoStory(Context const& context) : context_(context) {}

    // The server that the next steps ask; it outlives them.
    void ask(Client& client) { client_ = &client; }

    [[nodiscard]] Outcome<void> fall_asleep();
    [[nodiscard]] Outcome<void> still_waits();
    // The result comes.
    [[nodiscard]] Outcome<void> apply();
    [[nodiscard]] Outcome<void> woke();
    [[nodiscard]] Outcome<void> repeat();
    [[nodiscard]] Outcome<void> contradict();
    [[nodiscard]] Outcome<void> count();

    // Prints one line with the time since the previous one.
    void print_line(std::string const& text);
    // The returned view is valid until the next call.
    [[nodiscard]] Outcome<json::View> get(std::string const& target);

private:
    [[nodiscard]] Outcome<Reply> submit(std::string_view what);

    Context const& context_;
    Client* client_ = nullptr;
    Json last_;  // the document that get() returned a view of
    std::string session_;
    std::string pending_;
    std::string digest_;
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

}  // namespace dormouse::cli
