#include "model/providers/openai_responses.h"

#include <map>
#include <utility>

namespace dormouse::model {

using agent::ModelOutcome;
using agent::ModelTrouble;
using port::Delta;
using session::FinishReason;

namespace {

class OpenAiResponsesReader final : public ReplyReader {
public:
    using ReplyReader::ReplyReader;

    std::optional<ModelTrouble> take(json::View chunk) override;
    ModelOutcome finish() override;
    bool complete() const override { return !status_.empty(); }
    bool ended() const override { return complete(); }

private:
    enum class Kind : std::uint8_t { message, reasoning, call, unknown };
    // An unfinished item of the output.
    struct Open {
        Kind kind = Kind::unknown;
        std::size_t number = 0;  // of the draft's block or call
    };

    [[nodiscard]] std::optional<ModelTrouble> take_end(std::string_view type, json::View chunk);
    void begin_item(std::int64_t index, json::View item);
    void take_delta(std::string_view type, Open const& open, json::View chunk);
    void end_item(Open const& open, json::View item);
    void end_message(std::size_t block, json::View item);
    void end_reasoning(std::size_t block, json::View item);
    void end_call(std::size_t call, json::View item);

    std::map<std::int64_t, Open> open_;
    std::string status_;  // empty: not reported
    std::string why_;     // why a reply is incomplete
    bool refused_ = false;
};

std::optional<ModelTrouble> OpenAiResponsesReader::take(json::View chunk) {
    std::string const type = short_text(chunk["type"]);
    std::int64_t const index = chunk["output_index"].integer_or(0);
    if (type == "response.output_item.added") {
        if (open_.contains(index)) return provider_.passing("a part of the reply started twice");
        begin_item(index, chunk["item"]);
    } else if (type == "response.output_item.done") {
        if (!open_.contains(index)) begin_item(index, chunk["item"]);
        end_item(open_.extract(index).mapped(), chunk["item"]);
    } else if (auto const found = open_.find(index); found != open_.end()) {
        take_delta(type, found->second, chunk);
    }
    auto failed = take_end(type, chunk);
    return failed ? failed : draft_.failed();
}

std::optional<ModelTrouble> OpenAiResponsesReader::take_end(std::string_view type,
                                                            json::View chunk) {
    json::View const response = chunk["response"];
    if (type == "error") return provider_.failed_midway(chunk.raw());
    if (type == "response.failed") return provider_.failed_midway(response.raw());
    if (type != "response.completed" && type != "response.incomplete") return std::nullopt;
    status_ = type;
    why_ = short_text(response["incomplete_details"]["reason"]);
    json::View const usage = response["usage"];
    draft_.usage = {count(usage["input_tokens"]), count(usage["output_tokens"]),
                    count(usage["input_tokens_details"]["cached_tokens"]),
                    count(usage["output_tokens_details"]["reasoning_tokens"])};
    return std::nullopt;
}

void OpenAiResponsesReader::begin_item(std::int64_t index, json::View item) {
    std::string const type = short_text(item["type"]);
    Open open;
    if (type == "message") {
        open = {Kind::message, draft_.begin(Delta::Kind::text)};
    } else if (type == "reasoning") {
        open = {Kind::reasoning, draft_.begin(Delta::Kind::reasoning)};
    } else if (type == "function_call") {
        auto const call = draft_.begin_call(short_text(item["call_id"]), short_text(item["name"]));
        if (call) open = {Kind::call, *call};
    }
    open_[index] = open;
}

void OpenAiResponsesReader::take_delta(std::string_view type, Open const& open, json::View chunk) {
    bool const refusal = type == "response.refusal.delta";
    if (open.kind == Kind::message && (refusal || type == "response.output_text.delta")) {
        refused_ |= refusal;
        draft_.add(open.number, chunk["delta"].string_or(""));
    } else if (open.kind == Kind::reasoning) {
        bool const next = type == "response.reasoning_summary_part.added";
        if (next && !draft_.text_of(open.number).empty()) draft_.add(open.number, "\n\n");
        if (type == "response.reasoning_summary_text.delta" ||
            type == "response.reasoning_text.delta")
            draft_.add(open.number, chunk["delta"].string_or(""));
    } else if (open.kind == Kind::call && type == "response.function_call_arguments.delta") {
        draft_.add_arguments(open.number, chunk["delta"].string_or(""));
    }
}

// Reads a finished item; deltas may have delivered it already.
void OpenAiResponsesReader::end_item(Open const& open, json::View item) {
    if (open.kind == Kind::message) end_message(open.number, item);
    if (open.kind == Kind::reasoning) end_reasoning(open.number, item);
    if (open.kind == Kind::call) end_call(open.number, item);
}

void OpenAiResponsesReader::end_message(std::size_t block, json::View item) {
    bool const has_text = !draft_.text_of(block).empty();
    item["content"].elements([&](json::View content) {
        bool const refusal = content["type"].string_or("") == "refusal";
        refused_ |= refusal;
        if (!has_text) draft_.add(block, content[refusal ? "refusal" : "text"].string_or(""));
    });
    if (!item["phase"].exists() || item["phase"].is_null()) return;
    Json const data =
        json::Writer().begin_object().member_raw("phase", item["phase"].raw()).end_object().json();
    draft_.keep(block, json::View(data));
}

// Keeps the item to return it later, without its status, which the API refuses.
void OpenAiResponsesReader::end_reasoning(std::size_t block, json::View item) {
    if (draft_.text_of(block).empty()) {
        item["summary"].elements(
            [&](json::View part) { draft_.add(block, part["text"].string_or("")); });
    }
    if (!item["encrypted_content"].string()) return;
    json::Writer data;
    data.begin_object().key("item").begin_object();
    item.members([&](std::string_view name, json::View value) {
        if (name != "status") data.member_raw(name, value.raw());
    });
    data.end_object().end_object();
    draft_.keep(block, json::View(data.text()));
}

void OpenAiResponsesReader::end_call(std::size_t call, json::View item) {
    ReplyDraft::Call& known = draft_.calls()[call];
    draft_.name_call(call, short_text(item["name"]));
    if (known.id.empty()) known.id = short_text(item["call_id"]);
    if (known.arguments.empty()) draft_.add_arguments(call, item["arguments"].string_or(""));
}

ModelOutcome OpenAiResponsesReader::finish() {
    if (status_.empty()) return draft_.cut_off();
    if (status_ == "response.incomplete") {
        if (why_ == "max_output_tokens") return draft_.whole(FinishReason::length);
        if (why_ == "content_filter") return draft_.whole(FinishReason::refusal);
        return draft_.ended_with(why_);
    }
    if (!open_.empty()) return draft_.cut_off();
    return draft_.whole(refused_ ? FinishReason::refusal : FinishReason::stop, !refused_);
}

}  // namespace

std::unique_ptr<ReplyReader> OpenAiResponses::reader(Provider const& provider,
                                                     ToolNames const& names,
                                                     ReplyDraft::OnDelta& on_delta) const {
    return std::make_unique<OpenAiResponsesReader>(provider, names, on_delta);
}

}  // namespace dormouse::model
