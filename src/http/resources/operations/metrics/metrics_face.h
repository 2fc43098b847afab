#pragma once
// Serves GET /metrics only, for a listener of its own that requires no token.

#include "http/resources/api.h"

#include <utility>

namespace dormouse::http {

class MetricsFace final : public HttpHandler {
public:
    // Everything in `services` outlives this.
    explicit MetricsFace(Services services) : services_(std::move(services)) {}

    void handle(HttpRequest request, std::shared_ptr<Responder> responder) override;
    [[nodiscard]] std::size_t body_limit(std::string_view, std::string_view) const override {
        return 0;
    }
    [[nodiscard]] std::optional<HttpReply> refuse(HttpRequest const& head) override;
    [[nodiscard]] bool knows(HttpRequest const& /*head*/) const override { return false; }
    [[nodiscard]] HttpReply problem(Error const& error, HttpRequest const& head) override {
        return problem_reply(error, head);
    }

private:
    Services services_;
};

}  // namespace dormouse::http
