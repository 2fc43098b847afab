#include "model/providers/alternating.h"
#include "model/providers/gemini.h"
#include "model/transcript.h"

#include <utility>

namespace dormouse::model {

namespace {

void text_part(json::Writer& out, std::string_view text) {
    out.begin_object().member("text", text).end_object();
}

bool takes_media(std::string_view mime, bool) {
    return mime == "application/pdf" || mime.starts_with("audio/") || mime.starts_with("video/");
}

class GeminiContents final : Transcript {
public:
    GeminiContents(ToolNames const& names, std::string const& from, RequestSettings const& settings)
        : Transcript(names, from,
                     {.id_length_max = 64,
                      .images = settings.images,
                      .takes_file = settings.files ? takes_media : takes_no_file}) {}

    Json write(session::ModelView const& view) {
        write_view(view);
        return contents_.take();
    }

private:
    json::Writer& side(bool assistant) {
        return contents_.piece(assistant, [](json::Writer& out) { text_part(out, opening_text); });
    }

    void assistant(std::vector<Piece> const& pieces, std::vector<SentCall> const& calls) override {
        for (Piece const& piece : pieces) {
            bool const thought = piece.kind == Piece::Kind::reasoning && !piece.data.exists();
            bool const nothing = piece.kind == Piece::Kind::text && blank(piece.text);
            if (!thought && (!nothing || piece.data.exists())) write_piece(side(true), piece);
        }
        for (SentCall const& call : calls) write_response(side(false), call);
    }

    static void write_piece(json::Writer& out, Piece const& piece) {
        out.begin_object();
        if (piece.kind == Piece::Kind::call) {
            out.key("functionCall").begin_object();
            identify(out, piece.call);
            out.member("args", object_input(piece.call.call->input)).end_object();
        } else {
            out.member("text", piece.text);
            // A signature may be on an empty text part, which is not a thought.
            if (piece.kind == Piece::Kind::reasoning && !piece.data["text"].boolean_or(false))
                out.member("thought", true);
        }
        if (auto const signature = piece.data["signature"].string())
            out.member("thoughtSignature", *signature);
        out.end_object();
    }

    // Older models send no ids and get none.
    static void identify(json::Writer& out, SentCall const& call) {
        if (!call.call->model_id.empty()) out.member("id", call.id);
        out.member("name", call.name);
    }

    static void write_response(json::Writer& out, SentCall const& call) {
        out.begin_object().key("functionResponse").begin_object();
        identify(out, call);
        out.key("response").begin_object();
        if (call.call->error) {
            out.member("error", outcome_text(*call.call));
        } else {
            out.member("output", call.call->output);
        }
        out.end_object().end_object().end_object();
    }

    void user(std::vector<Content> const& contents) override {
        bool has_text = false;
        for (Content const& content : contents) {
            if (content.is_text() && blank(content.text)) continue;
            has_text = true;
            write_content(side(false), content);
        }
        if (!has_text) text_part(side(false), empty_text);
    }

    static void write_content(json::Writer& out, Content const& content) {
        std::string const& url = content.image_url.empty() ? content.file_url : content.image_url;
        if (url.empty()) return text_part(out, content.text);
        DataUrl const inside = data_url(url);
        out.begin_object();
        if (!inside.mime.empty()) {
            out.key("inlineData").begin_object().member("mimeType", inside.mime);
            out.member("data", inside.data).end_object();
        } else {
            out.key("fileData").begin_object();
            if (!content.mime.empty()) out.member("mimeType", content.mime);
            out.member("fileUri", url).end_object();
        }
        out.end_object();
    }

    Alternating contents_{"model", "parts"};
};

Json instruction(std::string const& text) {
    json::Writer out;
    out.begin_object().key("parts").begin_array();
    text_part(out, text);
    return out.end_array().end_object().json();
}

Json declarations(agent::Question const& question, ToolNames const& names) {
    json::Writer out;
    auto const tool = [&](json::Writer& to, agent::ToolDeclaration const& one) {
        to.member("name", names.to_provider(one.name)).member("description", one.description);
        to.member("parametersJsonSchema", object_schema(one.schema));
    };
    out.begin_array().begin_object();
    out.member("functionDeclarations", tools_json(question, tool));
    return out.end_object().end_array().json();
}

}  // namespace

std::string Gemini::path() const {
    return "/models/" + settings_.model + ":streamGenerateContent?alt=sse";
}

// Not in the URL, which is written to logs.
std::vector<port::HttpHeader> Gemini::headers(std::string const& api_key) const {
    if (api_key.empty()) return {};
    return {{"x-goog-api-key", api_key}};
}

std::string Gemini::body(agent::Question const& question, ToolNames const& names) const {
    RequestBody out(settings_.extra);
    if (!blank(question.instructions))
        out.fixed("systemInstruction", instruction(question.instructions));
    out.fixed("contents", GeminiContents(names, from(), settings_).write(question.view));
    if (!question.tools().empty()) out.fixed("tools", declarations(question, names));
    out.section("generationConfig", "maxOutputTokens", settings_.max_output_tokens);
    return out.take();
}

}  // namespace dormouse::model
