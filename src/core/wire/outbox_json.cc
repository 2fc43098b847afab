#include "wire/outbox_json.h"

#include "base/text/utf8.h"
#include "json/stored.h"
#include "session/limits.h"
#include "wire/outbox_fields.h"

#include <algorithm>
#include <array>

namespace dormouse::wire {

namespace {

// In the order of OutboxBody.
constexpr std::array<std::string_view, std::variant_size_v<OutboxBody>> kinds{
    "start_run", "stop_run", "run_ended", "mail", "run_progress", "mail_lost"};

// The text parts of a reply, joined, as one JSON string of at most task_result_bytes_max.
Json text_of(Json const& parts) {
    std::string text;
    json::View(parts).elements([&](json::View part) {
        if (part["type"].string_or("") == "text") text += part["text"].string_or("");
    });
    if (text.size() > limits::task_result_bytes_max) {
        text.resize(cut_utf8(text, limits::task_result_bytes_max).size());
        text += "\n[cut here: the task's session has the rest]";
    }
    return Json::trusted(json::quote(text));
}

}  // namespace

void ReplyForm::write(json::Writer& out, Json const& reply, FieldContext const&) {
    out.value(text_of(reply));
}

std::string write_outbox_body(OutboxBody const& what) {
    json::Writer out;
    out.begin_object().member("kind", kinds.at(what.index()));
    std::visit([&]<class P>(P const& message) { write_all(rows<P>, out, message, {}); }, what);
    return out.end_object().take();
}

Result<OutboxBody> read_outbox_body(std::string_view text) {
    if (!json::is_json(text)) return fail(Code::internal, "A stored outbox message is damaged.");
    Members members{json::View(text)};
    std::string const kind = members["kind"].string_or("");
    auto const found = std::ranges::find(kinds, kind);
    if (found == kinds.end())
        return fail(Code::newer_format,
                    "An outbox message of kind '" + kind + "' was written by a newer release.");
    OutboxBody what;
    read_choice(what, static_cast<std::size_t>(found - kinds.begin()), members, {});
    return what;
}

}  // namespace dormouse::wire
