#include "acp/driver/prompt.h"

#include "base/check.h"
#include "base/text/cut.h"
#include "json/json.h"

#include <algorithm>

namespace dormouse::acp {

using namespace dormouse::session;

namespace {

std::string text_of(Json const& parts) {
    std::string out;
    json::View(parts).elements([&](json::View part) {
        std::string const type = part["type"].string_or("");
        std::string piece;
        if (type == "text") piece = part["text"].string_or("");
        if (type == "image" || type == "file")
            piece = "[" + type + " " + part["name"].string_or("") + "]";
        if (type == "data") piece = std::string(part["data"].raw());
        if (!piece.empty()) out += (out.empty() ? "" : "\n") + piece;
    });
    return out;
}

constexpr std::size_t excerpt = 2'048;

std::string line_of(ViewCall const& call) {
    std::string out = "\n[tool " + call.tool;
    if (!call.input.is_null()) out += " " + cut_with_mark(std::string(call.input.text()), excerpt);
    if (call.error) {
        out += ": " + call.error_text;
    } else if (!call.output.is_null()) {
        std::string const raw(call.output.text());
        out += ": " + cut_with_mark(json::View(raw).string().value_or(raw), excerpt);
    }
    return out + "]";
}

std::string line_of(ViewMessage const& message) {
    std::string out = message.role == ViewMessage::Role::user ? "user: " : "assistant: ";
    out += text_of(message.parts);
    for (ViewCall const& call : message.calls) out += line_of(call);
    return out;
}

bool is_new(ViewMessage const& message, AgentContext const& context) {
    return message.role == ViewMessage::Role::user && message.seq > context.seen;
}

// Returns the newest messages that fit into `budget` bytes, oldest first.
std::string past_of(port::ModelRequest const& request, std::size_t budget, bool by_tool) {
    std::vector<std::string> lines;
    bool whole = true;
    auto const& messages = request.view.messages;
    for (auto message = messages.rbegin(); message != messages.rend(); ++message) {
        if (is_new(*message, *request.external)) continue;
        std::string line = line_of(*message);
        if (line.size() + 2 > budget) {
            if (lines.empty()) lines.push_back(cut_with_mark(line, budget));
            whole = false;
            break;
        }
        budget -= line.size() + 2;
        lines.push_back(std::move(line));
    }
    std::string out = whole ? "" : "[earlier messages are left out]\n\n";
    if (!whole && by_tool)
        out += "[The tool session_history of the MCP server dormouse reads them.]\n\n";
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) out += *line + "\n\n";
    return out;
}

class Blocks {
public:
    explicit Blocks(port::ModelRequest const& request) : request_(request) {}

    void text(std::string text) { out_.push_back({.text = std::move(text)}); }
    void parts(Json const& parts, bool images) {
        json::View(parts).elements([&](json::View part) {
            std::string const type = part["type"].string_or("");
            auto const file = request_.view.files.find(part["artifactID"].string_or(""));
            bool const there = file != request_.view.files.end() && file->second;
            if (type == "text") return text(part["text"].string_or(""));
            if (type == "image" && images && there)
                return out_.push_back({.mime = part["mime"].string_or(""), .bytes = file->second});
            if (type == "data") return text(std::string(part["data"].raw()));
            text("[" + type + " " + part["name"].string_or("") +
                 " was sent, but this agent does not accept it]");
        });
    }
    [[nodiscard]] std::vector<Block> take() { return std::move(out_); }

private:
    port::ModelRequest const& request_;
    std::vector<Block> out_;
};

std::string text_of_lost(std::vector<std::string> const& lost) {
    if (lost.empty()) return "";
    std::string out = " It is unknown what became of these tool calls: ";
    for (std::string const& title : lost) out += (&title == &lost.front() ? "" : "; ") + title;
    return out + ". Check before you repeat any of them.";
}

// A call whose approval the agent received may have run. Answers for calls that have ended are not
// in the list.
std::string text_of_permissions(std::vector<PermissionAnswer> const& permissions) {
    std::string out;
    for (PermissionAnswer const& answer : permissions) {
        if (answer.cancelled || answer.call == 0) continue;
        std::string const which = " (" + answer.tool + ", call " + answer.tool_call + ")";
        bool const may_have_run = answer.approved && (answer.may_be_used || answer.granted);
        if (may_have_run) {
            out += " A call that was allowed" + which +
                   " may have run already: check before you ask for it again.";
        } else {
            out += answer.approved ? " You may now do what you had asked for" : " You may not do";
            out += which + ".";
        }
    }
    return out;
}

// Empty for a prompt that no earlier attempt can have delivered.
std::string_view text_of(Delivery delivery) {
    switch (delivery) {
        case Delivery::none: return "";
        case Delivery::possible:
            return "The connection was lost. You may have started on the message below. If so, "
                   "continue where you stopped; do not repeat finished work.";
        case Delivery::received:
            return "The connection was lost while you worked on the message below. Continue where "
                   "you stopped; do not repeat finished work.";
        case Delivery::remembered:
            return "The connection was lost while you worked on the last message. Continue where "
                   "you stopped; do not repeat finished work.";
        case Delivery::notified: return "Continue.";
    }
    return "";
}

std::string text_of_break(Delivery delivery, ExternalTurn const& turn) {
    std::string const out = "[" + std::string(text_of(delivery));
    return out + text_of_lost(turn.lost) + text_of_permissions(turn.permissions) + "]";
}

}  // namespace

bool has_past(port::ModelRequest const& request) {
    return std::ranges::any_of(request.view.messages, [&](ViewMessage const& message) {
        return !is_new(message, *request.external);
    });
}

std::vector<Block> prompt_blocks(port::ModelRequest const& request, PromptTerms const& terms,
                                 std::string const& marker) {
    CHECK(request.external);
    Blocks out(request);
    if (terms.with_past) {
        out.text("Previous conversation:\n\n" +
                 past_of(request, terms.past_bytes, terms.past_by_tool) + "Continue from here.");
    }
    if (terms.delivery != Delivery::none)
        out.text(text_of_break(terms.delivery, request.external->turn));
    bool const again = terms.delivery >= Delivery::remembered && !terms.with_past;
    for (ViewMessage const& message : request.view.messages) {
        if (!again && is_new(message, *request.external)) out.parts(message.parts, terms.images);
    }
    out.text("<!-- " + marker + " -->");
    return out.take();
}

bool holds_marker(std::string_view text, std::string const& marker, std::uint32_t attempt,
                  std::uint32_t from) {
    for (std::uint32_t before = from; before < attempt; ++before) {
        if (text.find(marker + std::to_string(before) + " ") != std::string_view::npos) return true;
    }
    return false;
}

}  // namespace dormouse::acp
