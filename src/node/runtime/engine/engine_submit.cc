#include "json/json.h"
#include "runner/read/read_history.h"
#include "runtime/engine/engine.h"
#include "runtime/views.h"

#include <map>

// Outcomes of pending calls, one or many, and reading what became of them.
namespace dormouse {

using session::open_pause;

namespace {

bool names_existing(Code code) {
    return code == Code::conflict || code == Code::expired || code == Code::cancelled;
}

}  // namespace

void Runtime::Engine::offer(session::Submit command, std::string by,
                            std::shared_ptr<runtime::Reply<Submitted>> const& reply) {
    PendingId const pending = command.pending;
    runner::Asker asker{{session::ActorType::token, std::move(by)}};
    node_.runner.command(
        pending.session, std::move(command), std::move(asker),
        [this, reply, pending](Result<session::Answer> answer) {
            if (node_.meter) node_.meter->submitted(answer);
            if (answer) return (*reply)(runtime::submitted(*answer, pending));
            refuse_closed(pending, std::move(answer.error()),
                          [reply](Error error) { (*reply)(std::unexpected(std::move(error))); });
        });
}

// Adds the receipt of the existing outcome; the core only names its digest.
void Runtime::Engine::refuse_closed(PendingId pending, Error error,
                                    std::function<void(Error)> reply) {
    if (!names_existing(error.code)) return reply(std::move(error));
    runner::read_pending(node_.runner, node_.journal, pending,
                         [reply = std::move(reply), pending,
                          error = std::move(error)](Result<runner::Snapshot> snapshot) mutable {
                             auto const* const pause =
                                 snapshot ? snapshot->history.pause(pending) : nullptr;
                             if (pause && pause->receipt)
                                 error.extra = runtime::closed_extra(*pause->receipt);
                             reply(std::move(error));
                         });
}

void Runtime::Engine::submit(runtime::Entering what, runtime::Reply<Submitted> reply) {
    if (!what.command) return reply(std::unexpected(std::move(what.command.error())));
    PendingId const pending = what.pending;
    std::string const by = what.by;
    auto const shared_reply = std::make_shared<runtime::Reply<Submitted>>(std::move(reply));
    auto then = [this, pending, shared_reply, by, tool = std::move(what.tool),
                 command = *std::move(what.command)]() mutable {
        if (tool.empty()) return offer(std::move(command), by, shared_reply);
        node_.runner.read_lane(
            pending.session, [this, pending, shared_reply, by, tool, command = std::move(command)](
                                 Result<std::shared_ptr<runner::Lane>> lane) mutable {
                if (!lane) return (*shared_reply)(std::unexpected(std::move(lane.error())));
                auto const* call = open_pause((*lane)->state(), pending);
                if (call && call->spec.tool != tool)
                    return (*shared_reply)(dormouse::fail(
                        Code::wrong_tool,
                        "this is a call of '" + call->spec.tool + "', not of '" + tool + "'"));
                offer(std::move(command), by, shared_reply);
            });
    };
    allow(Operation::resume, pending, by, std::move(then),
          [shared_reply](Error error) { (*shared_reply)(std::unexpected(std::move(error))); });
}

void Runtime::Engine::call(PendingId pending, runtime::Reply<CallView> reply) {
    runner::read_pending(
        node_.runner, node_.journal, pending,
        [pending, reply = std::move(reply)](Result<runner::Snapshot> snapshot) mutable {
            if (!snapshot) return reply(std::unexpected(std::move(snapshot.error())));
            auto const* const pause = snapshot->history.pause(pending);
            if (!pause)
                return reply(dormouse::fail(Code::not_found, "No call has this pending id."));
            reply(runtime::call_view(snapshot->history, *pause));
        });
}

void Runtime::Engine::submit_all(std::vector<runtime::Entering> offers,
                                 runtime::Reply<std::vector<Result<Submitted>>> reply) {
    struct Batch {
        runtime::Reply<std::vector<Result<Submitted>>> reply;
        std::vector<Result<Submitted>> receipts;
        std::size_t open;
    };
    if (offers.empty()) return reply(std::vector<Result<Submitted>>{});
    auto const batch = std::make_shared<Batch>(
        std::move(reply),
        std::vector<Result<Submitted>>(offers.size(), std::unexpected(runtime::ended())),
        offers.size());
    std::map<SessionId, std::vector<std::size_t>> by_session;
    for (std::size_t i = 0; i < offers.size(); ++i)
        by_session[offers[i].pending.session].push_back(i);
    auto const shared = std::make_shared<std::vector<runtime::Entering>>(std::move(offers));
    for (auto& [session, places] : by_session) {
        // Called within a read, so that the lane decides all of them together, in one append.
        node_.runner.read_lane(
            session, [this, batch, shared, places = std::move(places)](auto const&) {
                for (std::size_t const i : places) {
                    submit(std::move((*shared)[i]),
                           runtime::Reply<Submitted>([batch, i](Result<Submitted> receipt) {
                               batch->receipts[i] = std::move(receipt);
                               if (--batch->open == 0) batch->reply(std::move(batch->receipts));
                           }));
                }
            });
    }
}

}  // namespace dormouse
