#include "model/openai_chat.h"
#include "model/transcript.h"

namespace dormouse::model {

namespace {

bool takes_pdf_data(std::string_view mime, bool is_here) {
    return is_here && mime == "application/pdf";
}

class OpenAiChatMessages final : Transcript {
public:
    // Reasoning is not given back: providers that want theirs sign it, and this interface does not.
    OpenAiChatMessages(ToolNames const& names, RequestSettings const& settings)
        : Transcript(names, "",
                     {.id_length_max = 40,
                      .plain_ids = false,
                      .images = settings.images,
                      .takes_file = settings.files ? takes_pdf_data : takes_no_file}) {}

    Json write(agent::Question const& question) {
        out_.begin_array();
        if (!question.instructions.empty()) {
            out_.begin_object().member("role", "system");
            out_.member("content", question.instructions).end_object();
        }
        tell(question.view);
        return out_.end_array().json();
    }

private:
    void assistant(std::vector<Piece> const& pieces, std::vector<ToldCall> const& calls) override {
        std::string said;
        for (Piece const& piece : pieces) {
            if (piece.kind == Piece::Kind::text) append_line(said, piece.text);
        }
        if (said.empty() && calls.empty()) return;
        out_.begin_object().member("role", "assistant");
        out_.member("content", said.empty() ? std::nullopt : std::optional(said));
        if (!calls.empty()) {
            out_.key("tool_calls").begin_array();
            for (ToldCall const& call : calls) tool_call(call);
            out_.end_array();
        }
        out_.end_object();
        for (ToldCall const& call : calls) {
            out_.begin_object().member("role", "tool").member("tool_call_id", call.id);
            out_.member("content", outcome_text(*call.call)).end_object();
        }
    }

    void tool_call(ToldCall const& call) {
        out_.begin_object().member("id", call.id).member("type", "function");
        out_.key("function").begin_object().member("name", call.name);
        out_.member("arguments", object_input(call.call->input).text()).end_object().end_object();
    }

    void user(std::vector<Content> const& contents) override {
        out_.begin_object().member("role", "user").key("content");
        if (only_text(contents)) {
            out_.value(joined(contents));
        } else {
            out_.begin_array();
            for (Content const& content : contents) content_part(content);
            out_.end_array();
        }
        out_.end_object();
    }

    void content_part(Content const& content) {
        out_.begin_object();
        if (!content.image_url.empty()) {
            out_.member("type", "image_url").key("image_url").begin_object();
            out_.member("url", content.image_url).end_object();
        } else if (!content.file_url.empty()) {
            out_.member("type", "file").key("file").begin_object();
            out_.member("filename", content.name.empty() ? "file.pdf" : content.name);
            out_.member("file_data", content.file_url).end_object();
        } else {
            out_.member("type", "text").member("text", content.text);
        }
        out_.end_object();
    }

    json::Writer out_;
};

}  // namespace

std::string OpenAiChat::body(agent::Question const& question, ToolNames const& names) const {
    RequestBody out(settings_.extra);
    out.usual("model", settings_.model);
    out.fixed("messages", OpenAiChatMessages(names, settings_).write(question));
    if (!question.tools.empty()) out.fixed("tools", function_tools(question, names));
    out.fixed("stream", true);
    out.usual("stream_options", Json::trusted(R"({"include_usage":true})"));
    if (settings_.max_output_tokens) {
        out.usual(max_completion_tokens_ ? "max_completion_tokens" : "max_tokens",
                  *settings_.max_output_tokens);
    }
    return out.take();
}

}  // namespace dormouse::model
