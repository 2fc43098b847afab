#include "transcript/draft.h"

#include "base/text/cut.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace dormouse::transcript {

namespace {

constexpr std::size_t title_bytes_max = 80;

std::string first_line(std::string_view text) {
    return cut_with_mark(text.substr(0, text.find('\n')), title_bytes_max);
}

}  // namespace

std::optional<std::int64_t> time_ms(std::string_view text) {
    int year = 0;
    unsigned month = 0, day = 0, hour = 0, minute = 0;
    double second = 0;
    std::string const copy(text);
    if (std::sscanf(copy.c_str(), "%4d-%2u-%2uT%2u:%2u:%lfZ", &year, &month, &day, &hour, &minute,
                    &second) != 6)
        return std::nullopt;
    std::chrono::year_month_day const date{std::chrono::year(year), std::chrono::month(month),
                                           std::chrono::day(day)};
    if (!date.ok() || hour > 23 || minute > 59 || !(second >= 0 && second < 61))
        return std::nullopt;
    auto const days = std::chrono::sys_days(date).time_since_epoch().count();
    auto const minutes = (std::int64_t{days} * 24 + hour) * 60 + minute;
    return minutes * 60'000 + static_cast<std::int64_t>(second * 1'000);
}

void Draft::begin(std::string_view role, std::string_view at) {
    std::int64_t created = time_ms(at).value_or(0);
    if (!session_.messages.empty()) created = std::max(created, session_.messages.back().created);
    if (session_.created == 0) session_.created = created;
    json::Writer out;
    out.begin_object().member("role", role);
    session_.messages.push_back({.id = "msg_" + std::to_string(session_.messages.size() + 1),
                                 .created = created,
                                 .data = out.end_object().json()});
}

void Draft::user(std::string_view at) { begin("user", at); }

void Draft::assistant(std::string_view at) {
    bool const goes_on =
        !session_.messages.empty() &&
        json::View(session_.messages.back().data)["role"].string_or("") == "assistant";
    if (!goes_on) begin("assistant", at);
}

void Draft::add(Json part) {
    auto& parts = session_.messages.back().parts;
    parts.push_back({"prt_" + std::to_string(parts.size() + 1), std::move(part)});
}

void Draft::text(std::string const& text) {
    if (text.empty()) return;
    title(first_line(text));
    json::Writer out;
    out.begin_object().member("type", "text").member("text", text);
    add(out.end_object().json());
}

void Draft::reasoning(std::string const& text) {
    if (text.empty()) return;
    json::Writer out;
    out.begin_object().member("type", "reasoning").member("text", text);
    add(out.end_object().json());
}

void Draft::file(std::string const& mime, std::string const& base64) {
    json::Writer out;
    out.begin_object().member("type", "file").member("mime", mime);
    out.member("url", "data:" + mime + ";base64," + base64);
    add(out.end_object().json());
}

void Draft::call(std::string const& id, std::string const& tool, json::View input) {
    Call call{id, tool, {}, {}, false};
    if (input.exists() && input.kind() == json::Kind::object) {
        call.input = input.copy();
    } else {
        json::Writer out;
        out.begin_object().key("input");
        input.exists() ? out.raw(input.raw()) : out.null();
        call.input = out.end_object().json();
    }
    std::pair const place(session_.messages.size() - 1, session_.messages.back().parts.size());
    open_[id] = place;
    calls_.emplace(place, std::move(call));
    add(Json());  // finish() writes it
}

void Draft::result(std::string const& id, std::string const& output, bool failed) {
    auto const place = open_.find(id);
    if (place == open_.end()) return;
    Call& call = calls_.at(place->second);
    call.output = output;
    call.failed = failed;
}

Result<Transcript> Draft::finish(std::string const& name) {
    for (auto const& [place, call] : calls_) {
        json::Writer out;
        out.begin_object().member("type", "tool").member("tool", call.tool);
        out.member("callID", call.id).key("state").begin_object();
        out.member_raw("input", call.input.text());
        out.member("status", call.output && !call.failed ? "completed" : "error");
        if (call.output) out.member(call.failed ? "error" : "output", *call.output);
        out.end_object();
        session_.messages[place.first].parts[place.second].data = out.end_object().json();
    }
    std::erase_if(session_.messages,
                  [](opencode::Message const& message) { return message.parts.empty(); });
    if (session_.messages.empty())
        return fail(Code::bad_value, "it holds no message of " + session_.program);
    id(name);
    return Transcript{std::move(session_)};
}

std::vector<std::string> for_lines(std::string_view text,
                                   std::function<void(json::View)> const& each) {
    std::vector<std::string> out;
    for (std::size_t number = 1; !text.empty(); ++number) {
        auto const end = text.find('\n');
        auto const line = text.substr(0, end);
        bool const last = end == std::string_view::npos;
        text.remove_prefix(last ? text.size() : end + 1);
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        auto const checked = json::check(line);
        if (checked)
            each(json::View(*checked));
        else if (!last)
            out.push_back("line " + std::to_string(number) + ": " + checked.error().detail);
    }
    return out;
}

std::string joined_text(json::View content) {
    if (auto text = content.string()) return *text;
    if (content.kind() == json::Kind::object) return content["text"].string_or("");
    std::string out;
    content.elements([&](json::View part) {
        auto const text = joined_text(part);
        if (!text.empty() && !out.empty()) out += '\n';
        out += text;
    });
    return out;
}

}  // namespace dormouse::transcript
