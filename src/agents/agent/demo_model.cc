#include "agent/demo.h"

#include "base/text/chars.h"
#include "base/text/names.h"
#include "base/text/text.h"
#include "base/text/utf8.h"
#include "json/json.h"

#include <algorithm>
#include <utility>

namespace dormouse::agent {

using namespace dormouse::session;

namespace {

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at <= text.size();) {
        std::size_t const end = std::min(text.find(' ', at), text.size());
        words.emplace_back(text.substr(at, end - at));
        at = end + 1;
    }
    return words;
}

Json object(std::vector<std::pair<std::string_view, std::string_view>> const& members) {
    json::Writer out;
    out.begin_object();
    for (auto const& [name, value] : members) out.member(name, value);
    return out.end_object().json();
}

// deploy A and B and C [within 5s]
std::vector<ModelCall> deploys(std::vector<std::string> words) {
    std::string within;
    if (words.size() >= 4 && words[words.size() - 2] == "within" && parse_duration(words.back())) {
        within = words.back();
        words.resize(words.size() - 2);
    }
    if (words.size() % 2 != 0) return {};
    std::vector<ModelCall> calls;
    for (std::size_t i = 1; i < words.size(); i += 2) {
        bool const joined = i == 1 || words[i - 1] == "and";
        if (!joined || !is_short_name(words[i])) return {};
        std::vector<std::pair<std::string_view, std::string_view>> input{{"target", words[i]}};
        if (!within.empty()) input.emplace_back("within", within);
        calls.push_back({"", "deploy", object(input)});
    }
    return calls;
}

// ask QUESTION [| ANSWER | ANSWER …], or ask {ARGUMENTS}
Json asked(std::string_view text) {
    if (auto given = json::check(text); given && json::View(*given).kind() == json::Kind::object)
        return *std::move(given);
    constexpr std::string_view bar = " | ";
    json::Writer out;
    auto end = std::min(text.find(bar), text.size());
    out.begin_object().member("question", text.substr(0, end));
    if (end != text.size()) out.key("choices").begin_array();
    bool const choices = end != text.size();
    while (end != text.size()) {
        text.remove_prefix(end + bar.size());
        end = std::min(text.find(bar), text.size());
        out.begin_object().member("title", text.substr(0, end)).end_object();
    }
    if (choices) out.end_array();
    return out.end_object().json();
}

std::vector<ModelCall> calls_for(std::string_view text) {
    auto const words = words_of(text);
    std::string_view const verb = words[0];
    if (verb == "deploy") return deploys(words);
    if (verb == "ask" && text.size() > 4) return {{"", "ask_human", asked(text.substr(4))}};
    if (verb == "report" && text.size() > 7)
        return {{"", "report_progress", object({{"text", text.substr(7)}})}};
    if (verb == "background" && text.size() > 11) {
        std::string_view const what = text.substr(11);
        return {{"", "background_task",
                 object({{"description", what}, {"prompt", what}, {"agent", "demo"}})}};
    }
    if (text == "fail") return {{"", "fail", object({})}};
    // tell ALIAS TEXT
    if (verb == "tell" && words.size() >= 3 && is_short_name(words[1])) {
        std::string_view const message = text.substr(verb.size() + words[1].size() + 2);
        return {{"", "broadcast", object({{"to", words[1]}, {"message", message}})}};
    }
    if (words.size() != 2) return {};
    std::string_view const word = words[1];
    if (verb == "approve" && is_short_name(word))
        return {{"", "dangerous", object({{"action", word}})}};
    if (verb == "approve-deploy" && is_short_name(word))
        return {{"", "approve_deploy", object({{"target", word}})}};
    if (!parse_duration(word)) return {};
    if (verb == "wait") return {{"", "wait_for", object({{"for", word}})}};
    if (verb == "sleepy") return {{"", "sleepy", object({{"for", word}})}};
    if (verb == "sleepy-never") return {{"", "sleepy_never", object({{"for", word}})}};
    return {};
}

