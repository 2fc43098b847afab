#pragma once
// What the server does while it has too little memory: it releases what it can, and refuses
// requests until there is enough again.

#include "http/transport/http.h"
#include "io/memory_reserve.h"
#include "runner/runner.h"

namespace dormouse::serve {

// Before the handler of all requests. On the loop. What it is given outlives it; without a reserve
// there is always enough memory.
class MemoryGate final : public server::HttpHandler {
public:
    MemoryGate(server::HttpHandler& inner, io::MemoryReserve* reserve, runner::Runner& runner,
               port::Loop& loop)
        : inner_(inner), reserve_(reserve), runner_(runner), loop_(loop) {}

    // From now on it looks four times a second whether the reserve can be taken again.
    void start();

    void handle(server::HttpRequest request,
                std::shared_ptr<server::Responder> responder) override {
        inner_.handle(std::move(request), std::move(responder));
    }
    [[nodiscard]] std::size_t body_limit(std::string_view method,
                                         std::string_view path) const override {
        return inner_.body_limit(method, path);
    }
    [[nodiscard]] std::optional<server::HttpReply> refuse(server::HttpRequest const& head) override;
    [[nodiscard]] bool knows(server::HttpRequest const& head) const override {
        return inner_.knows(head);
    }
    [[nodiscard]] server::HttpReply problem(Error const& error,
                                            server::HttpRequest const& head) override {
        return inner_.problem(error, head);
    }

private:
    // True: there is enough memory.
    bool relieve();

    server::HttpHandler& inner_;
    io::MemoryReserve* reserve_;
    runner::Runner& runner_;
    port::Loop& loop_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dormouse::serve
