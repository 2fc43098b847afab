#include "model/ollama.h"
#include "model/transcript.h"

namespace dormouse::model {

namespace {

class OllamaMessages final : Transcript {
public:
    OllamaMessages(ToolNames const& names, std::string const& from, RequestSettings const& settings)
        : Transcript(names, from, {.id_length_max = 64, .images = settings.images}) {}

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
        std::string thought;
        for (Piece const& piece : pieces) {
            if (piece.kind == Piece::Kind::text) append_line(said, piece.text);
            if (piece.kind == Piece::Kind::reasoning && piece.data.exists())
                append_line(thought, piece.text);
        }
        if (said.empty() && calls.empty()) return;
        out_.begin_object().member("role", "assistant").member("content", said);
        if (!thought.empty()) out_.member("thinking", thought);
        if (!calls.empty()) {
            out_.key("tool_calls").begin_array();
            for (ToldCall const& call : calls) tool_call(call);
            out_.end_array();
        }
        out_.end_object();
        // By name, in order; newer servers know ids too.
        for (ToldCall const& call : calls) {
            out_.begin_object().member("role", "tool").member("tool_name", call.name);
            out_.member("tool_call_id", call.id);
            out_.member("content", outcome_text(*call.call)).end_object();
        }
    }

    void tool_call(ToldCall const& call) {
        out_.begin_object().member("id", call.id).key("function").begin_object();
        out_.member("name", call.name).member("arguments", object_input(call.call->input));
        out_.end_object().end_object();
    }

    // Images stand beside the text, without their type; those that are not here can not be shown.
    void user(std::vector<Content> const& contents) override {
        std::string text;
        json::Writer images;
        images.begin_array();
        bool any = false;
        for (Content const& content : contents) {
            DataUrl const inside = data_url(content.image_url);
            if (!inside.mime.empty()) {
                any = true;
                images.value(inside.data);
            } else {
                append_line(text, content.image_url.empty() ? content.text : content.image_url);
            }
        }
        images.end_array();
        out_.begin_object().member("role", "user").member("content", text);
        if (any) out_.member_raw("images", images.text());
        out_.end_object();
    }

    json::Writer out_;
};

}  // namespace

std::string Ollama::body(agent::Question const& question, ToolNames const& names) const {
    RequestBody out(settings_.extra);
    out.usual("model", settings_.model);
    out.fixed("messages", OllamaMessages(names, from(), settings_).write(question));
    if (!question.tools.empty()) out.fixed("tools", function_tools(question, names));
    out.fixed("stream", true);
    out.section("options", "num_predict", settings_.max_output_tokens);
    return out.take();
}

}  // namespace dormouse::model
