#include "http/resources/mcp/own_requests.h"

#include "http/transport/target.h"
#include "json/json.h"
#include "rpc/message.h"

namespace dormouse::http {
namespace {

// As the command line reports them (cli/client/fault.h).
constexpr int fault_authentication = -32000;
constexpr int fault_not_found = -32002;
constexpr std::int64_t wait_seconds = 50;

int rpc_code_of(int status) {
    if (status == 401) return fault_authentication;
    return status == 404 ? fault_not_found : rpc::code::internal_error;
}

// Only asked whether the client is gone: replies and streams go another way.
class StayingResponder final : public Responder {
public:
    explicit StayingResponder(std::function<bool()> gone) : gone_(std::move(gone)) {}
    void reply(HttpReply) override {}
    std::shared_ptr<EventStream> stream(std::vector<std::pair<std::string, std::string>>) override {
        return nullptr;
    }
    [[nodiscard]] bool gone() const override { return gone_(); }
    void body_freed() override {}

private:
    std::function<bool()> gone_;
};

}  // namespace

ExchangePtr staying(ExchangePtr const& x, std::function<bool()> gone) {
    auto out = std::make_shared<Exchange>(*x);
    out->responder = std::make_shared<StayingResponder>(std::move(gone));
    return out;
}

HttpRequest request_of(mcp::ApiRequest const& request, HttpRequest const& from) {
    HttpRequest out;
    out.method = request.method;
    (void)read_target(request.target, "localhost", out);  // of the tools' own making
    if (!request.body.is_null()) out.body = std::string(request.body.text());
    if (!request.key.empty()) out.headers.emplace_back("idempotency-key", request.key);
    out.peer_address = from.peer_address;
    out.peer_is_loopback = from.peer_is_loopback;
    out.secure = from.secure;
    out.id = from.id;
    return out;
}

mcp::ApiAnswer answer_of(HttpReply const& reply) {
    auto body = json::check(reply.body.empty() ? "null" : reply.body);
    if (reply.status < 300 && body) return *std::move(body);
    json::View const problem(body ? *body : Json());
    auto const title = problem["title"].string_or("The request failed");
    return std::unexpected(mcp::Refusal{.what = problem["detail"].string_or(title),
                                        .rpc_code = rpc_code_of(reply.status),
                                        .code = problem["code"].string_or("")});
}

mcp::ApiPtr api_of(Api& api, ExchangePtr const& x) {
    auto access = std::make_shared<mcp::ApiAccess>();
    access->ask = [&api, x](mcp::ApiRequest const& request, mcp::ApiDone done) {
        // A wait ends at once then, and would be repeated all the time.
        if (request.waits && api.services().runner.draining())
            return done(std::unexpected(
                mcp::Refusal{.what = "The server is stopping. Ask again in a few seconds."}));
        api.handle_for(
            x, request_of(request, x->request),
            [done = std::move(done)](HttpReply const& reply) mutable { done(answer_of(reply)); });
    };
    access->now = [&api] { return api.services().runner.now(); };
    access->wait_seconds = wait_seconds;
    return access;
}

}  // namespace dormouse::http
