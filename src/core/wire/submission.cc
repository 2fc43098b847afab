#include "wire/submission.h"

#include "base/text/chars.h"
#include "json/json.h"
#include "wire/part_fields.h"

namespace dormouse::wire {

using namespace dormouse::session;

Sha256 digest_with_files(Submission const& what, std::vector<InputFile> const& files) {
    json::Writer out;
    out.begin_object().key("files").begin_array();
    for (InputFile const& file : files) {
        out.begin_object()
            .member("name", file.artifact.name)
            .member("mime", file.artifact.mime)
            .member("digest", digest_text(file.artifact.digest))
            .end_object();
    }
    out.end_array().member("output", what.output);
    return sha256(json::canonical(out.end_object().json()));
}

Submission submitted_decision(bool approved, std::string reason, Json arguments, Json content,
                              std::optional<RuleTerms> rule) {
    Submission out;
    out.kind = SubmissionKind::decision;
    out.approved = approved;
    out.reason = std::move(reason);
    json::Writer digested;
    digested.begin_object().member("approved", approved);
    if (!arguments.is_null()) digested.member("arguments", arguments);
    if (!content.is_null()) digested.member("content", content);
    if (rule) Form<RuleTerms>::write(digested.key("rule"), *rule, {});
    out.digest = sha256(json::canonical_object("decision", digested.end_object().json()));
    json::View const form(content);
    out.action = form["action"].string_or("");
    if (json::View const output = form["output"]; output.exists()) out.output = output.copy();
    if (!arguments.is_null()) out.arguments_digest = sha256(json::canonical(arguments));
    out.arguments = std::move(arguments);
    out.content = std::move(content);
    out.rule = std::move(rule);
    return out;
}

std::optional<Sha256> parse_digest(std::string_view text) {
    constexpr std::string_view prefix = "sha256:";
    if (text.size() != prefix.size() + 64 || !text.starts_with(prefix)) return std::nullopt;
    Sha256 digest{};
    for (std::size_t i = 0; i < digest.size(); ++i) {
        unsigned byte = 0;
        for (char const c : text.substr(prefix.size() + 2 * i, 2)) {
            bool const digit = is_digit(c);
            if (!digit && (c < 'a' || c > 'f')) return std::nullopt;
            byte = byte * 16 + static_cast<unsigned>(digit ? c - '0' : c - 'a' + 10);
        }
        digest[i] = static_cast<std::uint8_t>(byte);
    }
    return digest;
}

Prompt text_prompt(std::string_view text) {
    Prompt out;
    json::Writer parts;
    parts.begin_array().begin_object().member("type", "text").member("text", text);
    out.parts = parts.end_object().end_array().json();
    out.answer_output = Json::trusted(json::quote(text));
    out.answer_digest = sha256(json::canonical_object("output", out.answer_output));
    return out;
}

}  // namespace dormouse::wire
