#include "mcp_client/token_source.h"

#include <memory>
#include <utility>

namespace dormouse::mcp_client {

TokenSource::~TokenSource() {
    if (step_ != Step::idle) client_.cancel(request_);
}

std::string TokenSource::token() const {
    bool const over = token_.lifetime && clock_.monotonic() >= ends_;
    return over ? "" : token_.text;
}

void TokenSource::renew(std::string const& challenge, std::string const& refused, Done done) {
    if (step_ == Step::idle && !token().empty() && token_.text != refused) return done("");
    waiting_.push_back(std::move(done));
    if (step_ != Step::idle) return;
    wanted_ = true;
    if (token_.text == refused) token_ = {};
    if (!challenge.empty()) challenge_ = challenge;
    fetch(Step::resource, resource_metadata_urls(server_.url, challenge_));
}

// Tries the addresses one after the other.
void TokenSource::fetch(Step step, std::vector<std::string> urls) {
    step_ = step;
    port::HttpRequest request{.url = urls.front()};
    request.headers = {{"Accept", "application/json"}};
    urls.erase(urls.begin());
    start(std::move(request), std::move(urls));
}

void TokenSource::start(port::HttpRequest request, std::vector<std::string> others) {
    struct Got {
        std::uint16_t status = 0;
        std::string body;
    };
    request.connect_limit = request.idle_limit = request.total_limit = fetch_limit;
    request.response_max = answer_max;
    auto const answer = std::make_shared<Got>();
    port::HttpCallbacks callbacks;
    callbacks.head = [answer](port::HttpHead const& head) { answer->status = head.status; };
    callbacks.data = [answer](std::string_view chunk) { answer->body += chunk; };
    callbacks.done = scope_.guard([this, answer, others = std::move(others)](
                                      std::optional<port::HttpFailure> const& failure) mutable {
        if (failure) return missing(failure->reason, std::move(others));
        bool const token = step_ == Step::token;  // its refusals say why
        if (answer->status != 200 && !token)
            return missing("status " + std::to_string(answer->status), std::move(others));
        got(answer->body, std::move(others));
    });
    request_ = client_.start(std::move(request), std::move(callbacks));
}

void TokenSource::missing(std::string const& why, std::vector<std::string> others) {
    if (!others.empty()) return fetch(step_, std::move(others));
    switch (step_) {
        case Step::resource: return end("it has no protected resource metadata (" + why + ")");
        case Step::issuer:
            return end("its issuer " + server_.oauth->issuer + " has no metadata (" + why + ")");
        case Step::token: return end("its issuer gave no token (" + why + ")");
        case Step::idle: break;
    }
}

void TokenSource::got(std::string const& body, std::vector<std::string> others) {
    auto const answer = json::check(body);
    if (!answer) return missing("no JSON", std::move(others));
    take(*answer);
}

void TokenSource::take(Json const& answer) {
    json::View const view(answer);
    auto const& oauth = *server_.oauth;
    if (step_ == Step::resource) {
        auto const wrong = wrong_resource(view, server_.url, oauth.issuer);
        if (!wrong.empty()) return end(wrong);
        return fetch(Step::issuer, issuer_metadata_urls(oauth.issuer));
    }
    if (step_ == Step::issuer) {
        auto const issuer = read_issuer(view, oauth.issuer);
        if (!issuer) return end(issuer.error());
        step_ = Step::token;
        return start(token_request(*issuer, oauth, server_.url), {});
    }
    auto token = read_token(view);
    if (!token) return end(token.error());
    token_ = *std::move(token);
    if (token_.lifetime) ends_ = clock_.monotonic() + *token_.lifetime - early;
    end("");
}

void TokenSource::end(std::string const& why) {
    step_ = Step::idle;
    for (Done const& done : std::exchange(waiting_, {})) done(why);
}

}  // namespace dormouse::mcp_client
