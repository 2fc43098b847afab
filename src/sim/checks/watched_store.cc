#include "sim/checks/watched_store.h"

#include "wire/journal/record.h"

#include <algorithm>

namespace dormouse::sim {

using namespace dormouse::session;

namespace {

// The epoch of an intent; nullopt: the event is none.
std::optional<Epoch> intent_of(Event const& event) {
    if (auto const* model = std::get_if<ModelRequested>(&event.body)) return model->epoch;
    if (auto const* tool = std::get_if<ToolStarted>(&event.body)) return tool->epoch;
    return std::nullopt;
}

}  // namespace

WatchedStore::Before WatchedStore::before(SessionId session) const {
    std::scoped_lock const lock(disk_->mutex);
    auto const found = disk_->sessions.find(session.number());
    if (found == disk_->sessions.end()) return {};
    return {found->second.driver, found->second.stamp};
}

// One at a time: the driver before each is what the checks need.
std::vector<port::AppendResult> WatchedStore::commit(std::span<port::Append const> appends) {
    std::vector<port::AppendResult> out;
    for (port::Append const& append : appends) {
        auto const [driver, stamp] = before(append.session);
        std::set<Epoch> const others = nodes();
        bool const member = takes_part();
        out.push_back(PlantedStore::commit({&append, 1}).front());
        if (!out.back() || !shared()) continue;
        bool const free = driver == 0 || driver == append.epoch || !others.contains(driver);
        if (append.drive != port::Drive::none && !free)
            findings_.add("driver: two processes decide for a session");
        if (append.stamp && *append.stamp != stamp)
            findings_.add("fork: an append follows events that are not stored");
        check(append, member);
    }
    return out;
}

void WatchedStore::check(port::Append const& append, bool takes_part) {
    if (!takes_part) findings_.add("driver: a process that is gone appends");
    auto const records = wire::unpack(append.session, append.frame.first, append.frame.bytes);
    if (append.frame.count == 0 || !records) return;
    for (wire::RecordPtr const& record : *records) {
        auto const epoch = intent_of(record->event);
        if (!epoch) continue;
        if (append.drive == port::Drive::none)
            findings_.add("driver: an intent of a process that does not drive the session");
        if (*epoch != append.epoch) findings_.add("driver: an intent of another process");
    }
}

}  // namespace dormouse::sim
