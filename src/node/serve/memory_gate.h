#pragma once
// Handles a shortage of memory: releases what it can, and refuses requests until there is enough
// again.

#include "base/scope.h"
#include "http/transport/http.h"
#include "io/memory_reserve.h"
#include "runner/runner.h"

namespace dormouse::serve {

// Wraps the handler of all requests. On the loop. The arguments outlive it. Without a reserve it
// never refuses.
class MemoryGate final : public http::HttpHandler {
public:
    MemoryGate(http::HttpHandler& inner, io::MemoryReserve* reserve, runner::Runner& runner,
               port::Loop& loop)
        : inner_(inner), reserve_(reserve), runner_(runner), loop_(loop) {}

    // Checks four times a second whether the reserve can be refilled.
    void start();

    void handle(http::HttpRequest request, std::shared_ptr<http::Responder> responder) override {
        inner_.handle(std::move(request), std::move(responder));
    }
    [[nodiscard]] std::size_t body_limit(std::string_view method,
                                         std::string_view path) const override {
        return inner_.body_limit(method, path);
    }
    [[nodiscard]] std::optional<http::HttpReply> refuse(http::HttpRequest const& head) override;
    [[nodiscard]] bool knows(http::HttpRequest const& head) const override {
        return inner_.knows(head);
    }
    [[nodiscard]] http::HttpReply problem(Error const& error,
                                          http::HttpRequest const& head) override {
        return inner_.problem(error, head);
    }

private:
    // Returns true if there is enough memory.
    bool relieve();

    http::HttpHandler& inner_;
    io::MemoryReserve* reserve_;
    runner::Runner& runner_;
    port::Loop& loop_;
    Scope scope_;
};

}  // namespace dormouse::serve
