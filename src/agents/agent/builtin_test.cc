#include "agent/builtin.h"

#include "agent/demo.h"
#include "base/text/text.h"
#include "json/json.h"

#include <gtest/gtest.h>

namespace dormouse::agent {
namespace {

using namespace session;

class BuiltinTest : public ::testing::Test {
protected:
    BuiltinTest() {
        add_builtin_tools(registry);
        for (Tool const& tool : registry.tools()) agent.tools.push_back(tool.name);
    }
    // Returns the tool's result for these arguments, which fit its schema.
    ToolResult run(std::string const& tool, std::string const& input) {
        CallSpec const spec = registry.prepare(agent, {"c1", tool, Json::trusted(input)});
        EXPECT_EQ(spec.refused.value_or(""), "");
        ToolCall call;
        call.input = spec.input;
        return registry.tool(tool)->run(call, {});
    }
    [[nodiscard]] std::string refused(std::string const& tool, std::string const& input) const {
        return registry.prepare(agent, {"c1", tool, Json::trusted(input)}).refused.value_or("");
    }
    std::string failure(std::string const& input) {
        auto const result = run("artifact_emit", input);
        auto const* const failed = std::get_if<Failed>(&result);
        return failed ? failed->message : "";
    }
    Artifact kept(std::string const& input) {
        auto const result = run("artifact_emit", input);
        auto const* const done = std::get_if<Done>(&result);
        EXPECT_TRUE(done) << input;
        EXPECT_TRUE(done && done->attached.described);
        return done ? done->attached.list.at(0) : Artifact{};
    }

    Registry registry;
    Agent agent;
};

TEST_F(BuiltinTest, Artifact_FromText_IsStoredAndDescribed) {
    auto const result =
        run("artifact_emit", R"({"name":"plan.csv","mime":"text/csv","text":"a,\u00e9\n"})");
    auto const& done = std::get<Done>(result);
    EXPECT_EQ(done.output.text(),
              R"({"name":"plan.csv","mime":"text/csv; charset=utf-8","bytes":5})");
    EXPECT_EQ(done.title, "plan.csv");
    ASSERT_EQ(done.attached.list.size(), 1U);
    EXPECT_EQ(*done.attached.list[0].bytes, "a,é\n");
    EXPECT_EQ(done.attached.list[0].digest, sha256("a,é\n"));
    EXPECT_EQ(registry.tool("artifact_emit")->terms.crash, CrashPolicy::retry);
}

TEST_F(BuiltinTest, Artifact_FromBase64_HoldsTheBytes) {
    Artifact const image = kept(R"({"name":"a.png","mime":"image/png","base64":"AP8="})");
    EXPECT_EQ(*image.bytes, std::string("\0\xff", 2));
    EXPECT_EQ(image.mime, "image/png");
    EXPECT_EQ(kept(R"({"name":"a","base64":""})").mime, "application/octet-stream");
    EXPECT_EQ(kept(R"({"name":"a","text":""})").mime, "text/plain; charset=utf-8");
    EXPECT_EQ(kept(R"({"name":"a","mime":"text/csv; charset=latin1","text":""})").mime,
              "text/csv; charset=latin1");
    EXPECT_EQ(kept(R"({"name":"a","mime":"application/json","text":""})").mime, "application/json");
}

TEST_F(BuiltinTest, Artifact_InvalidArguments_ErrorForTheModel) {
    for (std::string const input : {R"({"name":"a"})", R"({"name":"a","text":"","base64":""})"})
        EXPECT_TRUE(failure(input).starts_with("give either text or base64")) << input;
    for (std::string const& name :
         {std::string("../a"), std::string("a\\\\b"), std::string(".."), std::string(),
          std::string("a\\n"), std::string("a\\u007f"), std::string(256, 'x')})
        EXPECT_TRUE(failure(R"({"text":"","name":")" + name + "\"}").starts_with("name must"))
            << name;
    for (std::string const mime :
         {"text", "text/", "a/b/c", "a/b; c", "a/b\\r\\nX: y", "a/b; c=\\\"d\\\"", "", "é/b"})
        EXPECT_TRUE(
            failure(R"({"text":"","name":"a","mime":")" + mime + "\"}").starts_with("mime must"))
            << mime;
    for (std::string const coded : {"AP8", "A", "====", "AP8=\\n", "A_8="})
        EXPECT_TRUE(failure(R"({"name":"a","base64":")" + coded + "\"}").starts_with("base64 must"))
            << coded;
    EXPECT_TRUE(refused("artifact_emit", R"({"text":""})").contains("name"));
    EXPECT_TRUE(refused("artifact_emit", R"({"name":"a","txt":""})").contains("txt"));
}

TEST_F(BuiltinTest, Todo_OutputIsTheNewList) {
    auto const result = run("todo", R"({"items":[{"text":"a","status":"done"},{"text":"b"},)"
                                    R"({"text":"c","status":"in_progress"}]})");
    auto const& done = std::get<Done>(result);
    EXPECT_EQ(done.output.text(),
              R"({"items":[{"text":"a","status":"done"},{"text":"b","status":"pending"},)"
              R"({"text":"c","status":"in_progress"}],"open":2,"done":1})");
    EXPECT_EQ(done.title, "1 of 3 done");
    auto const empty = run("todo", R"({"items":[]})");
    EXPECT_EQ(std::get<Done>(empty).output.text(), R"({"items":[],"open":0,"done":0})");
}

TEST_F(BuiltinTest, Todo_InvalidList_IsRefusedWithPointer) {
    EXPECT_TRUE(refused("todo", "{}").contains("items"));
    EXPECT_TRUE(refused("todo", R"({"items":[{"text":""}]})").contains("/items/0/text"));
    EXPECT_TRUE(refused("todo", R"({"items":[{"text":"a","status":"later"}]})")
                    .contains("/items/0/status"));
    std::string many = R"({"items":[{"text":"a"})";
    for (int i = 0; i < 200; ++i) many += R"(,{"text":"a"})";
    EXPECT_TRUE(refused("todo", many + "]}").contains("/items"));
}

}  // namespace
}  // namespace dormouse::agent
