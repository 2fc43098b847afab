#include "mcp_client/requests/progress.h"

#include "base/text/cut.h"

namespace dormouse::mcp_client {

Json read_progress(json::View params) {
    json::Writer out;
    out.begin_object();
    for (std::string_view const name : {"progress", "total"})
        if (params[name].number()) out.member_raw(name, params[name].raw());
    if (auto const message = params["message"].string(); message && !message->empty())
        out.member("message", cut_with_mark(*message, progress_message_bytes_max, "…"));
    Json payload = out.end_object().json();
    return payload.text() == "{}" ? Json() : payload;
}

Json progress_of(std::string const& message) {
    json::Writer out;
    out.begin_object().member("message", cut_with_mark(message, progress_message_bytes_max, "…"));
    return out.end_object().json();
}

void Progress::note(PendingId const& call, Json payload) {
    Key const key{call.session, call.call};
    Line& line = lines_[key];
    line.call = call;
    if (payload.is_null() || line.reports >= reports_max) return;
    line.newest = std::move(payload);
    if (!line.waits) pass_on(key);
}

void Progress::pass_on(Key const& key) {
    Line& line = lines_.at(key);
    ++line.reports;
    line.waits = true;
    report_(line.call, std::exchange(line.newest, Json()));
    loop_.after(pause, scope_.guard([this, key] {
        auto const at = lines_.find(key);
        if (at == lines_.end()) return;
        at->second.waits = false;
        if (!at->second.newest.is_null()) pass_on(key);
    }));
}

void Progress::ended(PendingId const& call) { lines_.erase({call.session, call.call}); }

}  // namespace dormouse::mcp_client
