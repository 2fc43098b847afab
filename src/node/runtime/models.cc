#include "runtime/models.h"

#include <dormouse/turn.h>

#include "base/url.h"
#include "json/json.h"
#include "model/http_model.h"
#include "model/providers/anthropic.h"
#include "model/providers/gemini.h"
#include "model/providers/ollama.h"
#include "model/providers/openai_chat.h"
#include "model/providers/openai_responses.h"
#include "session/parts.h"

#include <algorithm>
#include <map>
#include <set>

namespace dormouse::runtime {

namespace {

std::string lines_of(Json const& parts) {
    std::string out;
    json::View(parts).elements([&](json::View part) {
        if (part["type"].string_or("") != "text") return;
        if (!out.empty()) out += '\n';
        out += part["text"].string_or("");
    });
    return out;
}

Json failure(std::string_view text) {
    json::Writer out;
    return out.begin_object().member("error", text).end_object().json();
}

TranscriptCall call_of(session::ViewCall const& call) {
    TranscriptCall out{call.model_id, call.tool, call.input, call.open, call.error.has_value(), {}};
    out.output = call.error ? failure(call.error_text) : call.output;
    return out;
}

// Makes call ids unique: models repeat ids or give none, and forks have those of another session.
class Ids {
public:
    [[nodiscard]] std::string take(session::ViewCall const& call) {
        std::string const own = "call_" + std::to_string(call.call);
        std::string id =
            call.model_id.empty() || used_.contains(call.model_id) ? own : call.model_id;
        for (int n = 2; used_.contains(id); ++n) id = own + "_" + std::to_string(n);
        used_.insert(id);
        if (call.call != 0) latest_[call.call] = id;
        return id;
    }
    // The id of a call that an earlier message answers with a placeholder.
    [[nodiscard]] std::string of_late(session::ViewCall const& call) const {
        auto const found = latest_.find(call.call);
        return found == latest_.end() ? call.model_id : found->second;
    }

private:
    std::set<std::string> used_;
    std::map<CallNo, std::string> latest_;
};

bool is_attachment(json::View part) {
    std::string const type = part["type"].string_or("");
    return type == "image" || type == "file";
}

std::vector<Attachment> attachments_of(Json const& parts, session::ModelView const& view) {
    std::vector<Attachment> out;
    json::View(parts).elements([&](json::View part) {
        if (!is_attachment(part)) return;
        Attachment one{part["mime"].string_or(""), part["name"].string_or(""),
                       part["url"].string_or("")};
        auto const bytes = view.files.find(part["artifactID"].string_or(""));
        if (bytes != view.files.end()) one.bytes = bytes->second;
        if (one.mime.empty() && part["type"].string_or("") == "image") one.mime = "image/*";
        out.push_back(std::move(one));
    });
    return out;
}

// Replaces the text and keeps images and files.
Json with_text(Json const& parts, std::string_view text) {
    json::Writer out;
    out.begin_array().begin_object().member("type", "text").member("text", text).end_object();
    json::View(parts).elements([&](json::View part) {
        if (is_attachment(part)) out.raw(part.raw());
    });
    return out.end_array().json();
}

void apply(session::ViewCall& call, TranscriptCall const& changed) {
    if (changed.input != call.input) call.input = changed.input;
    if (changed.output == call_of(call).output) return;
    if (call.error) {
        call.error_text = json::View(changed.output)["error"].string_or("");
    } else {
        call.output = changed.output;
    }
}

Result<void> apply(session::ViewMessage& message, TranscriptMessage const& changed) {
    if (changed.calls.size() != message.calls.size())
        return fail(Code::bad_value, "an interceptor took calls out of a message, or put some in");
    if (changed.text != lines_of(message.parts))
        message.parts = with_text(message.parts, changed.text);
    for (std::size_t i = 0; i < changed.calls.size(); ++i)
        apply(message.calls[i], changed.calls[i]);
    return {};
}

session::FinishReason core(ModelFinish finish) {
    switch (finish) {
        case ModelFinish::length: return session::FinishReason::length;
        case ModelFinish::refusal: return session::FinishReason::refusal;
        case ModelFinish::stop: break;
    }
    return session::FinishReason::stop;
}

ModelFinish face(session::FinishReason finish) {
    if (finish == session::FinishReason::length) return ModelFinish::length;
    if (finish == session::FinishReason::refusal) return ModelFinish::refusal;
    return ModelFinish::stop;
}

}  // namespace

std::vector<TranscriptMessage> transcript_of(session::ModelView const& view) {
    std::vector<TranscriptMessage> out;
    Ids ids;
    for (session::ViewMessage const& message : view.messages) {
        TranscriptMessage& added = out.emplace_back();
        bool const user = message.role == session::ViewMessage::Role::user;
        added.role = user ? TranscriptMessage::Role::user : TranscriptMessage::Role::assistant;
        added.late = user && message.source == session::InputSource::result;
        added.text = lines_of(message.parts);
        if (user) added.attachments = attachments_of(message.parts, view);
        for (session::ViewCall const& call : message.calls) {
            added.calls.push_back(call_of(call));
            added.calls.back().id = added.late ? ids.of_late(call) : ids.take(call);
        }
    }
    return out;
}

ModelQuestion question_of(agent::Question const& question, SessionId session, std::string agent) {
    ModelQuestion out{
        session, std::move(agent), question.instructions, transcript_of(question.view), {}};
    for (agent::ToolDeclaration const& tool : question.tools())
        out.tools.push_back({tool.name, tool.description, tool.schema});
    return out;
}

Result<agent::Question> apply(agent::Question question, ModelQuestion const& changed) {
    auto& messages = question.view.messages;
    if (changed.messages.size() < messages.size())
        return fail(Code::bad_value, "an interceptor took messages out of the transcript");
    for (std::size_t i = 0; i < messages.size(); ++i) {
        if (auto applied = apply(messages[i], changed.messages[i]); !applied)
            return std::unexpected(std::move(applied.error()));
    }
    for (std::size_t i = messages.size(); i < changed.messages.size(); ++i) {
        session::ViewMessage& added = messages.emplace_back();
        added.parts = session::text_parts(changed.messages[i].text);
    }
    question.instructions = changed.instructions;
    auto tools = std::make_shared<agent::ToolDeclarations>();
    for (agent::ToolDeclaration const& tool : question.tools()) {
        auto const kept = std::ranges::find(changed.tools, tool.name, &ModelTool::name);
        if (kept != changed.tools.end())
            tools->push_back({tool.name, kept->description, tool.schema});
    }
    question.declared = std::move(tools);
    return question;
}

ModelAnswer answer_of(agent::Reply const& reply) {
    ModelAnswer out{reply.text,
                    {},
                    reply.usage.input_tokens,
                    reply.usage.output_tokens,
                    reply.reasoning,
                    face(reply.finish),
                    reply.usage.cached_tokens,
                    reply.usage.reasoning_tokens,
                    reply.usage.cache_written_tokens};
    for (agent::ModelCall const& call : reply.calls)
        out.calls.push_back({call.tool, call.input, call.id});
    return out;
}

namespace {

bool same(agent::ModelCall const& original, ModelCall const& changed) {
    return original.tool == changed.tool && original.input == changed.input &&
           original.id == changed.id;
}

}  // namespace

agent::Reply apply(agent::Reply reply, ModelAnswer const& changed) {
    // `parts`, which the provider wants back, match only unchanged texts and calls.
    bool const unchanged = reply.text == changed.text && reply.reasoning == changed.reasoning &&
                           std::ranges::equal(reply.calls, changed.calls, same);
    if (!unchanged) reply.parts = {};
    reply.text = changed.text;
    reply.reasoning = changed.reasoning;
    if (face(reply.finish) != changed.finish) reply.finish = core(changed.finish);
    reply.usage = {changed.input_tokens, changed.output_tokens, changed.cached_tokens,
                   changed.reasoning_tokens, changed.cache_written_tokens};
    reply.calls.resize(changed.calls.size());
    for (std::size_t i = 0; i < changed.calls.size(); ++i) {
        ModelCall const& call = changed.calls[i];
        if (same(reply.calls[i], call)) continue;
        reply.calls[i] = {call.id.empty() ? reply.calls[i].id : call.id, call.tool, call.input};
    }
    return reply;
}

agent::ModelTrouble trouble(Error const& error) {
    bool const again = info(error.code).next == Next::retry;
    std::optional<Duration> after;
    if (error.retry_after_ms > 0) after = Duration(error.retry_after_ms);
    return {{std::string(info(error.code).text), error.detail}, again, after};
}

}  // namespace dormouse::runtime

