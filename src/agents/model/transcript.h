#pragma once
// The view of a session as the providers' requests tell it: what is the same in all of them.

#include "json/json.h"
#include "model/tool_names.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::model {

// A call in a request.
struct ToldCall {
    session::ViewCall const* call = nullptr;
    std::string id;    // occurs once in the whole request
    std::string name;  // of the tool, as the provider knows it
};

// What a call is answered by, for people and models: a string as it is, anything else as JSON.
[[nodiscard]] std::string outcome_text(session::ViewCall const& call);
// Providers take nothing but an object there, whatever the model had said.
[[nodiscard]] Json object_input(Json const& input);

// The schema of a tool's input as one of an object, which is what some providers insist on.
[[nodiscard]] Json object_schema(Json const& schema);

// A piece of an assistant's message.
struct Piece {
    enum class Kind : std::uint8_t { text, reasoning, call };
    Kind kind = Kind::text;
    std::string text;
    json::View data{std::string_view{}};  // the asked model's own; exists() only if there is one
    ToldCall call;
};

// A piece of a user's message: one of the three. What is here and not elsewhere has a data URL.
struct Content {
    std::string text;
    std::string image_url = {};
    std::string file_url = {};
    std::string mime = {};  // of a file, and of an image where it is known
    std::string name = {};  // of a file; may be empty

    [[nodiscard]] bool is_text() const { return image_url.empty() && file_url.empty(); }
};

// Which files that are no text a protocol has a place for.
using TakesFile = bool (*)(std::string_view mime, bool is_here);
[[nodiscard]] inline bool takes_no_file(std::string_view, bool) { return false; }
[[nodiscard]] inline bool takes_pdf(std::string_view mime, bool) {
    return mime == "application/pdf";
}

struct Rules {
    std::size_t id_length_max = 40;
    bool plain_ids = true;  // [A-Za-z0-9_-] only
    bool images = true;
    TakesFile takes_file = takes_no_file;
};

// Goes through the messages of a view and tells them to whoever writes them down.
class Transcript {
public:
    virtual ~Transcript() = default;

protected:
    // `from`: whose data is given back; empty: nobody's.
    Transcript(ToolNames const& names, std::string from, Rules rules)
        : names_(names), from_(std::move(from)), rules_(rules) {}

    void tell(session::ModelView const& view);

    // In the order in which they were said; `calls` are those among them. The answers belong right
    // after. What was neither text nor call is told too.
    virtual void assistant(std::vector<Piece> const& pieces,
                           std::vector<ToldCall> const& calls) = 0;
    virtual void user(std::vector<Content> const& contents) = 0;

private:
    [[nodiscard]] std::string take_id(session::ViewCall const& call);
    [[nodiscard]] std::string id_of(session::ViewCall const& call) const;
    [[nodiscard]] bool usable(std::string const& id) const;
    [[nodiscard]] std::vector<Piece> pieces(session::ViewMessage const& message,
                                            std::vector<ToldCall> const& calls) const;
    void assistant_message(session::ViewMessage const& message);
    void late(session::ViewCall const& call);
    [[nodiscard]] std::vector<Content> contents(Json const& parts) const;
    [[nodiscard]] Content content(json::View part) const;
    [[nodiscard]] Content file(json::View part, std::string const& bytes) const;

    ToolNames const& names_;
    std::string const from_;
    Rules const rules_;
    session::ModelView const* view_ = nullptr;  // the one that is told
    std::set<std::string> used_;
    std::map<CallNo, std::string> latest_;
};

// "data:image/png;base64,AAAA": its type and its data; both empty when it is no such URL.
struct DataUrl {
    std::string_view mime;
    std::string_view data;
};
[[nodiscard]] DataUrl data_url(std::string_view url);

[[nodiscard]] bool blank(std::string_view text);
// `text`, with a line break before it if something stands there.
void append_line(std::string& to, std::string_view text);

// Their texts, a line each.
[[nodiscard]] std::string joined(std::vector<Content> const& contents);
[[nodiscard]] bool only_text(std::vector<Content> const& contents);

// [{"type":"function","function":{"name","description","parameters"}}, …]
[[nodiscard]] Json function_tools(agent::Question const& question, ToolNames const& names);

}  // namespace dormouse::model
