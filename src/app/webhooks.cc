#include "app/webhooks.h"

namespace dormouse::app {

namespace {

webhook::Kind kind_of(config::SourceKind kind) {
    switch (kind) {
        case config::SourceKind::standard: break;
        case config::SourceKind::hmac: return webhook::Kind::hmac;
        case config::SourceKind::github: return webhook::Kind::github;
        case config::SourceKind::slack: return webhook::Kind::slack;
    }
    return webhook::Kind::standard;
}

}  // namespace

std::vector<webhook::Source> webhook_sources(config::Config const& config) {
    std::vector<webhook::Source> out;
    for (config::Source const& source : config.sources) {
        if (source.secrets.empty()) continue;
        webhook::Source made{.id = source.id,
                             .kind = kind_of(source.kind),
                             .project = source.project,
                             .tools = source.tools,
                             .pending = source.pending,
                             .external_ref = source.external_ref,
                             .output = source.output,
                             .error = source.error,
                             .title = source.title,
                             .when = source.when};
        for (config::Secret const& secret : source.secrets) made.secrets.push_back(secret.value);
        out.push_back(std::move(made));
    }
    return out;
}

}  // namespace dormouse::app
