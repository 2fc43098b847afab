#include "session/decide/decider.h"
#include "session/decide/values.h"
#include "session/limits.h"

#include <map>

// Artifacts: bytes too large for a record, stored under the event that names them.
namespace dormouse::session {

namespace {

// REQUIRES: `object` is an object (CHECK).
Json with_id(Json const& object, std::string const& id) {
    json::View const view(object);
    CHECK(view.kind() == json::Kind::object);
    json::Writer out;
    out.begin_object();
    view.members([&](std::string_view key, json::View value) { out.member_raw(key, value.raw()); });
    return out.member("artifactID", id).end_object().json();
}

std::optional<Error> refuse_together(State const& state, std::uint64_t more) {
    if (more == 0 || state.artifact_bytes + more <= limits::session_artifact_bytes_max)
        return std::nullopt;
    return over_limit("All artifacts of a session together", "session_artifact_bytes",
                      limits::session_artifact_bytes_max)
        .error();
}

void emit_artifact(Decider& d, CallNo call, Artifact const& artifact) {
    CHECK(artifact.bytes);
    d.emit(ArtifactEmitted{artifact.name, artifact.mime, artifact.bytes->size(), artifact.digest,
                           call});
    d.artifacts.push_back({d.state.head, artifact.bytes});
}

}  // namespace

std::optional<Error> refuse_artifacts(State const& state, Attached const& attached) {
    // Plus one: the artifact that holds a large output.
    if (attached.list.size() > limits::artifacts_per_outcome_max + 1)
        return Error{Code::too_large,
                     "An outcome must have at most " +
                         std::to_string(limits::artifacts_per_outcome_max) + " artifacts.",
                     object_json("limit", "artifacts", "max", limits::artifacts_per_outcome_max)};
    std::uint64_t bytes = 0;
    for (Artifact const& artifact : attached.list) {
        CHECK(artifact.bytes);
        if (artifact.bytes->size() > limits::artifact_bytes_max)
            return over_limit("An artifact", "artifact_bytes", limits::artifact_bytes_max).error();
        bytes += artifact.bytes->size();
    }
    return refuse_together(state, bytes);
}

std::optional<Error> refuse_imported(State const& state,
                                     std::vector<std::pair<Seq, Artifact>> const& files) {
    std::uint64_t bytes = 0;
    for (auto const& [number, file] : files) {
        CHECK(file.bytes);
        bytes += file.bytes->size();
    }
    return refuse_together(state, bytes);
}

std::optional<Error> refuse_files(State const& state, std::vector<InputFile> const& files) {
    if (files.size() > limits::input_files_max)
        return Error{Code::too_large,
                     "A prompt must have at most " + std::to_string(limits::input_files_max) +
                         " images and files.",
                     object_json("limit", "prompt_files", "max", limits::input_files_max)};
    std::uint64_t bytes = 0;
    for (InputFile const& file : files) {
        CHECK(file.artifact.bytes);
        if (file.artifact.bytes->size() > limits::input_file_bytes_max)
            return over_limit("An image or a file of a prompt", "prompt_file_bytes",
                              limits::input_file_bytes_max)
                .error();
        bytes += file.artifact.bytes->size();
    }
    return refuse_together(state, bytes);
}

Json keep(Decider& d, CallNo call, Attached const& attached, Json const& output) {
    CHECK(attached.list.size() <= limits::artifacts_per_outcome_max + 1);
    for (Artifact const& artifact : attached.list) emit_artifact(d, call, artifact);
    if (!attached.described || attached.list.empty()) return output;
    return with_id(output, numbered_id("art_", d.state.id, d.state.head));
}

Json keep_files(Decider& d, Json const& parts, std::vector<InputFile> const& files) {
    CHECK(files.size() <= limits::input_files_max);
    if (files.empty()) return parts;
    std::string_view const text = parts.text();
    std::string out;
    std::size_t copied = 0;
    for (InputFile const& file : files) {
        CHECK(copied <= file.place && file.place < text.size());
        emit_artifact(d, 0, file.artifact);
        out.append(text, copied, file.place - copied);
        out += R"(,"artifactID":")" + numbered_id("art_", d.state.id, d.state.head) + '"';
        copied = file.place;
    }
    return Json::trusted(out.append(text, copied));
}

// Replaces ids where they are whole strings: in the part's artifactID, and in the output that
// describes the artifact. One pass for any number of ids.
Json renamed(SessionId const& fork, Create::ForkOf const& from, Seq next) {
    std::map<std::string, Seq, std::less<>> own;
    for (auto const& [seq, artifact] : from.artifacts)
        own.emplace(numbered_id("art_", from.from, seq), next++);
    if (own.empty()) return from.messages;
    std::string_view const text = from.messages.text();
    std::string out;
    std::size_t copied = 0;
    for (std::size_t at = text.find("\"art_"); at != std::string_view::npos;) {
        std::size_t const end = text.find('"', at + 1);
        CHECK(end != std::string_view::npos);  // of a string, because the messages are valid JSON
        auto const found = own.find(text.substr(at + 1, end - at - 1));
        if (found != own.end()) {
            out.append(text, copied, at + 1 - copied);
            out += numbered_id("art_", fork, found->second);
            copied = end;
        }
        at = text.find("\"art_", end);
    }
    return Json::trusted(out.append(text, copied));
}

}  // namespace dormouse::session
