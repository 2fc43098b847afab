#include "wire/journal/spill.h"

#include "base/text/utf8.h"
#include "json/json.h"
#include "session/limits.h"

#include <algorithm>
#include <utility>

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

Json excerpt(std::string_view text, std::size_t bytes) {
    json::Writer out;
    out.begin_object().member("truncated", true).member("head", cut_utf8(text, bytes));
    out.member("tail", tail_utf8(text, bytes)).member("bytes", std::uint64_t{text.size()});
    return out.end_object().json();
}

Artifact whole(Json const& output) {
    auto text = json::View(output).string();
    bool const is_text = text.has_value();
    Artifact out{is_text ? "output.txt" : "output.json",
                 is_text ? "text/plain; charset=utf-8" : "application/json",
                 std::make_shared<std::string const>(is_text ? std::move(*text)
                                                             : std::string(output.text())),
                 {}};
    out.digest = sha256(*out.bytes);
    return out;
}

void spell_briefly(json::Writer& out, json::View value) {
    if (auto const text = value.string()) {
        out.value(*text);
    } else if (value.kind() == json::Kind::object) {
        out.begin_object();
        value.members([&](std::string_view name, json::View member) {
            spell_briefly(out.key(name), member);
        });
        out.end_object();
    } else if (value.kind() == json::Kind::array) {
        out.begin_array();
        value.elements([&](json::View element) { spell_briefly(out, element); });
        out.end_array();
    } else {
        out.raw(value.raw());
    }
}

// The same value with the shortest escapes: an ä may arrive as six bytes.
Json briefly_spelled(Json const& value) {
    json::Writer out;
    spell_briefly(out, json::View(value));
    return out.json();
}

void put_aside(Json& output, Attached& attached, std::size_t output_bytes) {
    if (output.size() <= output_bytes) return;
    if (Json brief = briefly_spelled(output); brief.size() < output.size())
        output = std::move(brief);
    if (output.size() <= output_bytes || output.size() > limits::artifact_bytes_max) return;
    attached.list.push_back(whole(output));
    attached.described = true;
    // An escaped character can take six bytes.
    output = excerpt(*attached.list.back().bytes,
                     std::min(limits::excerpt_bytes_max, output_bytes / 16));
}

}  // namespace

void spill(Command& command, std::size_t output_bytes) {
    if (auto* submit = std::get_if<Submit>(&command.body)) {
        // A decision's output is also part of its content, which is kept as it came.
        bool const settles = submit->what.kind == SubmissionKind::result;
        if (settles) put_aside(submit->what.output, submit->attached, output_bytes);
        return;
    }
    if (auto* poll = std::get_if<PollOutcome>(&command.body)) {
        auto* const done = std::get_if<Done>(&poll->what);
        if (done) put_aside(done->output, done->attached, output_bytes);
        return;
    }
    auto* const outcome = std::get_if<ToolOutcome>(&command.body);
    auto* const done = outcome ? std::get_if<Done>(&outcome->what) : nullptr;
    if (done) put_aside(done->output, done->attached, output_bytes);
}

namespace {

Artifact const* put_aside(Submit const& submit) {
    return submit.attached.described ? &submit.attached.list.back() : nullptr;
}

}  // namespace

Json whole_output(Submit const& submit) {
    Artifact const* const aside = put_aside(submit);
    if (aside == nullptr) return submit.what.output;
    if (aside->mime == "application/json") return Json::trusted(*aside->bytes);
    return Json::trusted(json::quote(*aside->bytes));
}

std::size_t output_bytes(Submit const& submit) {
    Artifact const* const aside = put_aside(submit);
    return aside == nullptr ? submit.what.output.size() : aside->bytes->size();
}

}  // namespace dormouse::wire
