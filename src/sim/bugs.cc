#include "sim/bugs.h"

#include <utility>

namespace dormouse::sim {

using namespace dormouse::session;

void PlantedJournal::commit(std::vector<port::Append> appends,
                            port::Fn<void(std::vector<port::AppendResult>)> done) {
    for (port::Append& append : appends) spoil(append);
    if (bug_ == Bug::ack_before_durable) {
        std::size_t const count = appends.size();
        inner_.commit(std::move(appends), [](auto const&) {});
        return machine_.post([count, done = std::move(done)]() mutable {
            done(std::vector<port::AppendResult>(count));
        });
    }
    inner_.commit(std::move(appends), [bug = bug_, done = std::move(done)](auto results) mutable {
        for (auto& result : results) {
            if (result) continue;
            if (bug == Bug::failure_swallowed) result = {};
            if (bug == Bug::fail_stop_hidden)
                result = fail(Code::store_unavailable, "it may return");
        }
        done(std::move(results));
    });
}

void PlantedJournal::spoil(port::Append& append) {
    if (bug_ == Bug::keys_forgotten) append.keys.clear();
    if (bug_ == Bug::rows_forgotten) append.pending.clear();
    if (bug_ == Bug::outbox_forgotten) append.outbox.clear();
    if (bug_ == Bug::intent_undriven && append.drive == port::Drive::keep)
        append.drive = port::Drive::none;
    if (bug_ == Bug::wake_forgotten && machine_.world().happens(200)) append.wake_changed = false;
}

void PlantedEffects::ask_model(port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                               port::Outcome done) {
    if (bug_ != Bug::effect_before_intent) {
        return PassingEffects::ask_model(std::move(request), std::move(delta), std::move(done));
    }
    SessionId const session = request.session;
    auto eager = [this, session, done = std::move(done)](Command::Body outcome) mutable {
        if (auto const* reply = std::get_if<ModelReply>(&outcome)) run_at_once(session, *reply);
        done(std::move(outcome));
    };
    PassingEffects::ask_model(std::move(request), std::move(delta), std::move(eager));
}

// Makes up what the runner would have written first.
void PlantedEffects::run_at_once(SessionId session, ModelReply const& reply) {
    if (reply.calls.empty() || reply.calls.front().at_once) return;
    PendingId const pending{session, 1, 1, {}};
    RunTool run{pending, 1, reply.calls.front().tool, reply.calls.front().input, {}};
    PassingEffects::run_tool(session, {1'000'000, 1}, "demo", std::move(run),
                             [](Command::Body const&) {});
}

void PlantedEffects::run_tool(SessionId session, EffectId id, std::string agent, RunTool run,
                              port::Outcome done) {
    if (bug_ == Bug::effect_not_started && world_.happens(200)) return;
    if (bug_ == Bug::effect_started_twice && world_.happens(200)) {
        PassingEffects::run_tool(session, id, agent, run, [](Command::Body const&) {});
    }
    PassingEffects::run_tool(session, id, std::move(agent), std::move(run), std::move(done));
}

std::vector<port::AppendResult> PlantedStore::commit(std::span<port::Append const> appends) {
    bool const admitted = bug_ == Bug::no_fence && !takes_part();
    auto const before = disk_->nodes;
    {
        std::scoped_lock const lock(disk_->mutex);
        if (admitted) disk_->nodes[epoch()] = incarnation();
        for (port::Append const& append : appends) {
            auto const found = disk_->sessions.find(append.session.number());
            bool const has_driver = bug_ == Bug::driver_ignored && found != disk_->sessions.end();
            if (has_driver) found->second.driver = 0;
        }
    }
    std::vector<port::Append> sent(appends.begin(), appends.end());
    if (bug_ == Bug::stamp_ignored)
        for (port::Append& append : sent) append.stamp.reset();
    auto results = MemoryStore::commit(sent);
    if (admitted) disk_->nodes = before;
    return results;
}

bool needs_processes(Bug bug) { return bug >= Bug::no_fence; }

bool needs_fall_back(Bug bug) { return bug == Bug::stamp_ignored || bug == Bug::runs_forgotten; }

}  // namespace dormouse::sim
