#include "http/resources/operations/metrics/metrics_face.h"

#include "http/resources/operations/handlers.h"

namespace dormouse::http {

std::optional<HttpReply> MetricsFace::refuse(HttpRequest const& head) {
    bool const reads = head.method == "GET" || head.method == "HEAD";
    if (reads && head.path == "/metrics") return std::nullopt;
    return problem_reply({Code::not_found, "Here is only GET /metrics.", {}, 0}, head);
}

void MetricsFace::handle(HttpRequest, std::shared_ptr<Responder> responder) {
    answer_metrics(services_, std::move(responder));
}

}  // namespace dormouse::http
