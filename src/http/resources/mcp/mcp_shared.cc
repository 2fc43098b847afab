#include "http/resources/mcp/mcp_shared.h"

#include "json/json.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace dormouse::http {
namespace {

constexpr int changes_max = 100;             // attempts, while other servers change the same value
constexpr std::size_t read_one_by_one = 16;  // buckets; more are read with all others

Error unknown_session() { return {Code::not_found, "This session of MCP was not found."}; }

using StoredMarks = std::map<std::string, McpMarks>;  // by bucket

std::string value_of(std::string const& bucket) { return std::string(mcp_marks_values) + bucket; }

Result<void> add_marks(port::SharedValues& values, std::string const& name, StoredMarks& out) {
    auto const found = values.values(name);
    if (!found) return std::unexpected(found.error());
    for (port::SharedValue const& one : *found)
        out[one.name.substr(mcp_marks_values.size())] = McpMarks::read(one.value);
    return {};
}

// Returns whether something was changed. An answer of the store may have been lost: then the change
// is found done.
Result<bool> change_marks(port::SharedValues& values, std::string const& name,
                          std::function<bool(McpMarks&)> const& change) {
    for (int attempt = 0; attempt < changes_max; ++attempt) {
        auto const found = values.values(name);
        if (!found) return std::unexpected(found.error());
        auto const now = found->empty() ? port::SharedValue{name, "", ""} : found->front();
        McpMarks marks = McpMarks::read(now.value);
        if (!change(marks)) return attempt > 0;
        auto const changed = values.exchange({name, marks.text(), now.mark});
        if (!changed) return std::unexpected(changed.error());
        if (*changed) return true;
    }
    return fail(Code::store_unavailable, "other servers change the same value all the time");
}

}  // namespace

void McpShared::use(std::string const& owner, std::string const& id,
                    port::Fn<void(Result<std::uint64_t>)> done) {
    if (!sessions_.use(owner, id)) return done(std::unexpected(unknown_session()));
    if (!services_.values) return done(std::uint64_t{0});
    auto const marks = std::make_shared<StoredMarks>();
    std::string const key = mcp_session_key(id);
    auto work = [marks, name = value_of(mcp_bucket(key)), &values = *services_.values](
                    port::Store& /*store*/) { return add_marks(values, name, *marks); };
    auto then = [this, marks, key, owner, id,
                 done = std::move(done)](Result<void> const& read) mutable {
        if (!read) return done(std::unexpected(read.error()));
        McpMarks const& now = (*marks)[mcp_bucket(key)];
        if (now.has_ended(key)) sessions_.end(owner, id);
        if (!sessions_.use(owner, id)) return done(std::unexpected(unknown_session()));
        done(now.newest);
    };
    services_.journal.write(std::move(work), scope_.guard(std::move(then)));
}

void McpShared::end(std::string const& owner, std::string const& id,
                    port::Fn<void(Result<void>)> done) {
    if (!sessions_.use(owner, id)) return done(std::unexpected(unknown_session()));
    auto finish = [this, owner, id, done = std::move(done)](Result<bool> const& ended) mutable {
        if (!ended) return done(std::unexpected(ended.error()));
        bool const here = sessions_.end(owner, id);
        bool const first = services_.values ? *ended : here;
        first ? done({}) : done(std::unexpected(unknown_session()));
    };
    std::string const key = mcp_session_key(id);
    change(mcp_bucket(key), [key](McpMarks& marks) { return marks.end(key); }, std::move(finish));
}

void McpShared::cancel(std::string const& id, std::vector<std::string> const& requests,
                       port::Fn<void(Result<void>)> done) {
    for (std::string const& request : requests) sessions_.cancel(id, request);
    std::string const session = mcp_session_key(id);
    std::vector<std::string> keys;
    for (std::string const& request : requests) keys.push_back(mcp_request_key(session, request));
    auto withdraw = [keys = std::move(keys)](McpMarks& marks) {
        for (std::string const& key : keys) marks.withdraw(key);
        return true;
    };
    change(mcp_bucket(session), std::move(withdraw),
           [done = std::move(done)](Result<bool> const& stored) mutable {
               stored ? done({}) : done(std::unexpected(stored.error()));
           });
}

// Notifies the other servers when the change is stored. A process alone stores nothing.
void McpShared::change(std::string const& bucket, Change change,
                       port::Fn<void(Result<bool>)> done) {
    if (!services_.values) return done(true);
    auto const changed = std::make_shared<Result<bool>>(false);
    auto work = [changed, name = value_of(bucket), change = std::move(change),
                 &values = *services_.values](port::Store& /*store*/) -> Result<void> {
        *changed = change_marks(values, name, change);
        if (!*changed) return std::unexpected(changed->error());
        return {};
    };
    auto then = [this, changed, bucket, done = std::move(done)](Result<void> const& ran) mutable {
        if (!ran) return done(std::unexpected(ran.error()));
        if (**changed && services_.publish)
            services_.publish("{\"mcp\":" + json::quote(bucket) + "}");
        done(*changed);
    };
    services_.journal.write(std::move(work), scope_.guard(std::move(then)));
}

void McpShared::on_signal(std::string_view text) {
    if (!services_.values || !text.starts_with("{\"mcp\":")) return;
    auto const json = json::check(text);
    if (!json) return;
    auto const bucket = json::View(*json)["mcp"].string_or("");
    if (sessions_.buckets().contains(bucket)) read({bucket}, [] {});
}

void McpShared::follow() {
    if (services_.values && !std::exchange(following_, true)) read_again();
}

void McpShared::read_again() {
    services_.loop.after(apart, scope_.guard([this] {
        auto const buckets = sessions_.buckets();
        following_ = !buckets.empty();
        if (following_) read(buckets, [this] { read_again(); });
    }));
}

// After a failure the next read may succeed.
void McpShared::read(std::set<std::string> const& buckets, port::Fn<void()> done) {
    auto const marks = std::make_shared<StoredMarks>();
    auto work = [marks, buckets,
                 &values = *services_.values](port::Store& /*store*/) -> Result<void> {
        if (buckets.size() > read_one_by_one)
            return add_marks(values, std::string(mcp_marks_values), *marks);
        for (std::string const& bucket : buckets)
            if (auto read = add_marks(values, value_of(bucket), *marks); !read) return read;
        return {};
    };
    auto use = [this, marks, done = std::move(done)](Result<void> const& /*read*/) mutable {
        for (auto const& [bucket, one] : *marks) sessions_.apply(bucket, one);
        done();
    };
    services_.journal.write(std::move(work), scope_.guard(std::move(use)));
}

}  // namespace dormouse::http
