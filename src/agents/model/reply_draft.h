#pragma once
// A reply that is being streamed: its text, reasoning and calls in their order, within limits. The
// streams of all providers are collected here.

#include "json/json.h"
#include "model/provider_failure.h"
#include "model/tool_names.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::model {

struct ReplyLimits {
    std::size_t arguments_max = 1U << 20U;  // bytes, of one call
    std::size_t reply_max = 8U << 20U;      // bytes, of the whole reply
    std::size_t calls_max = 1'000;
    std::size_t blocks_max = 10'000;
};

// Returns a name or an id of a stream, cut to the allowed length.
[[nodiscard]] std::string short_text(json::View value);
// Returns a number of tokens; 0 if the value is not such a number.
[[nodiscard]] std::int64_t count(json::View value);

class ReplyDraft {
public:
    using Kind = port::Delta::Kind;
    using OnDelta = port::Fn<void(port::Delta)>;

    struct Call {
        std::string id;
        std::string tool;
        std::string arguments;
        Json data = {};  // the provider's, returned to it with the call; an object, or null
    };

    // All references outlive this. `on_delta` gets the pieces as they arrive.
    ReplyDraft(Provider const& provider, ToolNames const& names, OnDelta& on_delta,
               ReplyLimits limits = {})
        : provider_(provider), names_(names), on_delta_(on_delta), limits_(limits) {}

    // Begins a block of text or reasoning at its place in the reply. A block that stays empty is
    // left out.
    [[nodiscard]] std::size_t begin(Kind kind);
    void add(std::size_t block, std::string more);
    // Continues the last block if it is of this kind and has no data; else begins one.
    std::size_t add(Kind kind, std::string more);
    // Stores the provider's data of a block, to return it unchanged. REQUIRES: an object.
    void keep(std::size_t block, json::View data);
    void keep_for_call(std::size_t call, json::View data);
    // Counts bytes that belong to the reply and are not in the draft yet.
    void weigh(std::size_t more);
    [[nodiscard]] std::string const& text_of(std::size_t block) const {
        return blocks_[block].text;
    }

    // Returns nullopt if there are too many calls: then the reply has failed. `tool` is in the
    // provider's spelling.
    [[nodiscard]] std::optional<std::size_t> begin_call(std::string id, std::string_view tool);
    void name_call(std::size_t call, std::string_view tool);
    void add_arguments(std::size_t call, std::string more);
    [[nodiscard]] std::vector<Call>& calls() { return calls_; }

    // Set when a limit was exceeded: the reply has failed.
    [[nodiscard]] std::optional<agent::ModelTrouble> const& failed() const { return failed_; }

    // The outcome of a stream that ended before the model had finished.
    [[nodiscard]] agent::ModelOutcome cut_off() const;
    // The outcome if the model announced calls. REQUIRES: it made none.
    [[nodiscard]] agent::ModelOutcome without_calls() const;
    [[nodiscard]] agent::ModelOutcome ended_with(std::string_view reason) const;
    [[nodiscard]] agent::ModelOutcome whole(session::FinishReason finish, bool with_calls = false);

    session::Usage usage;

private:
    enum class What : std::uint8_t { text, reasoning, call };
    struct Block {
        What what = What::text;
        std::string text;
        Json data;
        std::size_t call = 0;
    };

    [[nodiscard]] agent::ModelCall finished(Call const& call) const;
    [[nodiscard]] Json parts(bool with_calls) const;

    Provider const& provider_;
    ToolNames const& names_;
    OnDelta& on_delta_;
    ReplyLimits limits_;
    std::vector<Block> blocks_;
    std::vector<Call> calls_;
    std::size_t bytes_ = 0;
    std::optional<agent::ModelTrouble> failed_;
};

}  // namespace dormouse::model