namespace dormouse::inline v0 {

namespace {

std::string const& newest_text(std::vector<TranscriptMessage> const& messages) {
    static std::string const nothing;
    for (auto it = messages.rbegin(); it != messages.rend(); ++it) {
        if (it->role == TranscriptMessage::Role::user && !it->late) return it->text;
    }
    return nothing;
}

}  // namespace

std::string const& ModelQuestion::asked() const { return newest_text(messages); }
std::string const& TurnInfo::asked() const { return newest_text(messages); }

std::string late_text(TranscriptCall const& call) {
    json::View const output(call.output);
    auto text = output.string();
    std::string outcome = text ? std::move(*text) : std::string(output.raw());
    if (call.failed) outcome = "Error: " + output["error"].string_or(outcome);
    return "The tool call " + call.id + " (" + call.tool + " " + std::string(call.input.text()) +
           ") that was pending has settled. Its outcome:\n" + outcome;
}

TranscriptCall const* ModelQuestion::answer_of(std::string const& tool) const {
    for (auto it = messages.rbegin(); it != messages.rend(); ++it) {
        for (auto call = it->calls.rbegin(); call != it->calls.rend(); ++call) {
            if (call->tool == tool) return &*call;
        }
    }
    return nullptr;
}

namespace {

// A model behind HTTP with the protocol `P`, which is constructed with `more`.
template <class P, class... More>
Model http_model(std::string_view base_url, std::string name, std::string key,
                 ProviderOptions options, More... more) {
    auto plan = std::make_shared<detail::ModelPlan>();
    plan->name = name;
    if (options.base_url.empty()) options.base_url = base_url;
    while (options.base_url.ends_with('/')) options.base_url.pop_back();
    plan->make =
        [name = std::move(name), key = std::move(key), options = std::move(options),
         more...](runtime::ModelServices const& services) -> Result<std::shared_ptr<agent::Model>> {
        if (auto const why = wrong_url(options.base_url); !why.empty())
            return fail(Code::bad_value, "base_url " + std::string(why));
        model::RequestSettings settings{name, options.max_output_tokens, options.extra};
        model::HttpModelOptions out;
        out.id = name;
        out.base_url = options.base_url;
        out.api_key = key;
        out.limits.concurrency = options.concurrency;
        out.limits.retries = options.retries;
        out.limits.time_limit = options.timeout;
        return std::make_shared<model::HttpModel>(services.http, services.clock,
                                                  std::make_unique<P>(std::move(settings), more...),
                                                  std::move(out));
    };
    return Model(std::move(plan));
}

}  // namespace

Model openai(std::string name, std::string key, ProviderOptions options) {
    bool const own = options.base_url.empty();
    return http_model<model::OpenAiChat>(model::OpenAiChat::own_url, std::move(name),
                                         std::move(key), std::move(options), own);
}
Model openai_responses(std::string name, std::string key, ProviderOptions options) {
    return http_model<model::OpenAiResponses>(model::OpenAiResponses::own_url, std::move(name),
                                              std::move(key), std::move(options));
}
Model anthropic(std::string name, std::string key, ProviderOptions options) {
    return http_model<model::Anthropic>(model::Anthropic::own_url, std::move(name), std::move(key),
                                        std::move(options));
}
Model gemini(std::string name, std::string key, ProviderOptions options) {
    return http_model<model::Gemini>(model::Gemini::own_url, std::move(name), std::move(key),
                                     std::move(options));
}
Model ollama(std::string name, ProviderOptions options) {
    return http_model<model::Ollama>(model::Ollama::own_url, std::move(name), "",
                                     std::move(options));
}

}  // namespace dormouse::inline v0
