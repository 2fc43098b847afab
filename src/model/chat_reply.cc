#include "model/chat_reply.h"

#include "json/json.h"

#include <algorithm>
#include <utility>

namespace dormouse::model {

using agent::ModelOutcome;
using agent::ModelTrouble;
using port::Delta;
using session::FinishReason;

namespace {

constexpr std::size_t name_max = 256;  // bytes of a call's id and tool

std::string short_text(json::View value) {
    std::string text = value.string_or("");
    if (text.size() > name_max) text.resize(name_max);
    return text;
}

std::int64_t count(json::View value) { return std::max<std::int64_t>(value.integer_or(0), 0); }

}  // namespace

std::optional<ModelTrouble> ChatReply::take(std::string_view data, port::Fn<void(Delta)>& delta) {
    auto const json = json::check(data);
    if (!json)
        return provider_.passing("the stream holds what can not be read: " + json.error().detail);
    json::View const chunk(*json);
    if (json::View const error = chunk["error"]; error.exists() && !error.is_null())
        return provider_.failed_midway(data);
    take_usage(chunk["usage"]);
    std::optional<ModelTrouble> failed;
    chunk["choices"].elements([&](json::View choice) {
        if (failed || choice["index"].integer_or(0) != 0) return;
        json::View const said = choice["delta"];
        for (std::string_view const name : {"reasoning_content", "reasoning"})
            say(Delta::Kind::reasoning, said[name].string_or(""), reasoning_, delta);
        say(Delta::Kind::text, said["content"].string_or(""), text_, delta);
        if (auto refusal = said["refusal"].string_or(""); !refusal.empty()) {
            refused_ = true;
            say(Delta::Kind::text, std::move(refusal), text_, delta);
        }
        said["tool_calls"].elements([&](json::View piece) {
            if (!failed) failed = take_call(piece, delta);
        });
        if (auto reason = short_text(choice["finish_reason"]); !reason.empty())
            finish_ = std::move(reason);
    });
    if (!failed && bytes_ > limits_.reply_max) {
        failed = provider_.trouble("the reply is larger than " + std::to_string(limits_.reply_max) +
                                   " bytes");
    }
    return failed;
}

void ChatReply::take_usage(json::View usage) {
    if (usage.kind() != json::Kind::object) return;
    json::View const details = usage["prompt_tokens_details"]["cached_tokens"];
    usage_ = {count(usage["prompt_tokens"]), count(usage["completion_tokens"]),
              count(details.exists() ? details : usage["prompt_cache_hit_tokens"])};
}

void ChatReply::say(Delta::Kind kind, std::string text, std::string& to,
                    port::Fn<void(Delta)>& delta) {
    if (text.empty()) return;
    bytes_ += text.size();
    to += text;
    delta({kind, std::move(text)});
}

// Fragments of a call share its index. Some servers give none, or 0 to all: a fragment with another
// id begins another call.
ChatReply::Call* ChatReply::call_for(json::View piece) {
    std::string id = short_text(piece["id"]);
    auto const index = piece["index"].integer();
    auto const same = [&](Call const& call) { return !index || call.index == *index; };
    auto const found = std::find_if(calls_.rbegin(), calls_.rend(), same);
    bool const other = found != calls_.rend() && !id.empty() && !found->id.empty() &&
                       found->id != id && piece["function"]["name"].string();
    if (found != calls_.rend() && !other) {
        if (found->id.empty()) found->id = std::move(id);
        return &*found;
    }
    if (calls_.size() == limits_.calls_max) return nullptr;
    auto const next = static_cast<std::int64_t>(calls_.size());
    return &calls_.emplace_back(Call{index.value_or(next), std::move(id), {}, {}});
}

std::optional<ModelTrouble> ChatReply::take_call(json::View piece, port::Fn<void(Delta)>& delta) {
    Call* const call = call_for(piece);
    if (!call) {
        return provider_.trouble("the model asked for more than " +
                                 std::to_string(limits_.calls_max) + " calls at once");
    }
    json::View const function = piece["function"];
    if (call->tool.empty()) call->tool = names_.from_provider(short_text(function["name"]));
    std::string more = function["arguments"].string_or("");
    bytes_ += more.size();
    call->arguments += more;
    if (call->arguments.size() > limits_.arguments_max) {
        return provider_.trouble("the arguments of a call of '" + call->tool +
                                 "' are larger than " + std::to_string(limits_.arguments_max) +
                                 " bytes");
    }
    auto const number = static_cast<std::uint32_t>(call - calls_.data() + 1);
    if (!more.empty()) delta({Delta::Kind::input, std::move(more), number, call->tool});
    return std::nullopt;
}

ModelOutcome ChatReply::finish() {
    if (finish_.empty())
        return provider_.passing("the stream ended before the reply did; nothing of it was used");
    if (finish_ == "length") return whole(FinishReason::length, false);
    if (finish_ == "content_filter") return whole(FinishReason::refusal, false);
    if (finish_ == "tool_calls" && calls_.empty())
        return provider_.passing("the model said that it calls tools, and called none");
    // "eos" and the like are what smaller servers say for stop.
    bool const known = finish_ == "stop" || finish_ == "tool_calls" || finish_.starts_with("eos") ||
                       finish_ == "stop_sequence";
    if (!known) return provider_.passing("the reply ended with '" + finish_ + "'");
    return whole(refused_ ? FinishReason::refusal : FinishReason::stop, !refused_);
}

ModelOutcome ChatReply::whole(FinishReason finish, bool with_calls) {
    agent::Reply reply;
    reply.text = std::move(text_);
    reply.reasoning = std::move(reasoning_);
    reply.finish = finish;
    reply.usage = usage_;
    for (Call const& call : calls_) {
        if (with_calls) reply.calls.push_back(finished(call));
    }
    return reply;
}

agent::ModelCall ChatReply::finished(Call const& call) const {
    agent::ModelCall out{call.id, call.tool, Json::trusted("{}"), {}};
    // Without parameters some models say nothing, or null.
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
