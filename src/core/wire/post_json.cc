#include "wire/post_json.h"

#include "base/utf8.h"
#include "json/stored.h"
#include "session/limits.h"
#include "wire/part_fields.h"

#include <algorithm>
#include <array>

namespace dormouse::wire {

using namespace dormouse::session;

namespace {

// The text parts of a reply, one after the other, as one JSON string: no longer than a parent may
// keep.
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

// In the order of PostBody.
constexpr std::array<std::string_view, std::variant_size_v<PostBody>> kinds{
    "start_run", "stop_run", "run_ended", "mail", "run_progress", "mail_lost"};

struct SaidForm : Form<Json> {
    static void write(json::Writer& out, Json const& said, Whose const&) {
        out.value(text_of(said));
    }
};

}  // namespace

template <>
inline constexpr auto rows<StartRun> =
    std::tuple(field("task", &StartRun::task), field("run", &StartRun::run),
               field("projectID", &StartRun::project), field("agentID", &StartRun::agent),
               field("title", &StartRun::title), field("cwd", &StartRun::cwd),
               field("parts", &StartRun::parts), field("by", &StartRun::by),
               maybe("depth", &StartRun::depth, 1), maybe("fork", &StartRun::fork));
template <>
inline constexpr auto rows<StopRun> = std::tuple(
    field("task", &StopRun::task), field("run", &StopRun::run), field("ends", &StopRun::ends),
    field("why", &StopRun::why), maybe("reason", &StopRun::reason));
template <>
inline constexpr auto rows<RunEnded> =
    std::tuple(field("task", &RunEnded::task), field("run", &RunEnded::run),
               field("finishReason", &RunEnded::finish, FinishReason::error),
               field<SaidForm>("said", &RunEnded::said), field("error", &RunEnded::error),
               field("gone", &RunEnded::gone));
template <>
inline constexpr auto rows<RunProgress> =
    std::tuple(field("task", &RunProgress::task), field("run", &RunProgress::run),
               field("text", &RunProgress::text));
template <>
inline constexpr auto rows<MailLost> =
    std::tuple(field("mailID", &MailLost::mail), field<OneOfForm<MailTarget>>("to", &MailLost::to));

std::string write_post(PostBody const& what) {
    json::Writer out;
    out.begin_object().member("kind", kinds.at(what.index()));
    std::visit([&]<class P>(P const& post) { write_all(rows<P>, out, post, {}); }, what);
    return out.end_object().take();
}

Result<PostBody> read_post(std::string_view text) {
    if (!json::is_json(text)) return fail(Code::internal, "A stored post is damaged.");
    Members members{json::View(text)};
    std::string const kind = members["kind"].string_or("");
    auto const found = std::ranges::find(kinds, kind);
    if (found == kinds.end())
        return fail(Code::newer_format,
                    "A post of kind '" + kind + "' was written by a newer release.");
    PostBody what;
    read_choice(what, static_cast<std::size_t>(found - kinds.begin()), members, {});
    return what;
}

}  // namespace dormouse::wire
