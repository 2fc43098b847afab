#include "model/providers/openai_chat.h"

#include <algorithm>
#include <utility>

namespace dormouse::model {

using agent::ModelOutcome;
using agent::ModelTrouble;
using port::Delta;
using session::FinishReason;

namespace {

class OpenAiChatReader final : public ReplyReader {
public:
    using ReplyReader::ReplyReader;

    std::optional<ModelTrouble> take(json::View chunk) override;
    ModelOutcome finish() override;
    bool complete() const override { return !finish_.empty(); }
    bool ended() const override { return false; }  // the usage may follow

private:
    void take_usage(json::View usage);
    void take_delta(json::View delta);
    void take_call(json::View piece);
    [[nodiscard]] std::optional<std::size_t> call_for(json::View piece);

    // Some servers mix the two: each is one block.
    std::size_t const reasoning_ = draft_.begin(Delta::Kind::reasoning);
    std::size_t const text_ = draft_.begin(Delta::Kind::text);
    std::vector<std::int64_t> indexes_;  // of the draft's calls
    std::string finish_;                 // empty: not reported
    bool refused_ = false;
};

std::optional<ModelTrouble> OpenAiChatReader::take(json::View chunk) {
    take_usage(chunk["usage"]);
    chunk["choices"].elements([&](json::View choice) {
        if (choice["index"].integer_or(0) != 0) return;
        take_delta(choice["delta"]);
        if (auto reason = short_text(choice["finish_reason"]); !reason.empty())
            finish_ = std::move(reason);
    });
    return draft_.failed();
}

void OpenAiChatReader::take_delta(json::View delta) {
    for (std::string_view const name : {"reasoning_content", "reasoning"})
        draft_.add(reasoning_, delta[name].string_or(""));
    draft_.add(text_, delta["content"].string_or(""));
    if (auto refusal = delta["refusal"].string_or(""); !refusal.empty()) {
        refused_ = true;
        draft_.add(text_, std::move(refusal));
    }
    delta["tool_calls"].elements([&](json::View piece) {
        if (!draft_.failed()) take_call(piece);
    });
}

void OpenAiChatReader::take_usage(json::View usage) {
    if (usage.kind() != json::Kind::object) return;
    json::View const details = usage["prompt_tokens_details"]["cached_tokens"];
    draft_.usage = {count(usage["prompt_tokens"]), count(usage["completion_tokens"]),
                    count(details.exists() ? details : usage["prompt_cache_hit_tokens"]),
                    count(usage["completion_tokens_details"]["reasoning_tokens"])};
}

// The fragments of a call have the same index. Some servers send no index, or always 0: there, a
// fragment with another id begins another call.
std::optional<std::size_t> OpenAiChatReader::call_for(json::View piece) {
    std::string id = short_text(piece["id"]);
    auto const index = piece["index"].integer();
    auto const same = [&](std::int64_t other) { return !index || other == *index; };
    auto const found = std::find_if(indexes_.rbegin(), indexes_.rend(), same);
    std::string const name = short_text(piece["function"]["name"]);
    if (found != indexes_.rend()) {
        auto const number = static_cast<std::size_t>(indexes_.rend() - found) - 1;
        std::string& known = draft_.calls()[number].id;
        bool const named = piece["function"]["name"].string().has_value();
        if (id.empty() || known.empty() || known == id || !named) {
            if (known.empty()) known = std::move(id);
            return number;
        }
    }
    auto const next = draft_.begin_call(std::move(id), name);
    if (next) indexes_.push_back(index.value_or(static_cast<std::int64_t>(*next)));
    return next;
}

void OpenAiChatReader::take_call(json::View piece) {
    auto const call = call_for(piece);
    if (!call) return;
    json::View const function = piece["function"];
    draft_.name_call(*call, short_text(function["name"]));
    draft_.add_arguments(*call, function["arguments"].string_or(""));
}

ModelOutcome OpenAiChatReader::finish() {
    if (finish_.empty()) return draft_.cut_off();
    if (finish_ == "length") return draft_.whole(FinishReason::length);
    if (finish_ == "content_filter") return draft_.whole(FinishReason::refusal);
    if (finish_ == "tool_calls" && draft_.calls().empty()) return draft_.without_calls();
    // Smaller servers send "eos" and the like for stop.
    bool const known = finish_ == "stop" || finish_ == "tool_calls" || finish_.starts_with("eos") ||
                       finish_ == "stop_sequence";
    if (!known) return draft_.ended_with(finish_);
    return draft_.whole(refused_ ? FinishReason::refusal : FinishReason::stop, !refused_);
}

}  // namespace

std::unique_ptr<ReplyReader> OpenAiChat::reader(Provider const& provider, ToolNames const& names,
                                                ReplyDraft::OnDelta& on_delta) const {
    return std::make_unique<OpenAiChatReader>(provider, names, on_delta);
}

}  // namespace dormouse::model
