#include "runtime/engine/engine.h"
#include "runtime/views.h"

// Pending calls of all sessions, and artifacts.
namespace dormouse {

// Rows name the sessions to read; the calls shown come from the sessions' states.
struct Runtime::Engine::Gathering {
    WaitingFilter filter;
    std::vector<PendingId> places;  // nonces are not set
    std::size_t at = 0;
    WaitingCalls found;
    runtime::Reply<WaitingCalls> reply;

    void take(session::State const& state, PendingId const& place) {
        for (PendingCall& call : runtime::session_view(state).pending) {
            bool const same = call.id.call == place.call && call.id.generation == place.generation;
            if (same && (!filter.reason || call.reason == *filter.reason))
                found.calls.push_back(std::move(call));
        }
    }
};

void Runtime::Engine::waiting(WaitingFilter const& filter, runtime::Reply<WaitingCalls> reply) {
    if (filter.limit == 0 || filter.limit > 200)
        return reply(dormouse::fail(Code::bad_value, "limit must be 1 to 200"));
    if (auto fits = runtime::check(filter); !fits)
        return reply(std::unexpected(std::move(fits.error())));
    if (filter.session) return waiting_of_session(filter, std::move(reply));
    port::PendingFilter rows;
    rows.project = filter.project;
    rows.statuses = {port::PendingStatus::waiting};
    rows.tool = filter.tool;
    rows.before = filter.after;
    rows.limit = static_cast<std::uint32_t>(filter.limit);
    auto const gathering = std::make_shared<Gathering>(filter, std::vector<PendingId>{}, 0,
                                                       WaitingCalls{}, std::move(reply));
    port::ask(
        node_.journal, [rows](port::PendingStore& store) { return store.list_pending(rows); },
        [this, gathering](Result<std::vector<port::PendingListed>> listed) {
            if (!listed) return gathering->reply(std::unexpected(std::move(listed.error())));
            for (port::PendingListed const& one : *listed)
                gathering->places.push_back({one.session, one.row.call, one.row.generation, {}});
            if (gathering->places.size() == gathering->filter.limit)
                gathering->found.next = gathering->places.back();
            gather(gathering);
        });
}

void Runtime::Engine::waiting_of_session(WaitingFilter const& filter,
                                         runtime::Reply<WaitingCalls> reply) {
    node_.runner.read_lane(
        *filter.session,
        [filter, reply = std::move(reply)](Result<std::shared_ptr<runner::Lane>> lane) mutable {
            if (!lane) return reply(std::unexpected(std::move(lane.error())));
            auto const place = [](PendingId const& id) {
                return std::pair(id.call, id.generation);
            };
            WaitingCalls out;
            auto calls = runtime::session_view((*lane)->state()).pending;
            for (auto call = calls.rbegin(); call != calls.rend() && !out.next; ++call) {
                bool const tool = filter.tool.empty() || call->tool == filter.tool;
                bool const reason = !filter.reason || call->reason == *filter.reason;
                bool const later = !filter.after || place(call->id) < place(*filter.after);
                if (!tool || !reason || !later) continue;
                out.calls.push_back(std::move(*call));
                if (out.calls.size() == filter.limit) out.next = out.calls.back().id;
            }
            reply(std::move(out));
        });
}

void Runtime::Engine::gather(std::shared_ptr<Gathering> const& gathering) {
    if (gathering->at == gathering->places.size())
        return gathering->reply(std::move(gathering->found));
    SessionId const session = gathering->places[gathering->at].session;
    node_.runner.read_lane(
        session, [this, gathering, session](Result<std::shared_ptr<runner::Lane>> const& lane) {
            auto& g = *gathering;
            for (; g.at < g.places.size() && g.places[g.at].session == session; ++g.at) {
                if (lane) g.take((*lane)->state(), g.places[g.at]);
            }
            gather(gathering);
        });
}

void Runtime::Engine::artifact(SessionId session, Seq seq, runtime::Reply<Artifact> reply) {
    auto missing = [] {
        return dormouse::fail(Code::not_found, "This event of the session names no artifact.");
    };
    node_.runner.read_event(
        session, seq,
        [this, session, seq, missing,
         reply = std::move(reply)](Result<runner::Runner::Read> read) mutable {
            if (!read) return reply(std::unexpected(std::move(read.error())));
            bool const there = !read->records.empty() && read->records.front()->event.seq == seq;
            auto const* const event =
                there ? std::get_if<session::ArtifactEmitted>(&read->records.front()->event.body)
                      : nullptr;
            if (!event) return reply(missing());
            port::ask(
                node_.journal,
                [session, seq](port::JournalStore& store) { return store.artifact(session, seq); },
                [missing, name = event->name, mime = event->mime,
                 reply = std::move(reply)](Result<std::optional<std::string>> bytes) mutable {
                    if (!bytes) return reply(std::unexpected(std::move(bytes.error())));
                    if (!*bytes) return reply(missing());
                    reply(Artifact{std::move(name), **std::move(bytes), std::move(mime)});
                });
        });
}

}  // namespace dormouse
