#include "model/providers/messages.h"
#include "model/providers/openai_chat.h"

namespace dormouse::model {

namespace {

bool takes_pdf_data(std::string_view mime, bool is_here) {
    return is_here && mime == "application/pdf";
}

class OpenAiChatMessages final : public ChatMessages {
public:
    // Reasoning is not returned: providers that require it sign it, which this API does not
    // support.
    OpenAiChatMessages(ToolNames const& names, RequestSettings const& settings)
        : ChatMessages(names, "",
                       {.id_length_max = 40,
                        .plain_ids = false,
                        .images = settings.images,
                        .takes_file = settings.files ? takes_pdf_data : takes_no_file}) {}

private:
    void assistant(std::vector<Piece> const& pieces, std::vector<SentCall> const& calls) override {
        std::string text;
        for (Piece const& piece : pieces) {
            if (piece.kind == Piece::Kind::text) append_line(text, piece.text);
        }
        if (text.empty() && calls.empty()) return;
        out_.begin_object().member("role", "assistant");
        out_.member("content", text.empty() ? std::nullopt : std::optional(text));
        write_calls(calls);
        out_.end_object();
        for (SentCall const& call : calls) {
            out_.begin_object().member("role", "tool").member("tool_call_id", call.id);
            out_.member("content", outcome_text(*call.call)).end_object();
        }
    }

    void write_call(SentCall const& call) override {
        out_.begin_object().member("id", call.id).member("type", "function");
        out_.key("function").begin_object().member("name", call.name);
        out_.member("arguments", object_input(call.call->input).text()).end_object().end_object();
    }

    void user(std::vector<Content> const& contents) override {
        write_user(out_, contents, [this](Content const& content) { content_part(content); });
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
};

}  // namespace

std::string OpenAiChat::body(agent::Question const& question, ToolNames const& names) const {
    RequestBody out(settings_.extra);
    out.add_default("model", settings_.model);
    out.fixed("messages", OpenAiChatMessages(names, settings_).write(question));
    if (!question.tools().empty()) out.fixed("tools", function_tools(question, names));
    out.fixed("stream", true);
    out.add_default("stream_options", Json::trusted(R"({"include_usage":true})"));
    if (settings_.max_output_tokens) {
        out.add_default(max_completion_tokens_ ? "max_completion_tokens" : "max_tokens",
                        *settings_.max_output_tokens);
    }
    return out.take();
}

}  // namespace dormouse::model
