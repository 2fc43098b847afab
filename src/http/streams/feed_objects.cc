#include "http/streams/feed_objects.h"

#include "http/objects/objects.h"
#include "http/streams/feed_streams.h"
#include "runner/read/read_history.h"

#include <memory>
#include <set>
#include <utility>

namespace dormouse::http {

using namespace dormouse::session;

namespace {

struct Job {
    port::Loop& loop;
    runner::Runner& runner;
    std::vector<port::FeedRow> rows;
    port::Fn<void(Result<RowsOfEvents>)> done;
    std::set<SessionId> sessions;  // not read yet
    RowsOfEvents events;

    // `now`: nullptr for a deleted session.
    Result<void> write(SessionId const& session, runner::Snapshot const* now) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (rows[i].session != session) continue;
            auto const written = write(rows[i], now);
            if (!written) return std::unexpected(written.error());
            events[i] = *written;
        }
        return {};
    }

    Result<std::vector<std::string>> write(port::FeedRow const& row, runner::Snapshot const* now) {
        auto const records = wire::unpack(row.session, row.frame.first, row.frame.bytes);
        if (row.deleted || !records) return feed_events(row);
        std::vector<std::string> out;
        for (wire::RecordPtr const& record : *records) {
            if (record->event.seq < row.frame.first) continue;
            std::string const object =
                now ? event_subject(now->lane->state(), now->history, record->event, runner.now())
                    : "null";
            out.push_back(wire::event_object(row.session, row.project, *record, object));
        }
        return out;
    }
};

void step(std::shared_ptr<Job> const& job) {
    if (job->sessions.empty()) return job->done(std::move(job->events));
    SessionId const session = job->sessions.extract(job->sessions.begin()).value();
    runner::read_history(job->runner, session, [job, session](Result<runner::Snapshot> now) {
        bool const gone = !now && (now.error().code == Code::not_found ||
                                   now.error().code == Code::internal);  // or unreadable
        if (!now && !gone) return job->done(std::unexpected(now.error()));
        auto const written = job->write(session, gone ? nullptr : &*now);
        if (!written) return job->done(std::unexpected(written.error()));
        // Posted to the loop: sessions in memory answer within the call.
        job->loop.post([job] { step(job); });
    });
}

}  // namespace

void feed_objects(port::Loop& loop, runner::Runner& runner, std::vector<port::FeedRow> rows,
                  port::Fn<void(Result<RowsOfEvents>)> done) {
    auto const job =
        std::make_shared<Job>(Job{loop, runner, std::move(rows), std::move(done), {}, {}});
    job->events.resize(job->rows.size());
    for (port::FeedRow const& row : job->rows) job->sessions.insert(row.session);
    step(job);
}

}  // namespace dormouse::http
