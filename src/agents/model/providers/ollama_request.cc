#include "model/providers/messages.h"
#include "model/providers/ollama.h"

namespace dormouse::model {

namespace {

class OllamaMessages final : public ChatMessages {
public:
    OllamaMessages(ToolNames const& names, std::string const& from, RequestSettings const& settings)
        : ChatMessages(names, from, {.id_length_max = 64, .images = settings.images}) {}

private:
    void assistant(std::vector<Piece> const& pieces, std::vector<SentCall> const& calls) override {
        std::string text;
        std::string thought;
        for (Piece const& piece : pieces) {
            if (piece.kind == Piece::Kind::text) append_line(text, piece.text);
            if (piece.kind == Piece::Kind::reasoning && piece.data.exists())
                append_line(thought, piece.text);
        }
        if (text.empty() && calls.empty()) return;
        out_.begin_object().member("role", "assistant").member("content", text);
        if (!thought.empty()) out_.member("thinking", thought);
        write_calls(calls);
        out_.end_object();
        // By name, in order; newer servers also know ids.
        for (SentCall const& call : calls) {
            out_.begin_object().member("role", "tool").member("tool_name", call.name);
            out_.member("tool_call_id", call.id);
            out_.member("content", outcome_text(*call.call)).end_object();
        }
    }

    void write_call(SentCall const& call) override {
        out_.begin_object().member("id", call.id).key("function").begin_object();
        out_.member("name", call.name).member("arguments", object_input(call.call->input));
        out_.end_object().end_object();
    }

    // Images are separate from the text and have no type. Images that we do not hold cannot be
    // shown.
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
};

}  // namespace

std::string Ollama::body(agent::Question const& question, ToolNames const& names) const {
    RequestBody out(settings_.extra);
    out.add_default("model", settings_.model);
    out.fixed("messages", OllamaMessages(names, from(), settings_).write(question));
    if (!question.tools().empty()) out.fixed("tools", function_tools(question, names));
    out.fixed("stream", true);
    out.section("options", "num_predict", settings_.max_output_tokens);
    return out.take();
}

}  // namespace dormouse::model
