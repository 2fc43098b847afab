#include "agent/builtin.h"

#include "base/media.h"
#include "base/text/text.h"
#include "json/json.h"
#include "session/limits.h"

namespace dormouse::agent {

using namespace dormouse::session;

namespace {

// Text is UTF-8 here, which a reader only knows if the type says so.
std::string type_of(json::View input, bool is_text) {
    std::string mime = input["mime"].string_or(is_text ? "text/plain" : "application/octet-stream");
    bool const says = mime.contains("charset") || !mime.starts_with("text/");
    return is_text && !says ? mime + "; charset=utf-8" : mime;
}

ToolResult emit(ToolCall const& call) {
    json::View const input(call.input);
    auto const text = input["text"].string();
    auto const coded = input["base64"].string();
    if (text.has_value() == coded.has_value())
        return Failed{"give either text or base64, and not both"};
    std::string const name = input["name"].string_or("");
    if (!is_file_name(name))
        return Failed{"name must be the name of a file: 1 to 255 bytes, without / and \\"};
    std::string const mime = type_of(input, text.has_value());
    if (!is_media_type(mime))
        return Failed{"mime must be a media type such as text/csv or image/png"};
    auto bytes = text ? text : parse_base64(*coded);
    if (!bytes) return Failed{"base64 must be base64 (RFC 4648, section 4) with its padding"};
    Artifact artifact{name, mime, std::make_shared<std::string const>(*std::move(bytes)), {}};
    artifact.digest = sha256(*artifact.bytes);
    json::Writer out;
    out.begin_object().member("name", name).member("mime", mime);
    out.member("bytes", std::uint64_t{artifact.bytes->size()}).end_object();
    Done done{out.json(), name};
    done.attached = {{std::move(artifact)}, true};
    return done;
}

}  // namespace

Tool artifact_emit() {
    Tool tool;
    tool.name = "artifact_emit";
    tool.description =
        "Keeps a file for people to read or download: its name, and its content as text or as "
        "base64. Gives its artifactID.";
    tool.schema = Json::trusted(
        R"({"type":"object","properties":{"name":{"type":"string","description":"a file's name"},)"
        R"("mime":{"type":"string","description":"media type, such as text/csv"},)"
        R"("text":{"type":"string","description":"the content, or give base64"},)"
        R"("base64":{"type":"string","description":"the content's bytes, or give text"}},)"
        R"("required":["name"],"additionalProperties":false})");
    // A retry is safe: its effect is part of the append of its outcome.
    tool.terms.crash = CrashPolicy::retry;
    tool.run = [](ToolCall const& call, std::stop_token const&) { return emit(call); };
    return tool;
}

}  // namespace dormouse::agent
