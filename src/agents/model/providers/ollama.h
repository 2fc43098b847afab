#pragma once
// Ollama's own API, /api/chat.

#include "model/protocol.h"

namespace dormouse::model {

class Ollama final : public Protocol {
public:
    static constexpr std::string_view own_url = "http://127.0.0.1:11434";

    explicit Ollama(RequestSettings settings) : Protocol("ollama", std::move(settings)) {}

    [[nodiscard]] Framing framing() const override { return Framing::lines; }
    [[nodiscard]] std::string path() const override { return "/api/chat"; }
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
