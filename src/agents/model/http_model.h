#pragma once
// A model of a provider that is called by HTTP, with any protocol.

#include "agent/model.h"
#include "model/protocol.h"
#include "model/provider_failure.h"
#include "port/http.h"

#include <memory>
#include <string>
#include <vector>

namespace dormouse::model {

struct HttpModelOptions {
    std::string id;            // of the model in the configuration; prefix of its errors
    std::string base_url;      // without a trailing slash
    std::string api_key = {};  // empty: no key is sent
    std::vector<port::HttpHeader> headers = {};  // replace those of the protocol
    agent::ModelLimits limits = {.concurrency = 8, .retries = 4, .time_limit = Duration(600'000)};
};

class HttpModel final : public agent::Model {
public:
    // `http` and `clock` outlive this.
    HttpModel(port::HttpClient& http, port::Clock const& clock,
              std::unique_ptr<Protocol const> protocol, HttpModelOptions options);

    [[nodiscard]] Stop ask(agent::Question question, port::Fn<void(port::Delta)> delta,
                           port::Fn<void(agent::ModelOutcome)> done) override;
    [[nodiscard]] agent::ModelLimits limits() const override { return options_.limits; }

private:
    struct Asking;

    [[nodiscard]] port::HttpRequest request(std::string body) const;
    [[nodiscard]] std::vector<port::HttpHeader> headers() const;

    port::HttpClient& http_;
    port::Clock const& clock_;
    std::unique_ptr<Protocol const> const protocol_;
    HttpModelOptions const options_;
    Provider provider_;
};

}  // namespace dormouse::model
