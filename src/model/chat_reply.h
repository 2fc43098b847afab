#pragma once
// Puts a reply together from the chunks of a chat completions stream.

#include "json/json.h"
#include "model/provider_failure.h"
#include "model/tool_names.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::model {

struct ChatLimits {
    std::size_t arguments_max = 1U << 20U;  // bytes, of one call
    std::size_t reply_max = 8U << 20U;      // bytes, of all that a reply says
    std::size_t calls_max = 1'000;
};

class ChatReply {
public:
    // Both outlive this.
    ChatReply(Provider const& provider, ToolNames const& names, ChatLimits limits = {})
        : provider_(provider), names_(names), limits_(limits) {}

    // The data of one event. Set: the reply has failed, and takes no more.
    [[nodiscard]] std::optional<agent::ModelTrouble> take(std::string_view data,
                                                          port::Fn<void(port::Delta)>& delta);
    // Nothing more comes. A reply whose end was not told has failed: what it had said of its calls
    // may be half of it.
    [[nodiscard]] agent::ModelOutcome finish();
    // The model has said all: what may still come is only the usage.
    [[nodiscard]] bool complete() const { return !finish_.empty(); }

private:
    struct Call {
        std::int64_t index = 0;
        std::string id;
        std::string tool;
        std::string arguments;
    };

    void take_usage(json::View usage);
    [[nodiscard]] std::optional<agent::ModelTrouble> take_call(json::View piece,
                                                               port::Fn<void(port::Delta)>& delta);
    [[nodiscard]] Call* call_for(json::View piece);
    void say(port::Delta::Kind kind, std::string text, std::string& to,
             port::Fn<void(port::Delta)>& delta);
    [[nodiscard]] agent::ModelOutcome whole(session::FinishReason finish, bool with_calls);
    [[nodiscard]] agent::ModelCall finished(Call const& call) const;

    Provider const& provider_;
    ToolNames const& names_;
    ChatLimits const limits_;
    std::string text_;
    std::string reasoning_;
    std::vector<Call> calls_;
    std::string finish_;  // empty: not told
    bool refused_ = false;
    std::size_t bytes_ = 0;
    session::Usage usage_;
};

}  // namespace dormouse::model
