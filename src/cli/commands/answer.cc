// Commands about who answers and how: answer, reassign.

#include "base/text/text.h"
#include "cli/client/resolve.h"
#include "cli/commands/commands.h"

#include <charconv>
#include <utility>

namespace dormouse::cli {
namespace {

// Returns the number that the text is; nullopt: it is another text.
std::optional<std::size_t> number_in(std::string_view text) {
    std::size_t number = 0;
    char const* const end = text.data() + text.size();
    auto const [at, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

// Returns the title of the chosen answer, or the text itself. A title may be a number, too.
Outcome<std::string> chosen(json::View call, std::string const& text) {
    json::View const choices = call["form"]["choices"];
    auto const number = number_in(text);
    if (choices.size() == 0 || !number) return text;
    std::size_t at = 0;
    std::optional<std::string> title;
    bool is_title = false;
    choices.elements([&](json::View choice) {
        is_title = is_title || choice["title"].string_or("") == text;
        if (++at == *number) title = choice["title"].string_or("");
    });
    if (is_title) return text;
    if (title) return *std::move(title);
    return failure(status::usage, "the number must be 1 to " + std::to_string(choices.size()),
                   "To answer with another number, use: --json-value '\"" + text + "\"'.");
}

Outcome<Json> answer_value(Context const& context, AnswerArgs const& args, json::View call) {
    if (args.json_value) return json_argument("--json-value", *args.json_value);
    auto const text = text_or_input(context, args.text.value_or(""));
    if (!text) return std::unexpected(text.error());
    if (!valid_utf8(*text)) return failure(status::usage, "the text is not valid UTF-8");
    if (text->empty() && args.files.empty())
        return failure(status::usage, "the answer must not be empty");
    auto const text_chosen = chosen(call, *text);
    if (!text_chosen) return std::unexpected(text_chosen.error());
    if (json::View const schema = call["schema"]; schema.exists() && !schema.is_null()) {
        bool const typed = schema["type"].exists() && schema["type"].string_or("") != "string";
        if (typed)
            return failure(status::usage, "this question needs an answer as JSON",
                           "Give the answer as JSON that fits its schema: --json-value '{…}'. The "
                           "schema: " +
                               escape_for_terminal(std::string(schema.raw())));
    }
    return Json::trusted(json::quote(*text_chosen));
}

Outcome<Json> answer_body(Context const& context, AnswerArgs const& args, std::string const& id,
                          json::View call) {
    auto const value = answer_value(context, args, call);
    if (!value) return std::unexpected(value.error());
    json::Writer body;
    body.begin_object().member("pendingID", id);
    body.key("result").begin_object().member("output", *value).end_object();
    if (!args.files.empty()) {
        auto const most = static_cast<std::size_t>(call["files"].integer_or(0));
        if (args.files.size() > most)
            return failure(status::usage, most == 0 ? "this call takes no files"
                                                    : "this answer must have at most " +
                                                          std::to_string(most) + " files");
        body.key("files").begin_array();
        if (auto const written = write_files(body, args.files); !written)
            return std::unexpected(written.error());
        body.end_array();
    }
    return body.end_object().json();
}

}  // namespace

Outcome<int> execute(Context const& context, AnswerArgs const& given) {
    AnswerArgs args = given;
    if (!args.json_value && args.files.empty()) take_text_alone(context, args.id, args.text);
    if (!args.text && !args.json_value && args.files.empty())
        return failure(status::usage, "give the answer: TEXT, --json-value JSON or --file FILE");
    auto found = connect_to_pending(context, args.id);
    if (!found) return std::unexpected(found.error());
    auto& [client, id] = *found;
    auto const call = client.get("/async-tool/pending/" + id);
    if (!call) return std::unexpected(call.error());
    auto const body = answer_body(context, args, id, json::View(call->body));
    if (!body) return std::unexpected(body.error());
    auto const reply = client.post("/async-tool/result", *body);
    if (!reply) return std::unexpected(reply.error());
    context.show(reply->body, submission_text(json::View(reply->body)));
    return status::done;
}

Outcome<int> execute(Context const& context, ReassignArgs const& args) {
    auto found = connect_to_pending(context, args.id);
    if (!found) return std::unexpected(found.error());
    auto& [client, id] = *found;
    json::Writer body;
    body.begin_object().key("to").begin_array();
    for (std::string const& name : args.to) {
        if (!valid_utf8(name)) return failure(status::usage, "--to is not valid UTF-8");
        body.value(name);
    }
    body.end_array().end_object();
    auto const reply = client.post("/async-tool/pending/" + id + "/reassign", body.json());
    if (!reply) return std::unexpected(reply.error());
    json::View const call(reply->body);
    std::string to;
    call["answer"]["from"].elements(
        [&](json::View one) { to += (to.empty() ? "" : ", ") + one.string_or(""); });
    context.show(reply->body, escape_for_terminal(plain(call["tool"]) + " " + plain(call["input"]) +
                                                  ": now asks " + to) +
                                  "\n");
    return status::done;
}

}  // namespace dormouse::cli
