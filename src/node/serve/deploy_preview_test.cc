// The example of requirement A19: a tool starts a deployment, the service calls back with the
// pendingID, and the session continues. Here it is a tool in code, over HTTP.
#include <dormouse/dormouse.h>

#include "base/crypto/sha256.h"
#include "base/text/text.h"
#include "serve/testing/http_request.h"

#include <gtest/gtest.h>

#include <unistd.h>
#include <filesystem>
#include <map>

namespace dormouse::serve {
namespace {

struct Preview {
    std::string branch;
    std::map<std::string, std::string> config;
};

// An external service that records its requests and deploys.
struct DeploymentService {
    struct Deployment {
        std::string branch, callback_url, callback_id;
    };
    std::vector<Deployment> requests = {};

    std::string create(Deployment deployment) {
        requests.push_back(std::move(deployment));
        return "deploy-123";
    }
};

class DeployPreview : public ::testing::Test {
protected:
    DeployPreview() {
        std::string name =
            (std::filesystem::temp_directory_path() / "dormouse-preview-XXXXXX").string();
        store = ::mkdtemp(name.data());
        script.on("main").calls("deploy-preview",
                                to_json(Preview{"main", {{"size", "small"}}}).value());
        script.when_waiting("deploy-preview").says("It runs.");
        script.when_answered("deploy-preview").says("The preview is there.");
        open();
    }
    ~DeployPreview() override {
        runtime.reset();
        std::filesystem::remove_all(store);
    }
    // Opens the store and serves it, as a program does at each start.
    void open() {
        runtime.reset();
        runtime.emplace(
            Runtime::open(
                {.store = store,
                 .agents = {{.name = "ops", .model = script.model(), .tools = {"deploy-preview"}}},
                 .tools = {deploy}})
                .value());
        url = runtime->serve({.listen = "127.0.0.1:0", .token = "a-token-of-this-program"}).value();
    }
    testing::Answer call_back(std::string const& body, std::string const& secret) {
        std::string const signature = hex(hmac_sha256(secret, body));
        return testing::exchange(url, "POST", "/async-tool/webhook", body, "",
                                 "X-Webhook-Signature: " + signature + "\r\n");
    }

    std::string store;
    std::string url;
    DeploymentService service;
    Script script;
    TypedTool<Preview, std::string> deploy =
        tool("deploy-preview",
             [this](Preview const& input, Call const& call) -> Outcome<std::string, Pending> {
                 auto const id = service.create(
                     {input.branch, url + "/async-tool/webhook", call.pending_id().text()});
                 return Pending<std::string>{"Deployment " + id + " started",
                                             {.ref = id,
                                              .estimated = std::chrono::minutes(5),
                                              .webhook_secret = "shared-secret"}};
             },
             {.description = "Deploy a preview environment"});
    std::optional<Runtime> runtime;
};

TEST_F(DeployPreview, Example_RunsEndToEnd) {
    auto const session = runtime->create({.agent = "ops", .prompt = "Deploy main."}).value();
    auto const waits = runtime->wait_idle(session, Duration(20'000)).value().pending.at(0);
    ASSERT_EQ(service.requests.size(), 1U);
    EXPECT_EQ(service.requests[0].branch, "main");
    EXPECT_EQ(service.requests[0].callback_id, waits.id.text());
    EXPECT_EQ(waits.external_ref, "deploy-123");
    std::string const body =
        R"({"pendingID":")" + service.requests[0].callback_id +
        R"(","result":{"title":"Deployment Complete",)"
        R"("output":"Preview deployed to https://preview-123.example.com",)"
        R"("metadata":{"url":"https://preview-123.example.com","deploymentID":"deploy-123"}}})";

    open();  // five minutes later, in a new process
    EXPECT_EQ(call_back(body, "another-secret").status, 401);
    EXPECT_TRUE(call_back(body, "shared-secret").body.contains(R"("outcome":"applied")"));
    EXPECT_TRUE(call_back(body, "shared-secret").body.contains(R"("outcome":"duplicate")"));
    EXPECT_EQ(runtime->wait_idle(session, Duration(20'000))->pending.size(), 0U);
    EXPECT_EQ(runtime->last_reply(session).value(), "The preview is there.");
    EXPECT_EQ(service.requests.size(), 1U);
    auto const messages = testing::exchange(
        url, "GET", "/api/sessions/" + session.text() + "/messages", "", "a-token-of-this-program");
    for (std::string_view const part :
         {R"("title":"Deployment Complete")", R"("deploymentID":"deploy-123")",
          "Preview deployed to https://preview-123.example.com"})
        EXPECT_TRUE(messages.body.contains(part)) << messages.body;
}

}  // namespace
}  // namespace dormouse::serve
