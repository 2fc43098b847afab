#pragma once
// A reply that is still coming: its text, reasoning and calls in the order in which they are said,
// within limits. Every provider's stream is put together here.

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
    std::size_t reply_max = 8U << 20U;      // bytes, of all that a reply says
    std::size_t calls_max = 1'000;
    std::size_t blocks_max = 10'000;
};

// A name or an id out of a stream, cut to what such a word may be.
[[nodiscard]] std::string short_text(json::View value);
// Tokens; what is no such number is 0.
[[nodiscard]] std::int64_t count(json::View value);

class ReplyDraft {
public:
    using Kind = port::Delta::Kind;
    using Say = port::Fn<void(port::Delta)>;

    struct Call {
        std::string id;
        std::string tool;
        std::string arguments;
        Json data = {};  // the provider's, given back with the call; an object, or null
    };

    // All outlive this. `say` gets what comes as it comes.
    ReplyDraft(Provider const& provider, ToolNames const& names, Say& say, ReplyLimits limits = {})
        : provider_(provider), names_(names), say_(say), limits_(limits) {}

    // A block of text or reasoning, with its place in the reply. It is left out when nothing comes.
    [[nodiscard]] std::size_t begin(Kind kind);
    void add(std::size_t block, std::string more);
    // Goes on with the last block if it is of this kind, holds no data and none of it came since.
    std::size_t add(Kind kind, std::string more);
    // The provider's own data for a block, given back with it unchanged. REQUIRES: an object.
    void keep(std::size_t block, json::View data);
    void keep_for_call(std::size_t call, json::View data);
    // Bytes that are not in the draft yet, and count.
    void weigh(std::size_t more);
    [[nodiscard]] std::string const& text_of(std::size_t block) const {
        return blocks_[block].text;
    }

    // nullopt: there are too many, and the reply has failed. `tool` in the provider's spelling.
    [[nodiscard]] std::optional<std::size_t> begin_call(std::string id, std::string_view tool);
    void name_call(std::size_t call, std::string_view tool);
    void add_arguments(std::size_t call, std::string more);
    [[nodiscard]] std::vector<Call>& calls() { return calls_; }

    // Set: a limit was passed, and the reply has failed.
    [[nodiscard]] std::optional<agent::ModelTrouble> const& failed() const { return failed_; }

    // What is told when a stream ends and the model had not said that it is through.
    [[nodiscard]] agent::ModelOutcome cut_off() const;
    // It said that it calls tools; REQUIRES: it called none.
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
    Say& say_;
    ReplyLimits limits_;
    std::vector<Block> blocks_;
    std::vector<Call> calls_;
    std::size_t bytes_ = 0;
    std::optional<agent::ModelTrouble> failed_;
};

}  // namespace dormouse::model
