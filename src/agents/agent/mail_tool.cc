#include "agent/builtin.h"

#include "base/text/cut.h"
#include "base/text/text.h"
#include "json/json.h"
#include "session/limits.h"

#include <span>

namespace dormouse::agent {

using namespace dormouse::session;

namespace {

constexpr Duration notified_within{2'000};
constexpr std::string_view cut_mark = "\n[cut here: a mail must be at most 64 KiB]";

std::string cut(std::string text) {
    if (text.size() <= limits::mail_bytes_max) return text;
    return cut_with_mark(text, limits::mail_bytes_max - cut_mark.size(), cut_mark);
}

port::MailDraft draft_of(json::View input) {
    port::MailDraft draft;
    draft.text = cut(input["message"].string_or(""));
    if (auto const to = input["to"].string()) draft.to.push_back(*to);
    input["to"].elements([&](json::View one) { draft.to.push_back(one.string_or("")); });
    if (auto const resume = input["resume"].boolean())
        draft.wake = *resume ? Wake::always : Wake::never;
    if (auto const ttl = input["ttl"].integer()) draft.ttl = Duration(*ttl);
    draft.reply_to = parse_mail_id(input["reply_to"].string_or(""));
    return draft;
}

std::string word_for(port::MailDelivery const& delivery) {
    std::string const word(port::text(delivery.status));
    return delivery.why.empty() ? word : word + ": " + delivery.why;
}

// One string for one receiver, else a list.
Json output_of(port::MailSubmission const& submitted, bool to_one) {
    if (to_one && submitted.deliveries.size() == 1)
        return Json::trusted(json::quote(word_for(submitted.deliveries.front())));
    json::Writer out;
    out.begin_array();
    for (port::MailDelivery const& delivery : submitted.deliveries) {
        out.begin_object()
            .member("to", delivery.name)
            .member("status", port::text(delivery.status));
        if (!delivery.why.empty()) out.member("reason", delivery.why);
        out.end_object();
    }
    return out.end_array().json();
}

ToolResult result_of(Result<port::MailSubmission> submitted, bool to_one) {
    if (!submitted)
        return Failed{submitted.error().detail, info(submitted.error().code).next == Next::retry};
    Json metadata;
    if (submitted->id.seq != 0)
        metadata = Json::trusted(R"({"mailID":")" + text(submitted->id) + "\"}");
    return Done{output_of(*submitted, to_one), "", std::move(metadata)};
}

StopTool send(port::Mailer* mailer, ToolCall const& call, port::Fn<void(ToolResult)> done) {
    if (!mailer) {
        done(Failed{"mail is not available in this runtime"});
        return {};
    }
    json::View const input(call.input);
    bool const to_one = input["to"].string().has_value();
    Sha256 const key = sha256("broadcast " + call.pending.text());
    Sha256 const digest = sha256(json::canonical(call.input));
    port::MailSender sender{{ActorType::agent, call.agent},
                            hex(std::span(key).first(16)),
                            hex(std::span(digest).first(16))};
    mailer->send(call.session_id(), draft_of(input), std::move(sender), notified_within,
                 [to_one, done = std::move(done)](Result<port::MailSubmission> submitted) mutable {
                     done(result_of(std::move(submitted), to_one));
                 });
    return {};
}

}  // namespace

Tool broadcast(FindMailer mailer) {
    Tool tool;
    tool.name = "broadcast";
    tool.description =
        "Sends a message to other agents: to one alias, to several, or without `to` to all that "
        "have one. An agent that is idle wakes with it; one that works reads it with its next "
        "step. An answer comes back as mail.";
    tool.schema = Json::trusted(
        R"({"type":"object","properties":{)"
        R"("to":{"anyOf":[{"type":"string","minLength":1,"maxLength":129},)"
        R"({"type":"array","minItems":1,"maxItems":1000,)"
        R"("items":{"type":"string","minLength":1,"maxLength":129}}]},)"
        R"("message":{"type":"string","minLength":1},"resume":{"type":"boolean"},)"
        R"("ttl":{"type":"integer","minimum":1,"maximum":31622400000,"description":)"
        R"("In ms: unread mail then expires, and you are notified."},)"
        R"("reply_to":{"type":"string"}},"required":["message"],"additionalProperties":false})");
    // A retry sends nothing twice: the call's id is the key of the mail.
    tool.terms.crash = CrashPolicy::retry;
    tool.start = [find = std::move(mailer)](ToolCall const& call, port::Fn<void(ToolResult)> done) {
        return send(find ? find() : nullptr, call, std::move(done));
    };
    return tool;
}

}  // namespace dormouse::agent
