#include "store/redis/redis_index.h"

#include "base/enum_words.h"

#include <array>
#include <iterator>
#include <map>
#include <utility>

namespace dormouse::store {

using port::PendingStatus;
using redis::Command;
using redis::Reply;

namespace {

constexpr std::string_view by_session = "by-session:";
constexpr std::size_t scan_count = 1'000;

// A pattern that fits this text only, at its start.
std::string pattern_of(std::string_view prefix) {
    std::string out;
    for (char const c : prefix) {
        if (std::string_view("*?[]\\^").contains(c)) out += '\\';
        out += c;
    }
    return out + "*";
}

void add(std::vector<Command>& out, Command command, std::size_t words) {
    if (command.size() > words) out.push_back(std::move(command));
}

}  // namespace

std::string RedisIndex::status_key(PendingStatus status) const {
    return key("by-status:") + std::string(word_of(status));
}

std::string RedisIndex::session_key(SessionId const& session) const {
    return key(by_session) + session.text();
}

Result<std::string> RedisIndex::open() {
    position_.clear();
    if (auto opened = connection_.open(); !opened) return std::unexpected(opened.error());
    // Another type, put there by others, is no position.
    auto const replies = connection_.send({{"GET", key("position")}});
    if (!replies) return std::unexpected(replies.error());
    if (replies->front().kind == Reply::Kind::text) position_ = replies->front().text;
    return position_;
}

Result<void> RedisIndex::begin_rebuild() {
    Command remove{"DEL", key("position"), key("expiration")};
    for (std::string_view const word : words_of<PendingStatus>)
        remove.push_back(key("by-status:") + std::string(word));
    if (auto const removed = connection_.ask({remove}); !removed)
        return std::unexpected(removed.error());
    position_.clear();
    return remove_sessions();
}

Result<void> RedisIndex::remove_sessions() {
    std::string const pattern = pattern_of(key(by_session));
    std::string cursor = "0";
    do {
        auto const page = connection_.ask(
            {{"SCAN", cursor, "MATCH", pattern, "COUNT", std::to_string(scan_count)}});
        if (!page) return std::unexpected(page.error());
        auto const& both = page->front().list;
        if (both.size() != 2)
            return fail(Code::store_unavailable, connection_.place() + ": SCAN is malformed");
        cursor = both[0].text;
        Command remove{"DEL"};
        for (std::string& name : both[1].texts()) remove.push_back(std::move(name));
        if (remove.size() == 1) continue;
        if (auto const removed = connection_.ask({remove}); !removed)
            return std::unexpected(removed.error());
    } while (cursor != "0");
    return {};
}

// From here on the transaction fails if others change the position.
Result<void> RedisIndex::watch_position() {
    auto const replies = connection_.send({{"WATCH", key("position")}, {"GET", key("position")}});
    if (!replies) return std::unexpected(replies.error());
    Reply const& stored = replies->back();
    if (stored.kind != Reply::Kind::error && stored.text == position_) return {};
    return fail(Code::store_unavailable,
                connection_.place() + ": its keys were removed or changed by others");
}

Result<std::vector<Command>> RedisIndex::removals(
    std::vector<port::DeletedSession> const& deleted) {
    std::vector<Command> asked;
    for (port::DeletedSession const& one : deleted)
        asked.push_back({"SMEMBERS", session_key(one.id)});
    auto const found = connection_.ask(asked);
    if (!found) return std::unexpected(found.error());
    std::vector<std::string> ids;
    for (Reply const& reply : *found) std::ranges::move(reply.texts(), std::back_inserter(ids));
    std::vector<Command> out;
    Command sessions{"DEL"};
    for (port::DeletedSession const& one : deleted) sessions.push_back(session_key(one.id));
    add(out, std::move(sessions), 1);
    for (std::string_view const word : words_of<PendingStatus>) {
        Command remove{"SREM", key("by-status:") + std::string(word)};
        remove.insert(remove.end(), ids.begin(), ids.end());
        add(out, std::move(remove), 2);
    }
    Command remove{"ZREM", key("expiration")};
    remove.insert(remove.end(), ids.begin(), ids.end());
    add(out, std::move(remove), 2);
    return out;
}

// A few commands, however many calls there are.
std::vector<Command> RedisIndex::changes(std::vector<port::CallDocument> const& calls) const {
    std::map<SessionId, Command> sessions;
    std::array<Command, words_of<PendingStatus>.size()> has;
    std::array<Command, words_of<PendingStatus>.size()> lacks;
    Command expires{"ZADD", key("expiration")};
    Command settled{"ZREM", key("expiration")};
    for (std::size_t i = 0; i < has.size(); ++i) {
        std::string const name = status_key(static_cast<PendingStatus>(i));
        has[i] = {"SADD", name};
        lacks[i] = {"SREM", name};
    }
    for (port::CallDocument const& call : calls) {
        std::string const id = call.id.text();
        auto& session = sessions[call.id.session];
        if (session.empty()) session = {"SADD", session_key(call.id.session)};
        session.push_back(id);
        for (std::size_t i = 0; i < has.size(); ++i)
            (call.status == static_cast<PendingStatus>(i) ? has : lacks)[i].push_back(id);
        if (call.expires) expires.push_back(std::to_string(to_ms(*call.expires)));
        (call.expires ? expires : settled).push_back(id);
    }
    std::vector<Command> out;
    for (auto& [id, command] : sessions) out.push_back(std::move(command));
    for (Command& command : lacks) add(out, std::move(command), 2);
    for (Command& command : has) add(out, std::move(command), 2);
    add(out, std::move(settled), 2);
    add(out, std::move(expires), 2);
    return out;
}

Result<void> RedisIndex::apply(port::IndexBatch const& batch) {
    if (auto watched = watch_position(); !watched) return watched;
    auto commands = changes(batch.calls);
    auto removed = removals(batch.deleted);
    if (!removed) return std::unexpected(removed.error());
    std::ranges::move(*removed, std::back_inserter(commands));
    if (!batch.position.empty()) commands.push_back({"SET", key("position"), batch.position});
    if (auto done = execute(std::move(commands)); !done) return done;
    if (!batch.position.empty()) position_ = batch.position;
    return {};
}

// Redis carries out the rest of a transaction even if one command fails, on a key of another type
// for example. Without the position everything is made again.
Result<void> RedisIndex::execute(std::vector<Command> commands) {
    commands.insert(commands.begin(), {"MULTI"});
    commands.push_back({"EXEC"});
    auto const replies = connection_.ask(commands);
    if (!replies) return std::unexpected(replies.error());
    Reply const& done = replies->back();
    if (done.kind != Reply::Kind::list)
        return fail(Code::store_unavailable,
                    connection_.place() + ": another process writes the same keys");
    for (Reply const& one : done.list) {
        if (one.kind != Reply::Kind::error) continue;
        (void)connection_.send({{"DEL", key("position")}});
        return fail(Code::store_unavailable, connection_.place() + ": " + one.text);
    }
    return {};
}

}  // namespace dormouse::store
