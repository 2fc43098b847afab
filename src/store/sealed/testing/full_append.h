#pragma once
// An append with everything that has contents.

#include "port/store_rows.h"

#include <cstdint>
#include <memory>
#include <string>

namespace dormouse::store {

inline SessionId session(std::uint8_t number) {
    Bits128 bits{};
    bits[4] = number;
    bits[15] = number;
    return SessionId{bits};
}

inline port::Append full_append(SessionId id, std::string const& content) {
    port::Append out;
    out.session = id;
    out.frame = {1, 2, "[[\"" + content + "\",1,{}]]"};
    out.row = port::SessionRow{
        .id = id, .project = "p", .agent = "a", .alias = {}, .title = content, .status = "active"};
    out.snapshot = port::SnapshotRow{1, 1, "{\"" + content + "\"}"};
    out.artifacts.push_back({2, std::make_shared<std::string const>(content)});
    out.outbox.push_back({.key = {id, 1, 0},
                          .kind = "webhook",
                          .target = "https://e.org",
                          .body = content,
                          .last_error = content});
    out.secrets.push_back({1, 1, content});
    out.rules.push_back({.id = "rul_1", .body = content, .session = id});
    return out;
}

}  // namespace dormouse::store
