#pragma once
// Reads the view of a session for a provider's request. It holds what all protocols have in common.

#include "json/json.h"
#include "model/tool_names.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::model {

// A call in a request.
struct SentCall {
    session::ViewCall const* call = nullptr;
    std::string id;    // unique in the whole request
    std::string name;  // of the tool, in the provider's spelling
};

// Returns a call's outcome as text, for people and models: a string as it is, other values as JSON.
[[nodiscard]] std::string outcome_text(session::ViewCall const& call);
// Returns an object for any input of a call, because providers accept nothing else.
[[nodiscard]] Json object_input(Json const& input);

// Returns the schema of a tool's input with the type "object", which some providers require.
[[nodiscard]] Json object_schema(Json const& schema);

// A piece of an assistant message.
struct Piece {
    enum class Kind : std::uint8_t { text, reasoning, call };
    Kind kind = Kind::text;
    std::string text;
    json::View data{
        std::string_view{}};  // data of the model that is asked; exists() only if there is some
    SentCall call;
};

// A piece of a user message: text, an image or a file. Content that we hold has a data URL.
struct Content {
    std::string text;
    std::string image_url = {};
    std::string file_url = {};
    std::string mime = {};  // of a file, and of an image if it is known
    std::string name = {};  // of a file; may be empty

    [[nodiscard]] bool is_text() const { return image_url.empty() && file_url.empty(); }
};

// Returns whether a protocol supports a file that is not text. `is_here`: we hold its content.
using TakesFile = bool (*)(std::string_view mime, bool is_here);
[[nodiscard]] inline bool takes_no_file(std::string_view, bool) { return false; }
[[nodiscard]] inline bool takes_pdf(std::string_view mime, bool) {
    return mime == "application/pdf";
}

struct Rules {
    std::size_t id_length_max = 40;
    bool plain_ids = true;  // only [A-Za-z0-9_-]
    bool images = true;
    TakesFile takes_file = takes_no_file;
};

// Walks through the messages of a view and passes them to the subclass, which writes them.
class Transcript {
public:
    virtual ~Transcript() = default;

protected:
    // `from`: the model whose provider data is returned to it; empty: no data is returned.
    Transcript(ToolNames const& names, std::string from, Rules rules)
        : names_(names), from_(std::move(from)), rules_(rules) {}

    void write_view(session::ModelView const& view);

    // Gets an assistant message: its pieces in their order, and the calls among them. Their answers
    // must follow at once. Also called for a message without text and calls.
    virtual void assistant(std::vector<Piece> const& pieces,
                           std::vector<SentCall> const& calls) = 0;
    virtual void user(std::vector<Content> const& contents) = 0;

private:
    [[nodiscard]] std::string take_id(session::ViewCall const& call);
    [[nodiscard]] std::string id_of(session::ViewCall const& call) const;
    [[nodiscard]] bool usable(std::string const& id) const;
    [[nodiscard]] std::vector<Piece> pieces(session::ViewMessage const& message,
                                            std::vector<SentCall> const& calls) const;
    void assistant_message(session::ViewMessage const& message);
    void late(session::ViewCall const& call);
    [[nodiscard]] std::vector<Content> contents(Json const& parts) const;
    [[nodiscard]] Content content(json::View part) const;
    [[nodiscard]] Content file(json::View part, std::string const& bytes) const;

    ToolNames const& names_;
    std::string const from_;
    Rules const rules_;
    session::ModelView const* view_ = nullptr;  // the current one
    std::set<std::string> used_;
    std::map<CallNo, std::string> latest_;
};

// The type and data of "data:image/png;base64,AAAA"; both are empty for any other URL.
struct DataUrl {
    std::string_view mime;
    std::string_view data;
};
[[nodiscard]] DataUrl data_url(std::string_view url);

[[nodiscard]] bool blank(std::string_view text);
// Appends `text`, after a line break unless `to` is empty.
void append_line(std::string& to, std::string_view text);

// Joins their texts, one line each.
[[nodiscard]] std::string joined(std::vector<Content> const& contents);
[[nodiscard]] bool only_text(std::vector<Content> const& contents);

// Returns [{"type":"function","function":{"name","description","parameters"}}, …].
[[nodiscard]] Json function_tools(agent::Question const& question, ToolNames const& names);

}  // namespace dormouse::model
