#include "wire/view/view_files.h"

#include "json/json.h"

namespace dormouse::wire {

using namespace dormouse::session;

std::vector<Seq> files_of(ModelView const& view, SessionId const& session) {
    struct Named {
        Seq seq = 0;
        std::uint64_t bytes = 0;
    };
    std::vector<Named> all;
    std::uint64_t bytes = 0;
    auto const add = [&](json::View part) {
        auto const id = part["artifactID"].string();
        auto const named = id ? parse_numbered("art_", *id) : std::nullopt;
        if (!named || named->session != session) return;
        all.push_back({named->number, static_cast<std::uint64_t>(part["bytes"].integer_or(0))});
        bytes += all.back().bytes;
    };
    for (ViewMessage const& message : view.messages) {
        if (message.role == ViewMessage::Role::user) json::View(message.parts).elements(add);
    }
    std::uint64_t leave = 0;
    if (bytes > view_file_bytes_max) {
        std::uint64_t const over = bytes - view_file_bytes_max;
        leave = view_file_bytes_leave * ((over - 1) / view_file_bytes_leave + 1);
    }
    std::vector<Seq> out;
    std::uint64_t before = 0;
    for (Named const& one : all) {
        if (before >= leave) out.push_back(one.seq);
        before += one.bytes;
    }
    return out;
}

}  // namespace dormouse::wire
