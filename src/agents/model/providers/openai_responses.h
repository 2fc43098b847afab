#pragma once
// OpenAI's Responses API, used without state: the provider stores nothing; its reasoning comes
// encrypted and is returned to it.

#include "model/protocol.h"

namespace dormouse::model {

class OpenAiResponses final : public Protocol {
public:
    static constexpr std::string_view own_url = "https://api.openai.com/v1";

    explicit OpenAiResponses(RequestSettings settings)
        : Protocol("openai-responses", std::move(settings)) {}

    [[nodiscard]] Framing framing() const override { return Framing::events; }
    [[nodiscard]] std::string path() const override { return "/responses"; }
    [[nodiscard]] std::vector<port::HttpHeader> headers(std::string const& api_key) const override {
        return bearer(api_key);
    }
    [[nodiscard]] std::string body(agent::Question const& question,
                                   ToolNames const& names) const override;
    [[nodiscard]] std::unique_ptr<ReplyReader> reader(Provider const& provider,
                                                      ToolNames const& names,
                                                      ReplyDraft::OnDelta& on_delta) const override;
};

}  // namespace dormouse::model
