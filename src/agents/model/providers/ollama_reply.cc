#include "model/providers/ollama.h"

#include <utility>

namespace dormouse::model {

using agent::ModelOutcome;
using agent::ModelTrouble;
using port::Delta;
using session::FinishReason;

namespace {

class OllamaReader final : public ReplyReader {
public:
    using ReplyReader::ReplyReader;

    std::optional<ModelTrouble> take(json::View chunk) override;
    ModelOutcome finish() override;
    bool complete() const override { return done_; }
    bool ended() const override { return done_; }

private:
    void take_call(json::View made);

    // The order of the two has no meaning: each is one block.
    std::size_t const thinking_ = draft_.begin(Delta::Kind::reasoning);
    std::size_t const text_ = draft_.begin(Delta::Kind::text);
    std::string reason_;
    bool done_ = false;
};

std::optional<ModelTrouble> OllamaReader::take(json::View chunk) {
    json::View const message = chunk["message"];
    draft_.add(thinking_, message["thinking"].string_or(""));
    draft_.add(text_, message["content"].string_or(""));
    message["tool_calls"].elements([&](json::View call) {
        if (!draft_.failed()) take_call(call);
    });
    if (chunk["done"].boolean_or(false)) {
        done_ = true;
        reason_ = short_text(chunk["done_reason"]);
        draft_.usage.input_tokens = count(chunk["prompt_eval_count"]);
        draft_.usage.output_tokens = count(chunk["eval_count"]);
    }
    return draft_.failed();
}

// Arguments arrive as a whole, as an object; some proxies write them as a string.
void OllamaReader::take_call(json::View made) {
    json::View const function = made["function"];
    auto const call = draft_.begin_call(short_text(made["id"]), short_text(function["name"]));
    if (!call) return;
    json::View const arguments = function["arguments"];
    if (auto text = arguments.string()) {
        draft_.add_arguments(*call, std::move(*text));
    } else if (arguments.exists()) {
        draft_.add_arguments(*call, std::string(arguments.raw()));
    }
}

ModelOutcome OllamaReader::finish() {
    if (!done_) return draft_.cut_off();
    if (!draft_.text_of(thinking_).empty()) {
        Json const marked = Json::trusted("{}");  // there is no data except where it came from
        draft_.keep(thinking_, json::View(marked));
    }
    if (reason_ == "length") return draft_.whole(FinishReason::length);
    if (reason_.empty() || reason_ == "stop" || reason_ == "tool_calls")
        return draft_.whole(FinishReason::stop, true);
    return draft_.ended_with(reason_);
}

}  // namespace

std::unique_ptr<ReplyReader> Ollama::reader(Provider const& provider, ToolNames const& names,
                                            ReplyDraft::OnDelta& on_delta) const {
    return std::make_unique<OllamaReader>(provider, names, on_delta);
}

}  // namespace dormouse::model
