#include "mcp_client/sign_in/token_source.h"

#include <utility>

namespace dormouse::mcp_client {

std::string TokenSource::token() const {
    bool const over = token_.lifetime && clock_.monotonic() >= ends_;
    return over ? "" : token_.text;
}

void TokenSource::renew(std::string const& challenge, std::string const& refused, Done done) {
    if (!busy_ && !token().empty() && token_.text != refused) return done("");
    waiting_.push_back(std::move(done));
    if (std::exchange(busy_, true)) return;
    wanted_ = true;
    if (token_.text == refused) token_ = {};
    if (!challenge.empty()) challenge_ = challenge;
    fetches_.first_of(resource_metadata_urls(server_.url, challenge_),
                      [this](Answer const& answer) { got_resource(answer); });
}

void TokenSource::got_resource(Answer const& answer) {
    if (!answer) return end("it has no protected resource metadata (" + answer.error() + ")");
    auto const& issuer = server_.oauth->issuer;
    auto const wrong = wrong_resource(json::View(answer->body), server_.url, issuer);
    if (!wrong.empty()) return end(wrong);
    fetches_.first_of(issuer_metadata_urls(issuer),
                      [this](Answer const& found) { got_issuer(found); });
}

void TokenSource::got_issuer(Answer const& answer) {
    auto const& oauth = *server_.oauth;
    if (!answer)
        return end("its issuer " + oauth.issuer + " has no metadata (" + answer.error() + ")");
    auto const issuer = read_issuer(json::View(answer->body), oauth.issuer);
    if (!issuer) return end(issuer.error());
    fetches_.send(token_request(*issuer, oauth, server_.url),
                  [this](Answer const& given) { got_token(given); });
}

// Its refusals, whatever their status, say why.
void TokenSource::got_token(Answer const& answer) {
    if (!answer) return end("its issuer gave no token (" + answer.error() + ")");
    auto token = read_token(json::View(answer->body));
    if (!token) return end(token.error());
    token_ = *std::move(token);
    if (token_.lifetime) ends_ = clock_.monotonic() + *token_.lifetime - early;
    end("");
}

void TokenSource::end(std::string const& why) {
    busy_ = false;
    for (Done const& done : std::exchange(waiting_, {})) done(why);
}

}  // namespace dormouse::mcp_client
