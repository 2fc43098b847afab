#include "model/openai_chat.h"

#include "model/sse_parser.h"

#include <algorithm>
#include <utility>

namespace dormouse::model {

using agent::ModelOutcome;

namespace {

constexpr std::size_t event_max = 4U << 20U;
constexpr std::size_t stream_max = 256U << 20U;  // a token costs its stream some 300 bytes
constexpr std::size_t error_body_max = 64U << 10U;
constexpr Duration idle_limit_max{300'000};  // models that think may say nothing for minutes

}  // namespace

// One request. Held by the callbacks of its HTTP request, and gone with them.
struct OpenAiChat::Asking {
    Asking(OpenAiChat& asked, std::vector<agent::ToolDeclaration> const& tools,
           port::Fn<void(port::Delta)> on_delta, port::Fn<void(ModelOutcome)> on_done)
        : model(asked),
          names(tools),
          reply(model.provider_, names),
          delta(std::move(on_delta)),
          done(std::move(on_done)) {}

    void take(std::string_view chunk) {
        if (ended) return;
        if (head.status != 200 || !is_stream()) {
            body += chunk.substr(0, error_body_max - std::min(body.size(), error_body_max));
            return;
        }
        bool const fits = parser.feed(chunk, [this](auto, std::string_view data) { event(data); });
        if (!fits && !ended) {
            abort(model.provider_.trouble("an event of the stream is larger than " +
                                          std::to_string(event_max) + " bytes"));
        }
    }

    void event(std::string_view data) {
        if (ended) return;
        if (data == "[DONE]") return end(reply.finish());
        if (auto failed = reply.take(data, delta)) abort(std::move(*failed));
    }

    void closed(std::optional<port::HttpFailure> const& failure) {
        if (ended) return;
        Provider const& provider = model.provider_;
        // Whole although its connection was not closed in order.
        if (reply.complete()) return end(reply.finish());
        if (head.status != 0 && head.status != 200)
            return end(provider.refused(head, body, model.clock_.now()));
        if (failure) return end(provider.unreachable(*failure));
        if (!is_stream())
            return end(
                provider.trouble("the answer is no event stream; is base_url right? " + body));
        end(reply.finish());
    }

    [[nodiscard]] bool is_stream() const {
        return head.header("content-type").value_or("").starts_with("text/event-stream");
    }

    void abort(ModelOutcome outcome) {
        model.http_.cancel(id);
        end(std::move(outcome));
    }

    void end(ModelOutcome outcome) {
        ended = true;
        done(std::move(outcome));
    }

    OpenAiChat& model;
    ToolNames const names;
    ChatReply reply;
    port::Fn<void(port::Delta)> delta;
    port::Fn<void(ModelOutcome)> done;
    SseParser parser{event_max};
    port::HttpHead head;
    std::string body;
    port::HttpId id = 0;
    bool ended = false;
};

OpenAiChat::OpenAiChat(port::HttpClient& http, port::Clock const& clock, OpenAiChatOptions options)
    : http_(http), clock_(clock), options_(std::move(options)) {
    provider_.id = options_.id;
    provider_.secrets = {options_.api_key};
    // Those in the configuration mostly name a key; a word of a few letters is none, and would be
    // struck out of every message.
    for (port::HttpHeader const& header : options_.headers) {
        if (header.value.size() >= 8) provider_.secrets.push_back(header.value);
    }
}

agent::Model::Stop OpenAiChat::ask(agent::Question question, port::Fn<void(port::Delta)> delta,
                                   port::Fn<void(ModelOutcome)> done) {
    auto const asking =
        std::make_shared<Asking>(*this, question.tools, std::move(delta), std::move(done));
    port::HttpCallbacks callbacks;
    callbacks.head = [asking](port::HttpHead head) { asking->head = std::move(head); };
    callbacks.data = [asking](std::string_view chunk) { asking->take(chunk); };
    callbacks.done = [asking](std::optional<port::HttpFailure> const& failure) {
        asking->closed(failure);
    };
    asking->id = http_.start(request(chat_request(options_.chat, question, asking->names)),
                             std::move(callbacks));
    return [&http = http_, id = asking->id] { http.cancel(id); };
}

port::HttpRequest OpenAiChat::request(std::string body) const {
    port::HttpRequest out;
    out.method = "POST";
    out.url = options_.base_url + "/chat/completions";
    out.headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}};
    if (!options_.api_key.empty())
        out.headers.push_back({"Authorization", "Bearer " + options_.api_key});
    for (port::HttpHeader const& header : options_.headers) out.headers.push_back(header);
    out.body = std::move(body);
    out.idle_limit = std::min(options_.timeout, idle_limit_max);
    out.total_limit = options_.timeout;
    out.response_max = stream_max;
    out.send_once = true;  // one request for each intent that the journal holds
    return out;
}

}  // namespace dormouse::model
