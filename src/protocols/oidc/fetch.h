#pragma once
// A bounded request to a provider, and its whole answer.

#include "port/http.h"

#include <expected>
#include <string>

namespace dormouse::oidc {

struct Fetched {
    std::uint16_t status = 0;
    std::string body;
};

// Sets the limits of `request`: 10 s, `bytes_max` of the body, no redirects. The error is for a
// person. `done` is called later, once.
void fetch(port::HttpClient& client, port::HttpRequest request, std::size_t bytes_max,
           port::Fn<void(std::expected<Fetched, std::string>)> done);

}  // namespace dormouse::oidc
