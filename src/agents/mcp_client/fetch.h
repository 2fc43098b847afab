#pragma once
// Small requests to authorization servers. On the loop.

#include "base/scope.h"
#include "json/json.h"
#include "port/http.h"

#include <cstdint>
#include <expected>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace dormouse::mcp_client {

class Fetches {
public:
    static constexpr Duration limit{10'000};
    static constexpr std::size_t answer_max = 65'536;
    struct Answer {
        std::uint16_t status = 0;
        Json body;
    };
    // Errors: why there is no answer in JSON.
    using Done = std::function<void(std::expected<Answer, std::string> answer)>;

    // `client` outlives this.
    explicit Fetches(port::HttpClient& client) : client_(client) {}
    ~Fetches();
    Fetches(Fetches const&) = delete;
    Fetches& operator=(Fetches const&) = delete;

    // Calls `done` once, unless this ends before.
    void send(port::HttpRequest request, Done done);
    // The first of these addresses that answers with status 200. REQUIRES: `urls` is not empty.
    void first_of(std::vector<std::string> urls, Done done);

private:
    port::HttpClient& client_;
    std::set<port::HttpId> sent_;
    Scope scope_;
};

}  // namespace dormouse::mcp_client