std::string text_of(Json const& parts) {
    std::string text;
    json::View(parts).elements([&](json::View part) { text += part["text"].string_or(""); });
    return text;
}

// Returns the text without the headings of mail; empty: there is nothing else.
std::string text_in(Json const& parts) {
    std::string text;
    json::View(parts).elements([&](json::View part) {
        if (!part["synthetic"].boolean_or(false)) text += part["text"].string_or("");
    });
    return text;
}

// "<tool> <first argument>: <output>"
std::string line_for(ViewCall const& call) {
    std::string line = call.tool;
    bool first = true;
    json::View(call.input).members([&](std::string_view, json::View value) {
        if (std::exchange(first, false)) line += " " + value.plain();
    });
    if (call.error) return line + " failed: " + call.error_text;
    return line + ": " + json::View(call.output).plain();
}

std::int64_t tokens(std::size_t characters) {
    return static_cast<std::int64_t>((characters + 3) / 4);
}

std::size_t size_of(ModelView const& view) {
    std::size_t size = 0;
    for (ViewMessage const& message : view.messages) {
        size += count_utf8(text_of(message.parts));
        for (ViewCall const& call : message.calls) {
            size += count_utf8(call.input.text()) +
                    count_utf8(call.error ? call.error_text : call.output.text());
        }
    }
    return size;
}

// Returns "task tsk_…: completed" for "Task tsk_…: completed. …".
std::optional<std::string> notice_in(ViewMessage const& message) {
    std::string text = text_of(message.parts);
    if (message.source != InputSource::task || !text.starts_with("Task tsk_")) return std::nullopt;
    return "t" + text.substr(1, text.find('.') - 1);
}

// The news since the model's last reply.
struct News {
    std::vector<ViewCall> settled;       // in request order
    std::optional<std::string> message;  // the newest prompt
    std::vector<std::string> notices;    // of tasks: "task <id>: <status>"
};

News news_in(ModelView const& view) {
    News news;
    auto const is_assistant = [](ViewMessage const& m) {
        return m.role == ViewMessage::Role::assistant;
    };
    auto const last =
        std::ranges::find_if(view.messages.rbegin(), view.messages.rend(), is_assistant);
    if (last != view.messages.rend()) {
        for (ViewCall const& call : last->calls) {
            if (!call.open) news.settled.push_back(call);
        }
    }
    for (auto it = last.base(); it != view.messages.end(); ++it) {
        if (it->source == InputSource::result) {
            for (ViewCall const& call : it->calls) news.settled.push_back(call);
        } else if (auto notice = notice_in(*it)) {
            news.notices.push_back(std::move(*notice));
        } else {
            std::string text = text_in(it->parts);
            if (it->source != InputSource::mail || !text.empty()) news.message = std::move(text);
        }
    }
    std::ranges::sort(news.settled, {}, &ViewCall::call);
    return news;
}

}  // namespace

Reply DemoModel::reply(ModelView const& view) const {
    News const news = news_in(view);
    Reply reply;
    for (ViewCall const& call : news.settled)
        reply.text += (reply.text.empty() ? "" : "\n") + line_for(call);
    for (std::string const& notice : news.notices)
        reply.text += (reply.text.empty() ? "" : "\n") + notice;
    if (news.message) {
        reply.calls = calls_for(*news.message);
        if (reply.calls.empty())
            reply.text += (reply.text.empty() ? "" : "\n") + ("You said: " + *news.message);
    }
    std::size_t text = count_utf8(reply.text);
    for (std::size_t i = 0; i < reply.calls.size(); ++i) {
        reply.calls[i].id = "demo_" + std::to_string(i);
        text += count_utf8(reply.calls[i].tool) + count_utf8(reply.calls[i].input.text());
    }
    reply.usage = {tokens(size_of(view)), tokens(text), 0};
    return reply;
}

}  // namespace dormouse::agent
