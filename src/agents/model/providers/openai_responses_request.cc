#include "model/providers/messages.h"
#include "model/providers/openai_responses.h"

#include <algorithm>

namespace dormouse::model {

namespace {

class OpenAiResponsesItems final : Transcript {
public:
    OpenAiResponsesItems(ToolNames const& names, std::string const& from,
                         RequestSettings const& settings)
        : Transcript(names, from,
                     {.id_length_max = 64,
                      .images = settings.images,
                      .takes_file = settings.files ? takes_pdf : takes_no_file}) {}

    Json write(session::ModelView const& view) {
        out_.begin_array();
        write_view(view);
        return out_.end_array().json();
    }

private:
    static bool left_out(Piece const& piece) {
        if (piece.kind == Piece::Kind::reasoning) return !piece.data["item"].exists();
        return piece.kind == Piece::Kind::text && piece.text.empty();
    }

    void assistant(std::vector<Piece> const& pieces, std::vector<SentCall> const& calls) override {
        // Reasoning without the item that follows it is refused.
        auto const last =
            std::ranges::find_if_not(pieces.rbegin(), pieces.rend(), [](Piece const& piece) {
                return piece.kind == Piece::Kind::reasoning || left_out(piece);
            });
        for (auto it = pieces.begin(); it != last.base(); ++it) {
            if (!left_out(*it)) write_piece(*it);
        }
        for (SentCall const& call : calls) {
            out_.begin_object().member("type", "function_call_output");
            out_.member("call_id", call.id).member("output", outcome_text(*call.call));
            out_.end_object();
        }
    }

    void write_piece(Piece const& piece) {
        if (piece.kind == Piece::Kind::reasoning) {
            out_.raw(piece.data["item"].raw());
            return;
        }
        out_.begin_object();
        if (piece.kind == Piece::Kind::call) {
            out_.member("type", "function_call").member("call_id", piece.call.id);
            out_.member("name", piece.call.name);
            out_.member("arguments", object_input(piece.call.call->input).text());
        } else {
            out_.member("type", "message").member("role", "assistant");
            if (json::View const phase = piece.data["phase"]; phase.exists())
                out_.member_raw("phase", phase.raw());
            out_.key("content").begin_array().begin_object();
            out_.member("type", "output_text").member("text", piece.text);
            out_.end_object().end_array();
        }
        out_.end_object();
    }

    void user(std::vector<Content> const& contents) override {
        write_user(out_, contents, [this](Content const& content) { write_content(content); });
    }

    void write_content(Content const& content) {
        out_.begin_object();
        if (!content.image_url.empty()) {
            out_.member("type", "input_image").member("image_url", content.image_url);
        } else if (!content.file_url.empty()) {
            write_file(content);
        } else {
            out_.member("type", "input_text").member("text", content.text);
        }
        out_.end_object();
    }

    // A file at a URL has its name from there.
    void write_file(Content const& content) {
        out_.member("type", "input_file");
        if (data_url(content.file_url).mime.empty()) {
            out_.member("file_url", content.file_url);
        } else {
            out_.member("filename", content.name.empty() ? "file.pdf" : content.name);
            out_.member("file_data", content.file_url);
        }
    }

    json::Writer out_;
};

// Older models refuse requests for reasoning.
bool reasons(std::string_view model) {
    for (std::string_view const older : {"gpt-3", "gpt-4", "chatgpt"}) {
        if (model.starts_with(older)) return false;
    }
    return true;
}

}  // namespace

std::string OpenAiResponses::body(agent::Question const& question, ToolNames const& names) const {
    RequestBody out(settings_.extra);
    out.add_default("model", settings_.model);
    if (!question.instructions.empty()) out.fixed("instructions", question.instructions);
    out.fixed("input", OpenAiResponsesItems(names, from(), settings_).write(question.view));
    auto const tool = [&](json::Writer& to, agent::ToolDeclaration const& one) {
        to.member("type", "function").member("name", names.to_provider(one.name));
        to.member("description", one.description);
        to.member("parameters", object_schema(one.schema)).member("strict", false);
    };
    if (!question.tools().empty()) out.fixed("tools", tools_json(question, tool));
    out.fixed("stream", true).fixed("store", false);
    if (reasons(settings_.model))
        out.add_default("include", Json::trusted(R"(["reasoning.encrypted_content"])"));
    if (settings_.max_output_tokens)
        out.add_default("max_output_tokens", *settings_.max_output_tokens);
    return out.take();
}

}  // namespace dormouse::model
