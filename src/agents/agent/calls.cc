#include "agent/calls.h"

#include "json/json.h"

#include <algorithm>

namespace dormouse::agent {

using namespace dormouse::session;

namespace {

constexpr std::string_view ask_tool = "ask_human";

std::string words_of(Json const& parts) {
    std::string text;
    json::View(parts).elements([&](json::View part) { text += part["text"].string_or(""); });
    return text;
}

Reply call_of(ViewMessage const& message) {
    auto const called = json::check(words_of(message.parts));
    json::View const call(called ? *called : Json());
    Reply reply;
    auto const tool = call["tool"].string();
    if (!tool) {
        reply.text = "This session makes one call: {\"tool\": NAME, \"input\": {…}}.";
        return reply;
    }
    reply.calls.push_back({.id = "call", .tool = *tool, .input = call["input"].copy()});
    return reply;
}

std::string result_text(ViewCall const& call) {
    std::string const what = call.tool + " " + std::string(call.input.text());
    if (call.error) return "The call " + what + " failed: " + call.error_text;
    return "The result of " + what + " is: " + json::View(call.output).plain();
}

}  // namespace

std::string calls_of(std::string_view agent) { return "calls:" + std::string(agent); }

void add_call_agents(Registry& registry) {
    auto const model = std::make_shared<CallModel>();
    for (Agent const& each : std::vector(registry.agents())) {
        Agent calls;
        calls.id = calls_of(each.id);
        calls.description = "Makes the calls of " + each.id + ".";
        calls.model = model;
        calls.tools = each.tools;
        calls.foreign = each.foreign;
        bool const has = std::ranges::find(calls.tools, ask_tool) != calls.tools.end();
        if (!has && registry.tool(ask_tool)) calls.tools.emplace_back(ask_tool);
        calls.terms.digest = "calls-1";
        calls.hidden = true;
        registry.add(std::move(calls));
    }
}

CallModel const* call_model_of(Agent const& agent) {
    return dynamic_cast<CallModel const*>(agent.model.get());
}

Reply CallModel::reply(ModelView const& view) const {
    Reply reply;
    for (auto message = view.messages.rbegin(); message != view.messages.rend(); ++message) {
        for (ViewCall const& call : message->calls) {
            if (call.open) continue;
            reply.text = result_text(call);
            return reply;
        }
    }
    auto const is_own = [](ViewMessage const& message) {
        return message.role == ViewMessage::Role::assistant;
    };
    bool const called = std::ranges::any_of(view.messages, is_own);
    return called || view.messages.empty() ? reply : call_of(view.messages.front());
}

}  // namespace dormouse::agent
