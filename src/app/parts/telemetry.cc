#include "app/parts/telemetry.h"

#include "app/release.h"
#include "base/text/cut.h"
#include "base/text/split.h"
#include "base/text/text.h"
#include "base/url.h"
#include "config/values.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>

namespace dormouse::app {

namespace {

constexpr char const* endpoint_variable = "OTEL_EXPORTER_OTLP_ENDPOINT";
constexpr char const* headers_variable = "OTEL_EXPORTER_OTLP_HEADERS";
constexpr char const* service_variable = "OTEL_SERVICE_NAME";
constexpr char const* metrics_variable = "OTEL_METRICS_EXPORTER";
constexpr char const* interval_variable = "OTEL_METRIC_EXPORT_INTERVAL";
constexpr std::int64_t interval_default_ms = 60'000;
constexpr std::int64_t interval_min_ms = 1'000;
constexpr std::int64_t interval_max_ms = 86'400'000;

std::string environment_text(char const* name) {
    char const* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

// The file comes first.
std::string endpoint_of(config::Telemetry const& telemetry) {
    if (!telemetry.endpoint.empty()) return telemetry.endpoint;
    std::string out = environment_text(endpoint_variable);
    while (out.ends_with('/')) out.pop_back();
    return out;
}

bool may_be_sent(std::string_view value) {
    return std::ranges::none_of(value, [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

// "name=value,name=value", values with percent escapes. The error does not repeat the text, which
// may hold a secret.
Result<std::vector<port::HttpHeader>> headers_of_variable() {
    std::string const text = environment_text(headers_variable);
    std::vector<port::HttpHeader> out;
    for (std::string_view const one : split_list(text, ',')) {
        std::size_t const equals = one.find('=');
        auto const value =
            percent_decode(trimmed(equals == std::string_view::npos ? "" : one.substr(equals + 1)));
        std::string name(trimmed(one.substr(0, std::min(equals, one.size()))));
        bool const named = !name.empty() && name.find_first_of(" :\t") == std::string::npos;
        if (equals == std::string_view::npos || !value || !named || !may_be_sent(*value) ||
            !may_be_sent(name))
            return fail(Code::bad_value, std::string(headers_variable) +
                                             ": must be NAME=VALUE,NAME=VALUE, with %XX for "
                                             "characters that are not plain");
        out.push_back({std::move(name), *value});
    }
    return out;
}

std::vector<port::HttpHeader> headers_of(config::Telemetry const& telemetry) {
    if (telemetry.headers.empty())
        return headers_of_variable().value_or(std::vector<port::HttpHeader>());
    std::vector<port::HttpHeader> out;
    for (config::Header const& header : telemetry.headers)
        out.push_back({header.name, header.value});
    return out;
}

telemetry::Resource resource_of(config::Telemetry const& telemetry, port::Entropy& entropy) {
    std::string service = telemetry.service;
    if (std::string named = environment_text(service_variable);
        !named.empty() && service == config::Telemetry().service)
        service = std::move(named);
    Random const random = entropy.random();
    return {std::move(service), release(), hex(std::span(random).first(16))};
}

telemetry::Exporter::Options export_options(config::Telemetry const& telemetry,
                                            telemetry::Resource resource) {
    return {.url = endpoint_of(telemetry) + "/v1/traces",
            .headers = headers_of(telemetry),
            .resource = std::move(resource),
            .spans_max = telemetry.queue_spans,
            .bytes_max = telemetry.queue_bytes};
}

// nullopt: the variable has another value.
std::optional<Duration> interval_of_variable() {
    std::string const text = environment_text(interval_variable);
    std::int64_t ms = interval_default_ms;
    auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
    bool const whole = text.empty() || (error == std::errc() && end == text.data() + text.size());
    bool const fits = ms >= interval_min_ms && ms <= interval_max_ms;
    return whole && fits ? std::optional(Duration(ms)) : std::nullopt;
}

bool sends_metrics() { return environment_text(metrics_variable) != "none"; }

std::unique_ptr<telemetry::MeasureExporter> measure_exporter(config::Config const& config,
                                                             runtime::NodeServices& services,
                                                             telemetry::Resource resource) {
    if (!sends_metrics()) return nullptr;
    return std::make_unique<telemetry::MeasureExporter>(
        telemetry::MeasureExporter::Services{services.loop, services.clock, services.http},
        telemetry::MeasureExporter::Options{
            .url = endpoint_of(config.telemetry) + "/v1/metrics",
            .headers = headers_of(config.telemetry),
            .resource = std::move(resource),
            .every = interval_of_variable().value_or(Duration(interval_default_ms))});
}

std::string_view provider_of(config::ModelKind kind) {
    switch (kind) {
        case config::ModelKind::scripted: return "dormouse";
        case config::ModelKind::openai_chat:
        case config::ModelKind::openai_responses: return "openai";
        case config::ModelKind::anthropic: return "anthropic";
        case config::ModelKind::gemini: return "gcp.gemini";
        case config::ModelKind::ollama: return "ollama";
    }
    return "";
}

telemetry::SpanOptions span_options(config::Config const& config) {
    return {.rules = trace_rules(config),
            .content = config.telemetry.content,
            .model_of = [&config](std::string const& agent) { return model_name(config, agent); }};
}

// A URL may hold a secret in its path.
std::string shown_target(std::string_view target) {
    auto const url = parse_url(target);
    return url ? url->origin() : std::string(target);
}

}  // namespace

telemetry::ModelName model_name(config::Config const& config, std::string const& agent) {
    auto const asks = std::ranges::find(config.agents, agent, &config::Agent::id);
    if (asks == config.agents.end()) return {"dormouse", "scripted"};
    auto const model = std::ranges::find(config.models, asks->model, &config::Model::id);
    if (model == config.models.end()) return {"dormouse", "scripted"};
    return {provider_of(model->kind), model->model.empty() ? model->id : model->model};
}

Result<void> check_telemetry(config::Config const& config) {
    if (endpoint_of(config.telemetry).empty()) return {};
    if (auto const wrong = config::misfit(config::Form::url, endpoint_of(config.telemetry)))
        return fail(Code::bad_value, std::string(endpoint_variable) + ": " + *wrong);
    if (!interval_of_variable())
        return fail(Code::bad_value, std::string(interval_variable) +
                                         ": must be milliseconds from 1000 to 86400000");
    if (std::string const how = environment_text(metrics_variable);
        !how.empty() && how != "none" && how != "otlp")
        return fail(Code::bad_value, std::string(metrics_variable) + ": must be otlp or none");
    if (!config.telemetry.headers.empty()) return {};
    if (auto headers = headers_of_variable(); !headers) return std::unexpected(headers.error());
    return {};
}

session::TraceRules trace_rules(config::Config const& config) {
    constexpr std::uint32_t of_a_percent = session::TraceRules::all / 100;
    return {.on = !endpoint_of(config.telemetry).empty(),
            .sampled = config.telemetry.sampling_percent * of_a_percent};
}

std::unique_ptr<Telemetry> Telemetry::of(config::Config const& config,
                                         runtime::NodeServices& services, port::Journal& journal) {
    if (endpoint_of(config.telemetry).empty()) return nullptr;
    return std::unique_ptr<Telemetry>(
        new Telemetry(config, services, journal, resource_of(config.telemetry, services.entropy)));
}

Telemetry::Telemetry(config::Config const& config, runtime::NodeServices& services,
                     port::Journal& journal, telemetry::Resource const& resource)
    : clock_(services.clock),
      rules_(trace_rules(config)),
      exporter_({services.loop, services.clock, services.entropy, services.http},
                export_options(config.telemetry, resource)),
      tracer_(journal, exporter_, span_options(config)),
      measures_(measure_exporter(config, services, resource)) {}

void Telemetry::attach_to(serve::ServingSettings& settings) {
    settings.recorded = [this](runner::Lane const& lane, auto const& records) {
        tracer_.appended(lane.state(), records, lane.recent());
    };
    settings.exports = [this] { return std::optional(exporter_.status()); };
    if (measures_) {
        settings.metric_exports = [this] { return std::optional(measures_->status()); };
        settings.measured = [this](port::MeasureSource source) {
            measures_->start(std::move(source));
        };
    }
    settings.ended = [this](port::Fn<void()> then) { end(std::move(then)); };
    settings.webhooks.outgoing.tracing = rules_;
    settings.webhooks.attempted = [this](webhook::Attempt const& attempt) { attempted(attempt); };
}

// Spans first: the last report counts them.
void Telemetry::end(port::Fn<void()> then) {
    exporter_.flush(flush_limit, [this, then = std::move(then)]() mutable {
        if (!measures_) return then();
        measures_->flush(flush_limit, std::move(then));
    });
}

void Telemetry::attempted(webhook::Attempt const& attempt) {
    tracer_.ended({.session = attempt.id.key.from,
                   .event = attempt.id.key.seq,
                   .n = attempt.id.key.n,
                   .attempt = attempt.number,
                   .id = webhook::delivery_text(attempt.id),
                   .target = shown_target(attempt.target),
                   .trace = attempt.trace,
                   .start = attempt.begun,
                   .end = clock_.now(),
                   .status = attempt.status,
                   .taken = attempt.why.empty()});
}

}  // namespace dormouse::app
