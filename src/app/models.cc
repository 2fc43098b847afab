#include "app/models.h"

#include "agent/demo.h"
#include "json/json.h"
#include "model/openai_chat.h"

namespace dormouse::app {

namespace {

constexpr std::string_view openai_url = "https://api.openai.com/v1";

// Members that the transcript and its reading depend on.
Result<void> check_extra(Json const& extra) {
    for (std::string_view const name : {"messages", "tools", "stream", "n"}) {
        if (json::View(extra)[name].exists()) {
            return fail(Code::bad_value, "extra." + std::string(name) +
                                             " can not be set: Dormouse writes it; leave it out");
        }
    }
    return {};
}

Result<std::shared_ptr<agent::Model>> openai_chat(config::Model const& settings,
                                                  Means const& means) {
    model::OpenAiChatOptions options;
    options.id = settings.id;
    options.base_url = settings.base_url.empty() ? openai_url : settings.base_url;
    if (!options.base_url.starts_with("https://") && !options.base_url.starts_with("http://"))
        return fail(Code::bad_value, "base_url must begin with https:// or http://");
    while (options.base_url.ends_with('/')) options.base_url.pop_back();
    if (settings.api_key) options.api_key = settings.api_key->value;
    for (config::Header const& header : settings.headers)
        options.headers.push_back({header.name, header.value});
    options.chat = {.model = settings.model,
                    .max_output_tokens = settings.max_output_tokens,
                    .max_completion_tokens = options.base_url == openai_url,
                    .extra = settings.extra};
    options.timeout = settings.timeout;
    options.concurrency = settings.concurrency;
    options.retries = settings.retries;
    if (auto const fits = check_extra(settings.extra); !fits) return std::unexpected(fits.error());
    return std::make_shared<model::OpenAiChat>(means.http, means.clock, std::move(options));
}

}  // namespace

Result<std::shared_ptr<agent::Model>> make_model(config::Model const& settings,
                                                 Means const& means) {
    switch (settings.kind) {
        case config::ModelKind::scripted: return std::make_shared<agent::DemoModel>();
        case config::ModelKind::openai_chat: return openai_chat(settings, means);
        default: break;
    }
    return fail(Code::bad_value, "kind \"" + std::string(text(settings.kind)) +
                                     "\" comes with a later release; leave it out until then");
}

}  // namespace dormouse::app
