#pragma once
// OpenAI-compatible chat completions.

#include "model/protocol.h"

namespace dormouse::model {

class OpenAiChat final : public Protocol {
public:
    static constexpr std::string_view own_url = "https://api.openai.com/v1";

    // `max_completion_tokens`: use the newer name of the limit, which OpenAI requires and most
    // other servers do not know.
    explicit OpenAiChat(RequestSettings settings, bool max_completion_tokens = false)
        : Protocol("openai-chat", std::move(settings)),
          max_completion_tokens_(max_completion_tokens) {}

    [[nodiscard]] Framing framing() const override { return Framing::events; }
    [[nodiscard]] std::string path() const override { return "/chat/completions"; }
    [[nodiscard]] std::vector<port::HttpHeader> headers(std::string const& api_key) const override {
        return bearer(api_key);
    }
    [[nodiscard]] std::string body(agent::Question const& question,
                                   ToolNames const& names) const override;
    [[nodiscard]] std::unique_ptr<ReplyReader> reader(Provider const& provider,
                                                      ToolNames const& names,
                                                      ReplyDraft::OnDelta& on_delta) const override;

private:
    bool const max_completion_tokens_;
};

}  // namespace dormouse::model
