#include "app/parts/models.h"

#include "agent/demo.h"
#include "json/json.h"
#include "model/http_model.h"
#include "model/providers/anthropic.h"
#include "model/providers/gemini.h"
#include "model/providers/ollama.h"
#include "model/providers/openai_chat.h"
#include "model/providers/openai_responses.h"

#include <algorithm>

namespace dormouse::app {

namespace {

// The kind's default URL, and members of `extra` that Dormouse sets itself.
struct Kind {
    std::string_view base_url;
    std::vector<std::string_view> ours;
};

Kind kind_of(config::ModelKind kind) {
    switch (kind) {
        case config::ModelKind::anthropic:
            return {model::Anthropic::own_url, {"messages", "tools", "system", "stream"}};
        case config::ModelKind::openai_responses:
            return {model::OpenAiResponses::own_url,
                    {"input", "tools", "instructions", "stream", "store", "background",
                     "previous_response_id", "conversation"}};
        case config::ModelKind::gemini:
            return {model::Gemini::own_url, {"contents", "tools", "systemInstruction"}};
        case config::ModelKind::ollama:
            return {model::Ollama::own_url, {"messages", "tools", "stream"}};
        default: return {model::OpenAiChat::own_url, {"messages", "tools", "stream", "n"}};
    }
}

std::unique_ptr<model::Protocol const> protocol_of(config::Model const& settings,
                                                   std::string_view base_url) {
    // Among providers with chat completions only OpenAI is known to accept files.
    bool const foreign =
        settings.kind == config::ModelKind::openai_chat && base_url != model::OpenAiChat::own_url;
    model::RequestSettings request{settings.model, settings.max_output_tokens, settings.extra,
                                   settings.images, settings.files.value_or(!foreign)};
    switch (settings.kind) {
        case config::ModelKind::anthropic:
            return std::make_unique<model::Anthropic>(std::move(request));
        case config::ModelKind::openai_responses:
            return std::make_unique<model::OpenAiResponses>(std::move(request));
        case config::ModelKind::gemini: return std::make_unique<model::Gemini>(std::move(request));
        case config::ModelKind::ollama: return std::make_unique<model::Ollama>(std::move(request));
        default:
            return std::make_unique<model::OpenAiChat>(std::move(request),
                                                       base_url == model::OpenAiChat::own_url);
    }
}

// The context window includes the reply: an eighth is kept for it if it has no limit.
std::optional<std::uint64_t> request_tokens(config::Model const& settings) {
    if (!settings.context_tokens) return std::nullopt;
    std::uint32_t const all = *settings.context_tokens;
    return all - std::min(all, settings.max_output_tokens.value_or(all / 8));
}

// The tokens of a cache cost as much as others unless they have a price of their own.
std::optional<session::Prices> prices_of(config::Model const& settings) {
    if (!settings.input_price) return std::nullopt;
    config::Price const input = *settings.input_price;
    return session::Prices{settings.currency, input.micros,
                           settings.output_price.value_or(config::Price()).micros,
                           settings.cache_read_price.value_or(input).micros,
                           settings.cache_write_price.value_or(input).micros};
}

std::shared_ptr<agent::Model> http_model(config::Model const& settings,
                                         ToolServices const& services) {
    model::HttpModelOptions options;
    options.id = settings.id;
    options.base_url =
        settings.base_url.empty() ? kind_of(settings.kind).base_url : settings.base_url;
    if (settings.api_key) options.api_key = settings.api_key->value;
    for (config::Header const& header : settings.headers)
        options.headers.push_back({header.name, header.value});
    options.limits = {.concurrency = settings.concurrency,
                      .retries = settings.retries,
                      .request_tokens = request_tokens(settings),
                      .time_limit = settings.timeout,
                      .prices = prices_of(settings)};
    auto protocol = protocol_of(settings, options.base_url);
    return std::make_shared<model::HttpModel>(services.http, services.clock, std::move(protocol),
                                              std::move(options));
}

}  // namespace

Result<void> check_model(config::Model const& settings) {
    if (settings.kind == config::ModelKind::scripted) return {};
    for (std::string_view const name : kind_of(settings.kind).ours) {
        if (json::View(settings.extra)[name].exists()) {
            return fail(Code::bad_value, "extra." + std::string(name) +
                                             " cannot be set: Dormouse writes it; leave it out");
        }
    }
    return {};
}

std::shared_ptr<agent::Model> make_model(config::Model const& settings,
                                         ToolServices const& services) {
    if (settings.kind == config::ModelKind::scripted)
        return std::make_shared<agent::DemoModel>(prices_of(settings));
    return http_model(settings, services);
}

}  // namespace dormouse::app
