#include "model/reply_draft.h"

#include "base/check.h"
#include "model/provider_data.h"

#include <algorithm>
#include <utility>

namespace dormouse::model {

using agent::ModelOutcome;
using session::FinishReason;

namespace {

constexpr std::size_t id_or_tool_max = 256;  // bytes of a call's id and tool

std::string bytes(std::size_t limit) { return std::to_string(limit) + " bytes"; }

}  // namespace

std::string short_text(json::View value) {
    std::string text = value.string_or("");
    if (text.size() > id_or_tool_max) text.resize(id_or_tool_max);
    return text;
}

std::int64_t count(json::View value) {
    constexpr std::int64_t tokens_max = 1'000'000'000'000;
    return std::clamp<std::int64_t>(value.integer_or(0), 0, tokens_max);
}

std::size_t ReplyDraft::begin(Kind kind) {
    if (blocks_.size() >= limits_.blocks_max && !failed_) {
        failed_ = provider_.trouble("the reply has more than " +
                                    std::to_string(limits_.blocks_max) + " parts");
    }
    if (failed_ && !blocks_.empty()) return blocks_.size() - 1;
    blocks_.push_back({kind == Kind::text ? What::text : What::reasoning, {}, {}, 0});
    return blocks_.size() - 1;
}

void ReplyDraft::add(std::size_t block, std::string more) {
    if (more.empty() || failed_) return;
    weigh(more.size());
    blocks_[block].text += more;
    bool const text = blocks_[block].what == What::text;
    on_delta_({text ? Kind::text : Kind::reasoning, std::move(more), 0, {}});
}

std::size_t ReplyDraft::add(Kind kind, std::string more) {
    What const what = kind == Kind::text ? What::text : What::reasoning;
    bool const same =
        !blocks_.empty() && blocks_.back().what == what && blocks_.back().data.is_null();
    std::size_t const block = same ? blocks_.size() - 1 : begin(kind);
    add(block, std::move(more));
    return block;
}

void ReplyDraft::keep(std::size_t block, json::View data) {
    CHECK(data.kind() == json::Kind::object);
    weigh(data.raw().size());
    blocks_[block].data = json::compact(data.copy());
}

void ReplyDraft::keep_for_call(std::size_t call, json::View data) {
    weigh(data.raw().size());
    calls_[call].data = json::compact(data.copy());
}

std::optional<std::size_t> ReplyDraft::begin_call(std::string id, std::string_view tool) {
    if (calls_.size() == limits_.calls_max) {
        failed_ = provider_.trouble("the model asked for more than " +
                                    std::to_string(limits_.calls_max) + " calls at once");
        return std::nullopt;
    }
    blocks_.push_back({What::call, {}, {}, calls_.size()});
    calls_.push_back({std::move(id), {}, {}});
    name_call(calls_.size() - 1, tool);
    return calls_.size() - 1;
}

void ReplyDraft::name_call(std::size_t call, std::string_view tool) {
    if (calls_[call].tool.empty()) calls_[call].tool = names_.from_provider(std::string(tool));
}

void ReplyDraft::add_arguments(std::size_t call, std::string more) {
    if (more.empty() || failed_) return;
    Call& to = calls_[call];
    weigh(more.size());
    to.arguments += more;
    if (to.arguments.size() > limits_.arguments_max) {
        failed_ = provider_.trouble("the arguments of a call of '" + to.tool +
                                    "' are larger than " + bytes(limits_.arguments_max));
        return;
    }
    on_delta_({Kind::input, std::move(more), static_cast<std::uint32_t>(call + 1), to.tool});
}

void ReplyDraft::weigh(std::size_t more) {
    bytes_ += more;
    if (bytes_ > limits_.reply_max && !failed_)
        failed_ = provider_.trouble("the reply is larger than " + bytes(limits_.reply_max));
}

ModelOutcome ReplyDraft::cut_off() const {
    return provider_.passing("the stream ended before the reply did; nothing of it was used");
}

ModelOutcome ReplyDraft::without_calls() const {
    CHECK(calls_.empty());
    return provider_.passing("the model announced tool calls but made none");
}

ModelOutcome ReplyDraft::ended_with(std::string_view reason) const {
    return provider_.passing("the reply ended with '" + std::string(reason) + "'");
}

ModelOutcome ReplyDraft::whole(FinishReason finish, bool with_calls) {
    agent::Reply reply;
    reply.finish = finish;
    reply.usage = usage;
    reply.parts = parts(with_calls);
    for (Block const& block : blocks_) {
        if (block.what == What::text) reply.text += block.text;
        if (block.what == What::reasoning) reply.reasoning += block.text;
    }
    for (Call const& call : calls_) {
        if (with_calls) reply.calls.push_back(finished(call));
    }
    return reply;
}

Json ReplyDraft::parts(bool with_calls) const {
    PartsWriter out(provider_.from);
    std::size_t after = 0;
    for (Block const& block : blocks_) {
        if (block.what != What::call) {
            out.part(block.what == What::text ? "text" : "reasoning", block.text, block.data,
                     after);
        } else if (with_calls) {
            out.for_call(calls_[block.call].data, ++after);
        }
    }
    return out.take();
}

agent::ModelCall ReplyDraft::finished(Call const& call) const {
    agent::ModelCall out{call.id, call.tool, Json::trusted("{}"), {}};
    // For a call without parameters some models send nothing, or null.
    if (call.arguments.find_first_not_of(" \t\r\n") == std::string::npos) return out;
    auto input = json::check(call.arguments);
    if (!input) {
        out.input = Json::trusted(json::quote(call.arguments));
        out.unreadable = input.error().detail;
    } else if (!input->is_null()) {
        out.input = std::move(*input);
    }
    return out;
}

}  // namespace dormouse::model
