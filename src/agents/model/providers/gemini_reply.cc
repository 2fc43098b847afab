#include "model/providers/gemini.h"

#include <algorithm>
#include <array>
#include <utility>

namespace dormouse::model {

using agent::ModelOutcome;
using agent::ModelTrouble;
using port::Delta;
using session::FinishReason;

namespace {

class GeminiReader final : public ReplyReader {
public:
    using ReplyReader::ReplyReader;

    std::optional<ModelTrouble> take(json::View chunk) override;
    ModelOutcome finish() override;
    bool complete() const override { return !finish_.empty(); }
    bool ended() const override { return false; }  // the usage may follow

private:
    void take_usage(json::View usage);
    void take_part(json::View part);
    void take_text(json::View part);
    void take_call(json::View part);

    std::string finish_;  // empty: not reported
};

std::optional<ModelTrouble> GeminiReader::take(json::View chunk) {
    take_usage(chunk["usageMetadata"]);
    if (!short_text(chunk["promptFeedback"]["blockReason"]).empty()) finish_ = "PROHIBITED_CONTENT";
    chunk["candidates"].elements([&](json::View candidate) {
        if (candidate["index"].integer_or(0) != 0) return;
        candidate["content"]["parts"].elements([&](json::View part) {
            if (!draft_.failed()) take_part(part);
        });
        if (auto reason = short_text(candidate["finishReason"]); !reason.empty())
            finish_ = std::move(reason);
    });
    return draft_.failed();
}

void GeminiReader::take_usage(json::View usage) {
    if (usage.kind() != json::Kind::object) return;
    std::int64_t const thought = count(usage["thoughtsTokenCount"]);
    draft_.usage = {count(usage["promptTokenCount"]),
                    count(usage["candidatesTokenCount"]) + thought,
                    count(usage["cachedContentTokenCount"]), thought};
}

Json signature_data(json::View part, bool on_text) {
    json::Writer out;
    out.begin_object();
    if (auto const signature = part["thoughtSignature"].string())
        out.member("signature", *signature);
    if (on_text) out.member("text", true);
    return out.end_object().json();
}

void GeminiReader::take_part(json::View part) {
    if (part["functionCall"].kind() == json::Kind::object) return take_call(part);
    if (part["text"].string()) take_text(part);
}

// A part with a signature stays separate, because the signature covers only this part.
void GeminiReader::take_text(json::View part) {
    std::string text = part["text"].string_or("");
    bool const is_thought = part["thought"].boolean_or(false);
    auto const kind = is_thought ? Delta::Kind::reasoning : Delta::Kind::text;
    bool const is_signed = part["thoughtSignature"].string().has_value();
    if (!is_signed) {
        draft_.add(kind, std::move(text));
        return;
    }
    // People do not see an empty text.
    bool const hidden = !is_thought && text.empty();
    std::size_t const block = draft_.begin(hidden ? Delta::Kind::reasoning : kind);
    draft_.add(block, std::move(text));
    Json const data = signature_data(part, hidden);
    draft_.keep(block, json::View(data));
}

// Arguments arrive as a whole.
void GeminiReader::take_call(json::View part) {
    json::View const function = part["functionCall"];
    auto const call = draft_.begin_call(short_text(function["id"]), short_text(function["name"]));
    if (!call) return;
    json::View const args = function["args"];
    if (args.exists()) draft_.add_arguments(*call, std::string(args.raw()));
    if (!part["thoughtSignature"].string()) return;
    Json const data = signature_data(part, false);
    draft_.keep_for_call(*call, json::View(data));
}

ModelOutcome GeminiReader::finish() {
    if (finish_.empty()) return draft_.cut_off();
    if (finish_ == "FUNCTION_CALL" && draft_.calls().empty()) return draft_.without_calls();
    // FUNCTION_CALL is sent by other servers with this protocol, not by Google.
    if (finish_ == "STOP" || finish_ == "FUNCTION_CALL")
        return draft_.whole(FinishReason::stop, true);
    if (finish_ == "MAX_TOKENS") return draft_.whole(FinishReason::length);
    constexpr std::array<std::string_view, 7> refusals{
        "SAFETY", "RECITATION", "BLOCKLIST",   "PROHIBITED_CONTENT",
        "SPII",   "LANGUAGE",   "IMAGE_SAFETY"};
    if (std::ranges::find(refusals, finish_) != refusals.end())
        return draft_.whole(FinishReason::refusal);
    return draft_.ended_with(finish_);
}

}  // namespace

std::unique_ptr<ReplyReader> Gemini::reader(Provider const& provider, ToolNames const& names,
                                            ReplyDraft::OnDelta& on_delta) const {
    return std::make_unique<GeminiReader>(provider, names, on_delta);
}

}  // namespace dormouse::model
