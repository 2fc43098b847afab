#include "model/providers/anthropic.h"

#include <map>
#include <utility>

namespace dormouse::model {

using agent::ModelOutcome;
using agent::ModelTrouble;
using port::Delta;
using session::FinishReason;

namespace {

class AnthropicReader final : public ReplyReader {
public:
    using ReplyReader::ReplyReader;

    std::optional<ModelTrouble> take(json::View chunk) override;
    ModelOutcome finish() override;
    bool complete() const override { return !stop_.empty(); }
    bool ended() const override { return ended_; }

private:
    enum class Kind : std::uint8_t { text, thinking, call, unknown };
    // An unfinished content block.
    struct Open {
        Kind kind = Kind::unknown;
        std::size_t number = 0;  // of the draft's block or call
        std::string signature;
        std::string input;  // the input in the first event; usually empty, because the rest follows
    };

    void take_usage(json::View usage);
    void begin_block(std::int64_t index, json::View block);
    void begin_call(Open& open, json::View block);
    void take_delta(Open& open, json::View delta);
    void end_block(Open const& open);

    std::map<std::int64_t, Open> open_;
    std::int64_t input_ = 0;
    std::int64_t cache_read_ = 0;
    std::int64_t cache_written_ = 0;
    std::string stop_;  // empty: not reported
    bool ended_ = false;
};

std::optional<ModelTrouble> AnthropicReader::take(json::View chunk) {
    std::string const type = short_text(chunk["type"]);
    std::int64_t const index = chunk["index"].integer_or(0);
    if (type == "message_start") {
        take_usage(chunk["message"]["usage"]);
    } else if (type == "content_block_start") {
        if (open_.contains(index)) return provider_.passing("a part of the reply started twice");
        begin_block(index, chunk["content_block"]);
    } else if (type == "content_block_delta") {
        if (auto const found = open_.find(index); found != open_.end())
            take_delta(found->second, chunk["delta"]);
    } else if (type == "content_block_stop") {
        if (auto const closed = open_.extract(index)) end_block(closed.mapped());
    } else if (type == "message_delta") {
        take_usage(chunk["usage"]);
        if (auto reason = short_text(chunk["delta"]["stop_reason"]); !reason.empty())
            stop_ = std::move(reason);
    } else if (type == "message_stop") {
        ended_ = true;
    }
    return draft_.failed();
}

// Each number is the newest total. input_tokens does not include tokens read from or written to the
// cache.
void AnthropicReader::take_usage(json::View usage) {
    auto const update = [&](std::string_view name, std::int64_t& to) {
        if (usage[name].integer()) to = count(usage[name]);
    };
    update("input_tokens", input_);
    update("cache_read_input_tokens", cache_read_);
    update("cache_creation_input_tokens", cache_written_);
    update("output_tokens", draft_.usage.output_tokens);
    draft_.usage.input_tokens = input_ + cache_read_ + cache_written_;
    draft_.usage.cached_tokens = cache_read_;
    draft_.usage.cache_written_tokens = cache_written_;
}

void AnthropicReader::begin_block(std::int64_t index, json::View block) {
    std::string const type = short_text(block["type"]);
    Open open;
    if (type == "text") {
        open = {Kind::text, draft_.begin(Delta::Kind::text), {}, {}};
        draft_.add(open.number, block["text"].string_or(""));
    } else if (type == "thinking") {
        open = {Kind::thinking,
                draft_.begin(Delta::Kind::reasoning),
                block["signature"].string_or(""),
                {}};
        draft_.add(open.number, block["thinking"].string_or(""));
    } else if (type == "redacted_thinking") {
        json::Writer data;
        data.begin_object().member("redacted", block["data"].string_or("")).end_object();
        draft_.keep(draft_.begin(Delta::Kind::reasoning), json::View(data.text()));
    } else if (type == "tool_use") {
        begin_call(open, block);
    }
    open_[index] = std::move(open);
}

void AnthropicReader::begin_call(Open& open, json::View block) {
    auto const call = draft_.begin_call(short_text(block["id"]), short_text(block["name"]));
    if (!call) return;
    open = {Kind::call, *call, {}, {}};
    if (block["input"].size() != 0) open.input = block["input"].raw();
}

void AnthropicReader::take_delta(Open& open, json::View delta) {
    if (open.kind == Kind::text) draft_.add(open.number, delta["text"].string_or(""));
    if (open.kind == Kind::thinking) {
        draft_.add(open.number, delta["thinking"].string_or(""));
        std::string const more = delta["signature"].string_or("");
        draft_.weigh(more.size());
        open.signature += more;
    }
    if (open.kind == Kind::call) {
        if (auto more = delta["partial_json"].string_or(""); !more.empty()) {
            open.input.clear();
            draft_.add_arguments(open.number, std::move(more));
        }
    }
}

void AnthropicReader::end_block(Open const& open) {
    if (open.kind == Kind::call) draft_.add_arguments(open.number, open.input);
    if (open.kind == Kind::thinking && !open.signature.empty()) {
        json::Writer data;
        data.begin_object().member("signature", open.signature).end_object();
        draft_.keep(open.number, json::View(data.text()));
    }
}

ModelOutcome AnthropicReader::finish() {
    if (stop_.empty()) return draft_.cut_off();
    if (stop_ == "max_tokens" || stop_ == "model_context_window_exceeded")
        return draft_.whole(FinishReason::length);
    if (stop_ == "refusal") return draft_.whole(FinishReason::refusal);
    if (!open_.empty()) return draft_.cut_off();
    if (stop_ == "tool_use" && draft_.calls().empty()) return draft_.without_calls();
    if (stop_ == "end_turn" || stop_ == "stop_sequence" || stop_ == "tool_use")
        return draft_.whole(FinishReason::stop, true);
    return draft_.ended_with(stop_);
}

}  // namespace

std::unique_ptr<ReplyReader> Anthropic::reader(Provider const& provider, ToolNames const& names,
                                               ReplyDraft::OnDelta& on_delta) const {
    return std::make_unique<AnthropicReader>(provider, names, on_delta);
}

}  // namespace dormouse::model
