#include "wire/post_json.h"

#include "base/utf8.h"
#include "json/stored.h"
#include "session/limits.h"
#include "wire/mail_json.h"
#include "wire/names.h"

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

struct WriteBody {
    json::Writer& out;

    void operator()(StartRun const& p) const {
        out.member("kind", "start_run").member("task", p.task).member("run", p.run);
        out.member("projectID", p.project).member("agentID", p.agent).member("title", p.title);
        out.member("cwd", p.cwd).member("parts", p.parts).member("by", actor_text(p.by));
        if (p.depth != 1) out.member("depth", p.depth);
        if (p.fork) out.member("fork", true);
    }
    void operator()(StopRun const& p) const {
        out.member("kind", "stop_run").member("task", p.task).member("run", p.run);
        out.member("ends", p.ends).member("why", p.why);
        if (!p.reason.empty()) out.member("reason", p.reason);
    }
    void operator()(RunEnded const& p) const {
        out.member("kind", "run_ended").member("task", p.task).member("run", p.run);
        out.member("finishReason", text(p.finish)).member("said", text_of(p.said));
        out.member("error", p.error).member("gone", p.gone);
    }
    void operator()(RunProgress const& p) const {
        out.member("kind", "run_progress").member("task", p.task).member("run", p.run);
        out.member("text", p.text);
    }
    void operator()(MailLost const& p) const {
        out.member("kind", "mail_lost").member("mailID", text(p.mail)).key("to");
        write_mail_targets(out, {p.to});
    }
    void operator()(Mail const& mail) const {
        out.member("kind", "mail");
        write_mail(out, mail);
    }
};

std::uint32_t number(json::View v, std::string_view name) {
    return static_cast<std::uint32_t>(v[name].integer_or(0));
}

std::string string(json::View v, std::string_view name) { return v[name].string_or(""); }

}  // namespace

std::string write_post(PostBody const& what) {
    json::Writer out;
    out.begin_object();
    std::visit(WriteBody{out}, what);
    return out.end_object().take();
}

Result<PostBody> read_post(std::string_view text) {
    if (!json::is_json(text)) return fail(Code::internal, "A stored post is damaged.");
    json::View const v(text);
    std::string const kind = string(v, "kind");
    if (kind == "start_run") {
        return StartRun{number(v, "task"),
                        number(v, "run"),
                        string(v, "projectID"),
                        string(v, "agentID"),
                        string(v, "title"),
                        string(v, "cwd"),
                        v["parts"].copy(),
                        parse_actor(string(v, "by")),
                        static_cast<std::uint32_t>(v["depth"].integer_or(1)),
                        v["fork"].boolean_or(false)};
    }
    if (kind == "run_progress")
        return RunProgress{number(v, "task"), number(v, "run"), string(v, "text")};
    if (kind == "mail_lost") {
        MailLost lost{parse_mail_id(string(v, "mailID")).value_or(MailId()), {}};
        for (MailTarget& to : read_mail_targets(v["to"])) lost.to = std::move(to);
        return lost;
    }
    if (kind == "stop_run") {
        return StopRun{number(v, "task"), number(v, "run"), v["ends"].boolean_or(false),
                       string(v, "why"), string(v, "reason")};
    }
    if (kind == "run_ended") {
        return RunEnded{
            number(v, "task"),
            number(v, "run"),
            parse<FinishReason>(string(v, "finishReason")).value_or(FinishReason::error),
            v["said"].copy(),
            string(v, "error"),
            v["gone"].boolean_or(false)};
    }
    if (kind == "mail") return read_mail(v);
    return fail(Code::newer_format,
                "A post of kind '" + kind + "' was written by a newer release.");
}

}  // namespace dormouse::wire
