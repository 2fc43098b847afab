#pragma once
// Anthropic's Messages API.

#include "model/protocol.h"

namespace dormouse::model {

class Anthropic final : public Protocol {
public:
    static constexpr std::string_view own_url = "https://api.anthropic.com/v1";

    explicit Anthropic(RequestSettings settings) : Protocol("anthropic", std::move(settings)) {}

    [[nodiscard]] Framing framing() const override { return Framing::events; }
    [[nodiscard]] std::string path() const override { return "/messages"; }
    [[nodiscard]] std::vector<port::HttpHeader> headers(std::string const& api_key) const override;
    [[nodiscard]] std::string body(agent::Question const& question,
                                   ToolNames const& names) const override;
    [[nodiscard]] std::unique_ptr<ReplyReader> reader(Provider const& provider,
                                                      ToolNames const& names,
                                                      ReplyDraft::OnDelta& on_delta) const override;
};

}  // namespace dormouse::model
