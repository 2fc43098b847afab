#include "acp/scribe.h"

#include "base/utf8.h"

#include <utility>

namespace dormouse::acp {

using namespace dormouse::session;

namespace {

constexpr std::size_t tools_max = 4'096;  // of one prompt

// "content": {"type":"text","text":…}; anything else is named.
std::string text_of(json::View content) {
    std::string const type = content["type"].string_or("text");
    if (type == "text") return content["text"].string_or("");
    if (type == "resource_link") return "[" + content["uri"].string_or("a link") + "]";
    return "[" + type + "]";
}

// The texts of a tool call's content; what is no text is named.
std::string output_of(json::View content) {
    std::string out;
    content.elements([&](json::View item) {
        std::string const type = item["type"].string_or("");
        std::string piece;
        if (type == "content") piece = text_of(item["content"]);
        if (type == "diff") piece = "[changed " + item["path"].string_or("a file") + "]";
        if (type == "terminal") piece = "[a terminal]";
        if (!piece.empty()) out += (out.empty() ? "" : "\n") + piece;
    });
    return out;
}

// A value of the program's, or what there is room for of it.
Json within(json::View value, std::size_t most) {
    if (value.raw().size() <= most) return json::compact(value.copy());
    std::string text = value.string().value_or(std::string(value.raw()));
    text.resize(most);
    return Json::trusted(json::quote(text + " … [cut: it was longer]"));
}

}  // namespace

Scribe::Heard Scribe::hear(json::View update, bool brief) {
    std::string const kind = update["sessionUpdate"].string_or("");
    if (kind == "agent_message_chunk") return hear_text(update, false);
    if (kind == "agent_thought_chunk") return hear_text(update, true);
    if (kind == "tool_call" || kind == "tool_call_update") return hear_tool(update, brief);
    Heard out;
    if (kind == "plan") {
        News plan{.kind = NewsKind::plan, .body = {}};
        json::Writer body;
        body.begin_object();
        json::View const entries = update["entries"];
        body.member("entries",
                    within(entries.exists() ? entries : json::View("[]"), value_bytes_max));
        plan.body = body.end_object().json();
        plan_ = std::move(plan);
        if (!brief) out.news = flush();
    }
    if (kind == "session_info_update") out.title = update["title"].string_or("");
    return out;
}

Scribe::Heard Scribe::hear_text(json::View update, bool reasoning) {
    Heard out;
    std::string text = text_of(update["content"]);
    std::string id = update["messageId"].string_or("");
    bool const other = !id.empty() && !message_id_.empty() && id != message_id_;
    if (other) {
        out.news = flush();
        end_message();
    }
    if (!id.empty()) message_id_ = std::move(id);
    if (text.empty()) return out;
    if (bytes_ >= message_bytes_max) return out;
    bytes_ += text.size();
    if (bytes_ >= message_bytes_max) text += "\n[cut: the message is longer than 1 MiB]";
    if (parts_.empty() || parts_.back().reasoning != reasoning) parts_.push_back({reasoning, {}});
    parts_.back().text += text;
    part_bytes_ += text.size();
    auto const what = reasoning ? port::Delta::Kind::reasoning : port::Delta::Kind::text;
    out.delta = port::Delta{what, std::move(text)};
    if (part_bytes_ < piece_bytes_max) return out;
    for (News& news : flush()) out.news.push_back(std::move(news));
    return out;
}

std::vector<News> Scribe::flush() {
    std::vector<News> all;
    if (plan_) all.push_back(*std::exchange(plan_, std::nullopt));
    if (parts_.empty()) return all;
    News news{.kind = NewsKind::message, .body = {}};
    news.begins = !std::exchange(begun_, true);
    json::Writer out;
    out.begin_array();
    for (Part const& part : parts_) {
        out.begin_object().member("type", part.reasoning ? "reasoning" : "text");
        out.member("text", part.text).end_object();
    }
    news.body = out.end_array().json();
    parts_.clear();
    part_bytes_ = 0;
    all.push_back(std::move(news));
    return all;
}

// Text that comes after a tool call is another message: it was said after it.
Scribe::Heard Scribe::hear_tool(json::View update, bool brief) {
    Heard out;
    std::string const id = update["toolCallId"].string_or("");
    if (id.empty() || (tools_.size() >= tools_max && !tools_.contains(id))) return out;
    auto const [at, is_new] = tools_.try_emplace(id);
    ToolCall& call = at->second;
    if (auto const status = update["status"].string())
        call.status = parse<AgentToolStatus>(*status).value_or(call.status);
    if (auto const title = update["title"].string()) call.title = *title;
    if (auto const kind = update["kind"].string()) call.kind = *kind;
    if (json::View const input = update["rawInput"]; input.exists() && !input.is_null())
        call.input = within(input, value_bytes_max);
    json::View const raw = update["rawOutput"];
    std::string const text = output_of(update["content"]);
    if (raw.exists() && !raw.is_null()) {
        call.output = within(raw, value_bytes_max);
    } else if (!text.empty()) {
        std::string const quoted = json::quote(text);
        call.output = within(json::View(quoted), value_bytes_max);
    }
    if (json::View const places = update["locations"]; places.exists() && places.size() > 0)
        call.locations = within(places, value_bytes_max / 4);
    News news = news_of(id, call);
    // What streams while it works is kept once, with its end.
    std::string const told =
        std::string(session::text(call.status)) + call.title + std::string(call.input.text());
    if (!is_new && told == call.told) return out;
    if (!is_new && brief && is_open(call.status)) return out;
    call.told = told;
    out.news = flush();
    end_message();
    out.news.push_back(std::move(news));
    if (!is_open(call.status)) tools_.erase(at);
    return out;
}

News Scribe::news_of(std::string const& id, ToolCall const& call) {
    News news{.kind = NewsKind::tool, .body = {}, .tool_call = id};
    news.title = call.title;
    news.status = call.status;
    json::Writer out;
    out.begin_object();
    if (!call.kind.empty()) out.member("kind", call.kind);
    if (!call.input.is_null()) out.member("input", call.input);
    if (!call.output.is_null() && !is_open(call.status)) out.member("output", call.output);
    if (!call.locations.is_null()) out.member("locations", call.locations);
    news.body = out.end_object().json();
    return news;
}

}  // namespace dormouse::acp
