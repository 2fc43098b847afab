#include "model/transcript.h"

#include "base/media.h"
#include "base/text/text.h"
#include "model/protocol.h"

#include <algorithm>
#include <utility>

namespace dormouse::model {

using session::ViewCall;
using session::ViewMessage;

namespace {

json::View const nothing(std::string_view{});

std::string part_text(json::View part) {
    std::string const type = part["type"].string_or("text");
    if (type == "text" || type == "reasoning") return part["text"].string_or("");
    if (type == "data")
        return part["name"].string_or("data") + ": " + std::string(part["data"].raw());
    std::string out = "[" + type;
    for (std::string_view const about : {"name", "mime", "url"}) {
        if (auto const text = part[about].string()) out += " " + *text;
    }
    if (auto const alt = part["alt"].string()) out += ": " + *alt;
    return out + "]";
}

std::string encoded(std::string const& mime, std::string const& bytes) {
    auto const* const data = reinterpret_cast<std::uint8_t const*>(bytes.data());
    return "data:" + mime + ";base64," + base64({data, bytes.size()});
}

}  // namespace

std::string outcome_text(ViewCall const& call) {
    if (!call.error) return json::View(call.output).plain();
    std::string const word(text(*call.error));
    std::string_view why = call.error_text;
    // Denials already begin with the word: "denied: nobody answered in time".
    if (why == word) why = {};
    if (why.starts_with(word + ": ")) why.remove_prefix(word.size() + 2);
    return "Error (" + word + ")" + (why.empty() ? "" : ": " + std::string(why));
}

Json object_input(Json const& input) {
    if (json::View(input).kind() == json::Kind::object) return input;
    return json::Writer().begin_object().member("arguments", input).end_object().json();
}

Json object_schema(Json const& schema) {
    json::View const view(schema);
    if (view["type"].exists()) return schema;
    json::Writer out;
    out.begin_object().member("type", "object");
    view.members(
        [&](std::string_view name, json::View value) { out.member_raw(name, value.raw()); });
    return out.end_object().json();
}

bool blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

void append_line(std::string& to, std::string_view text) {
    if (!to.empty()) to += '\n';
    to += text;
}

std::string joined(std::vector<Content> const& contents) {
    std::string out;
    for (Content const& content : contents) append_line(out, content.text);
    return out;
}

bool only_text(std::vector<Content> const& contents) {
    return std::ranges::all_of(contents, &Content::is_text);
}

Json function_tools(agent::Question const& question, ToolNames const& names) {
    return tools_json(question, [&](json::Writer& out, agent::ToolDeclaration const& tool) {
        out.member("type", "function").key("function").begin_object();
        out.member("name", names.to_provider(tool.name)).member("description", tool.description);
        out.member("parameters", tool.schema).end_object();
    });
}

DataUrl data_url(std::string_view url) {
    constexpr std::string_view begin = "data:";
    constexpr std::string_view middle = ";base64,";
    auto const at = url.find(middle);
    if (!url.starts_with(begin) || at == std::string_view::npos) return {};
    return {url.substr(begin.size(), at - begin.size()), url.substr(at + middle.size())};
}

void Transcript::write_view(session::ModelView const& view) {
    view_ = &view;
    for (ViewMessage const& message : view.messages) {
        if (message.role == ViewMessage::Role::assistant) {
            assistant_message(message);
        } else if (message.source == session::InputSource::result) {
            for (ViewCall const& call : message.calls) late(call);
        } else {
            user(contents(message.parts));
        }
    }
}

std::vector<Content> Transcript::contents(Json const& parts) const {
    std::vector<Content> out;
    json::View(parts).elements([&](json::View part) { out.push_back(content(part)); });
    return out;
}

// Returns only the name of an image or a file that this model does not accept or that was left out.
Content Transcript::content(json::View part) const {
    std::string const type = part["type"].string_or("");
    std::string const mime = part["mime"].string_or("");
    if (type != "image" && type != "file") return {part_text(part)};
    if (auto url = part["url"].string()) {
        if (type == "image")
            return rules_.images ? Content{{}, *url, {}, mime} : Content{part_text(part)};
        if (!rules_.takes_file(media_essence(mime), false)) return {part_text(part)};
        return {{}, {}, *url, mime, part["name"].string_or("")};
    }
    auto const bytes = view_->files.find(part["artifactID"].string_or(""));
    if (bytes == view_->files.end()) return {part_text(part)};
    return file(part, *bytes->second);
}

Content Transcript::file(json::View part, std::string const& bytes) const {
    std::string const mime = part["mime"].string_or("");
    bool const image = image_type(bytes) == mime;
    if (image)
        return rules_.images ? Content{{}, encoded(mime, bytes), {}, mime}
                             : Content{part_text(part)};
    if (is_textual(mime) && valid_utf8(bytes)) return {part_text(part) + "\n" + bytes};
    std::string const essence(media_essence(mime));
    if (!rules_.takes_file(essence, true)) return {part_text(part)};
    return {{}, {}, encoded(essence, bytes), essence, part["name"].string_or("")};
}

void Transcript::assistant_message(ViewMessage const& message) {
    std::vector<SentCall> calls;
    for (ViewCall const& call : message.calls)
        calls.push_back({&call, take_id(call), names_.to_provider(call.tool)});
    assistant(pieces(message, calls), calls);
}

// Parts are in order and say how many calls came before them.
std::vector<Piece> Transcript::pieces(ViewMessage const& message,
                                      std::vector<SentCall> const& calls) const {
    std::vector<Piece> out;
    std::map<std::size_t, json::View> of_calls;
    std::size_t written = 0;
    auto const add_calls = [&](std::size_t until) {
        for (; written < std::min(until, calls.size()); ++written) {
            auto const found = of_calls.find(written + 1);
            json::View const data = found == of_calls.end() ? nothing : found->second;
            out.push_back({Piece::Kind::call, {}, data, calls[written]});
        }
    };
    json::View(message.parts).elements([&](json::View part) {
        json::View data = part["providerData"];
        auto const number = static_cast<std::size_t>(
            std::max<std::int64_t>(data["call"].integer_or(data["after"].integer_or(0)), 0));
        bool const ours = !from_.empty() && data["from"].string_or("") == from_;
        if (data["call"].exists()) {
            if (ours) of_calls[number] = data;
            return add_calls(number == 0 ? 0 : number - 1);
        }
        add_calls(number);
        bool const thought = part["type"].string_or("") == "reasoning";
        out.push_back({thought ? Piece::Kind::reasoning : Piece::Kind::text,
                       part_text(part),
                       ours ? data : nothing,
                       {}});
    });
    add_calls(calls.size());
    return out;
}

// The outcome of a call whose placeholder the model has seen already.
void Transcript::late(ViewCall const& call) {
    user({{"The tool call " + id_of(call) + " (" + names_.to_provider(call.tool) + " " +
           std::string(call.input.text()) + ") that was pending has settled. Its outcome:\n" +
           outcome_text(call)}});
}

// Models repeat ids, and forks contain ids of another session.
std::string Transcript::take_id(ViewCall const& call) {
    std::string id = call.model_id;
    if (!usable(id) || used_.contains(id)) id = "call_" + std::to_string(call.call);
    for (int n = 2; used_.contains(id); ++n)
        id = "call_" + std::to_string(call.call) + "_" + std::to_string(n);
    used_.insert(id);
    if (call.call != 0) latest_[call.call] = id;
    return id;
}

bool Transcript::usable(std::string const& id) const {
    if (id.empty() || id.size() > rules_.id_length_max) return false;
    return !rules_.plain_ids || id == ToolNames::plain(id);
}

// For a call that was answered by a placeholder.
std::string Transcript::id_of(ViewCall const& call) const {
    auto const found = latest_.find(call.call);
    return found == latest_.end() ? call.model_id : found->second;
}

}  // namespace dormouse::model
