#include "model/http_model.h"

#include "base/sse.h"
#include "model/line_parser.h"

#include <algorithm>
#include <utility>

namespace dormouse::model {

using agent::ModelOutcome;

namespace {

constexpr std::size_t event_max = 4U << 20U;
constexpr std::size_t stream_max = 256U << 20U;  // a token takes about 300 bytes of the stream
constexpr std::size_t error_body_max = 64U << 10U;
constexpr Duration idle_limit_max{300'000};  // models that reason may be silent for minutes

}  // namespace

// One request. Owned by the callbacks of its HTTP request.
struct HttpModel::Asking {
    Asking(HttpModel& asked, std::vector<agent::ToolDeclaration> const& tools,
           ReplyDraft::OnDelta on_delta, port::Fn<void(ModelOutcome)> on_done)
        : model(asked),
          names(tools),
          delta(std::move(on_delta)),
          reply(model.protocol_->reader(model.provider_, names, delta)),
          done(std::move(on_done)) {}

    void take(std::string_view chunk) {
        if (ended) return;
        if (head.status != 200 || !is_stream()) {
            body += chunk.substr(0, error_body_max - std::min(body.size(), error_body_max));
            return;
        }
        bool const fits =
            lines() ? line_parser.feed(chunk, [this](std::string_view line) { event(line); })
                    : sse_parser.feed(chunk, [this](SseEvent const& each) { event(each.data); });
        if (!fits && !ended) {
            abort(model.provider_.trouble("an event of the stream is larger than " +
                                          std::to_string(event_max) + " bytes"));
        }
    }

    void event(std::string_view data) {
        if (ended) return;
        if (data == "[DONE]") return end(reply->finish());
        auto const json = json::check(data);
        if (!json) {
            return abort(model.provider_.passing("the stream holds what cannot be read: " +
                                                 json.error().detail));
        }
        json::View const chunk(*json);
        if (json::View const error = chunk["error"]; error.exists() && !error.is_null())
            return abort(model.provider_.failed_midway(data));
        if (auto failed = reply->take(chunk)) return abort(std::move(*failed));
        if (reply->ended()) end(reply->finish());
    }

    void closed(std::optional<port::HttpFailure> const& failure) {
        if (lines() && !failure) take("\n");  // the last line may lack a line break
        if (ended) return;
        Provider const& provider = model.provider_;
        // The reply is complete although the connection failed.
        if (reply->complete()) return end(reply->finish());
        if (head.status != 0 && head.status != 200)
            return end(provider.refused(head, body, model.clock_.now()));
        if (failure) return end(provider.unreachable(*failure));
        if (!is_stream())
            return end(
                provider.trouble("the answer is not an event stream (check base_url): " + body));
        end(reply->finish());
    }

    [[nodiscard]] bool lines() const {
        return model.protocol_->framing() == Protocol::Framing::lines;
    }

    [[nodiscard]] bool is_stream() const {
        std::string_view const type = head.header("content-type").value_or("");
        if (lines()) return type.starts_with("application/") && type.contains("json");
        return type.starts_with("text/event-stream");
    }

    void abort(ModelOutcome outcome) {
        model.http_.cancel(id);
        end(std::move(outcome));
    }

    void end(ModelOutcome outcome) {
        ended = true;
        done(std::move(outcome));
    }

    HttpModel& model;
    ToolNames const names;
    ReplyDraft::OnDelta delta;
    std::unique_ptr<ReplyReader> reply;
    port::Fn<void(ModelOutcome)> done;
    SseParser sse_parser{event_max};
    LineParser line_parser{event_max};
    port::HttpHead head;
    std::string body;
    port::HttpId id = 0;
    bool ended = false;
};

HttpModel::HttpModel(port::HttpClient& http, port::Clock const& clock,
                     std::unique_ptr<Protocol const> protocol, HttpModelOptions options)
    : http_(http), clock_(clock), protocol_(std::move(protocol)), options_(std::move(options)) {
    provider_.id = options_.id;
    provider_.from = protocol_->from();
    provider_.secrets = {options_.api_key};
    // A configured header usually holds a key. A value of a few letters does not, and removing it
    // would damage every message.
    for (port::HttpHeader const& header : options_.headers) {
        if (header.value.size() >= 8) provider_.secrets.push_back(header.value);
    }
}

agent::Model::Stop HttpModel::ask(agent::Question question, port::Fn<void(port::Delta)> delta,
                                  port::Fn<void(ModelOutcome)> done) {
    auto const asking =
        std::make_shared<Asking>(*this, question.tools(), std::move(delta), std::move(done));
    port::HttpCallbacks callbacks;
    callbacks.head = [asking](port::HttpHead head) { asking->head = std::move(head); };
    callbacks.data = [asking](std::string_view chunk) { asking->take(chunk); };
    callbacks.done = [asking](std::optional<port::HttpFailure> const& failure) {
        asking->closed(failure);
    };
    port::HttpRequest sent = request(protocol_->body(question, asking->names));
    if (!question.trace.parent.empty())
        sent.headers.push_back({"traceparent", question.trace.parent});
    if (!question.trace.state.empty()) sent.headers.push_back({"tracestate", question.trace.state});
    sent.may_start = question.may_start.ask();
    asking->id = http_.start(std::move(sent), std::move(callbacks));
    return [&http = http_, id = asking->id] { http.cancel(id); };
}

port::HttpRequest HttpModel::request(std::string body) const {
    port::HttpRequest out;
    out.method = "POST";
    out.url = options_.base_url + protocol_->path();
    out.headers = headers();
    out.body = std::move(body);
    out.idle_limit = std::min(options_.limits.time_limit, idle_limit_max);
    out.total_limit = options_.limits.time_limit;
    out.response_max = stream_max;
    out.send_once = true;  // one request for each intent in the journal
    return out;
}

std::vector<port::HttpHeader> HttpModel::headers() const {
    port::HttpHead const configured{0, options_.headers};
    bool const lines = protocol_->framing() == Protocol::Framing::lines;
    std::vector<port::HttpHeader> out{
        {"Content-Type", "application/json"},
        {"Accept", lines ? "application/x-ndjson" : "text/event-stream"}};
    for (port::HttpHeader& header : protocol_->headers(options_.api_key))
        out.push_back(std::move(header));
    std::erase_if(out, [&](port::HttpHeader const& h) { return configured.header(h.name); });
    out.insert(out.end(), options_.headers.begin(), options_.headers.end());
    return out;
}

}  // namespace dormouse::model
