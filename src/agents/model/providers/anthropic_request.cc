#include "model/providers/alternating.h"
#include "model/providers/anthropic.h"
#include "model/transcript.h"

#include <algorithm>

namespace dormouse::model {

namespace {

constexpr std::uint32_t max_tokens_default = 8'192;  // the API requires a number

void text_block(json::Writer& out, std::string_view text) {
    out.begin_object().member("type", "text").member("text", text).end_object();
}

class AnthropicMessages final : Transcript {
public:
    AnthropicMessages(ToolNames const& names, std::string const& from,
                      RequestSettings const& settings)
        : Transcript(names, from,
                     {.id_length_max = 64,
                      .images = settings.images,
                      .takes_file = settings.files ? takes_pdf : takes_no_file}) {}

    Json write(session::ModelView const& view) {
        write_view(view);
        return messages_.take();
    }

private:
    json::Writer& side(bool assistant) {
        return messages_.piece(assistant, [](json::Writer& out) { text_block(out, opening_text); });
    }

    static bool thought(Piece const& piece) { return piece.kind == Piece::Kind::reasoning; }
    static bool left_out(Piece const& piece) {
        if (thought(piece)) return !piece.data.exists();
        return piece.kind == Piece::Kind::text && blank(piece.text);
    }

    void assistant(std::vector<Piece> const& pieces, std::vector<SentCall> const& calls) override {
        // Thinking at the end of a message is refused.
        auto const last =
            std::ranges::find_if_not(pieces.rbegin(), pieces.rend(),
                                     [](Piece const& p) { return thought(p) || left_out(p); });
        for (auto it = pieces.begin(); it != last.base(); ++it) {
            if (!left_out(*it)) write_piece(side(true), *it);
        }
        for (SentCall const& call : calls) write_result(side(false), call);
    }

    static void write_piece(json::Writer& out, Piece const& piece) {
        if (piece.kind == Piece::Kind::text) return text_block(out, piece.text);
        out.begin_object();
        if (piece.kind == Piece::Kind::call) {
            out.member("type", "tool_use").member("id", piece.call.id);
            out.member("name", piece.call.name);
            out.member("input", object_input(piece.call.call->input));
        } else if (auto const data = piece.data["redacted"].string()) {
            out.member("type", "redacted_thinking").member("data", *data);
        } else {
            out.member("type", "thinking").member("thinking", piece.text);
            out.member("signature", piece.data["signature"].string_or(""));
        }
        out.end_object();
    }

    static void write_result(json::Writer& out, SentCall const& call) {
        out.begin_object().member("type", "tool_result").member("tool_use_id", call.id);
        out.member("content", outcome_text(*call.call));
        if (call.call->error) out.member("is_error", true);
        out.end_object();
    }

    void user(std::vector<Content> const& contents) override {
        bool has_text = false;
        for (Content const& content : contents) {
            if (content.is_text() && blank(content.text)) continue;
            has_text = true;
            write_content(side(false), content);
        }
        if (!has_text) text_block(side(false), empty_text);
    }

    static void write_content(json::Writer& out, Content const& content) {
        bool const image = !content.image_url.empty();
        std::string const& url = image ? content.image_url : content.file_url;
        if (url.empty()) return text_block(out, content.text);
        out.begin_object().member("type", image ? "image" : "document");
        out.key("source").begin_object();
        if (DataUrl const inside = data_url(url); !inside.mime.empty()) {
            out.member("type", "base64").member("media_type", inside.mime);
            out.member("data", inside.data);
        } else {
            out.member("type", "url").member("url", url);
        }
        out.end_object();
        if (!image && !content.name.empty()) out.member("title", content.name);
        out.end_object();
    }

    Alternating messages_{"assistant", "content"};
};

}  // namespace

std::vector<port::HttpHeader> Anthropic::headers(std::string const& api_key) const {
    std::vector<port::HttpHeader> out{{"anthropic-version", "2023-06-01"}};
    if (!api_key.empty()) out.push_back({"x-api-key", api_key});
    return out;
}

std::string Anthropic::body(agent::Question const& question, ToolNames const& names) const {
    RequestBody out(settings_.extra);
    out.add_default("model", settings_.model);
    out.add_default("max_tokens", settings_.max_output_tokens.value_or(max_tokens_default));
    if (!blank(question.instructions)) out.fixed("system", question.instructions);
    out.fixed("messages", AnthropicMessages(names, from(), settings_).write(question.view));
    auto const tool = [&](json::Writer& to, agent::ToolDeclaration const& one) {
        to.member("name", names.to_provider(one.name)).member("description", one.description);
        to.member("input_schema", object_schema(one.schema));
    };
    if (!question.tools().empty()) out.fixed("tools", tools_json(question, tool));
    out.fixed("stream", true);
    return out.take();
}

}  // namespace dormouse::model
