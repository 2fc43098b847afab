#pragma once
// Views of a session for tests of requests.

#include "json/json.h"
#include "model/protocol.h"
#include "session/view.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace dormouse::model {

using namespace session;

inline Json text_part(std::string const& text) {
    return json::Writer()
        .begin_array()
        .begin_object()
        .member("type", "text")
        .member("text", text)
        .end_object()
        .end_array()
        .json();
}

inline ViewMessage user(std::string const& text) {
    return {ViewMessage::Role::user, InputSource::prompt, text_part(text), {}};
}
inline ViewMessage assistant(std::string const& text, std::vector<ViewCall> calls = {}) {
    Json const parts = text.empty() ? Json::trusted("[]") : text_part(text);
    return {ViewMessage::Role::assistant, InputSource::prompt, parts, std::move(calls)};
}
inline ViewMessage late(ViewCall call) {
    return {ViewMessage::Role::user, InputSource::result, Json::trusted("[]"), {std::move(call)}};
}
inline ViewCall call(CallNo no, std::string id, std::string output = "\"ok\"") {
    ViewCall out;
    out.call = no;
    out.model_id = std::move(id);
    out.tool = "deploy";
    out.input = Json::trusted(R"({"target":"A"})");
    out.output = Json::trusted(std::move(output));
    return out;
}
inline ViewCall failed(CallNo no, std::string id, ErrorReason reason, std::string text) {
    ViewCall out = call(no, std::move(id));
    out.error = reason;
    out.error_text = std::move(text);
    return out;
}

// Returns the body of `protocol` for such a view, checked as JSON.
inline Json request_body(Protocol const& protocol, std::vector<ViewMessage> messages,
                         std::vector<agent::ToolDeclaration> tools = {},
                         std::string instructions = "") {
    agent::Question const question{
        {std::move(messages), 1},
        std::move(instructions),
        std::make_shared<agent::ToolDeclarations const>(std::move(tools))};
    auto checked = json::check(protocol.body(question, ToolNames(question.tools())));
    EXPECT_TRUE(checked) << checked.error().detail;
    return *checked;
}
inline std::string member(Json const& body, std::string_view name) {
    return std::string(json::View(body)[name].raw());
}

}  // namespace dormouse::model
