#pragma once
// Server-Sent Events of sessions. A reader is a cursor, not a queue: it holds the sequence number
// it has got to, and reads on from the lane's newest records, or from the journal when it is
// further behind. One serialisation of an event serves all its readers. On the loop.

#include "http/streams/drafts.h"
#include "http/transport/http.h"
#include "runner/runner.h"
#include "wire/history.h"

#include <map>
#include <memory>
#include <unordered_map>

namespace dormouse::server {

class Streams {
public:
    explicit Streams(runner::Runner& runner) : runner_(runner) {}

    // Sends what comes after `after`, until the reader goes or the session does. `objects`: with
    // what each event is about as it stands then; the session is read for every batch of them.
    void open(std::shared_ptr<runner::Lane> lane, Seq after, std::shared_ptr<EventStream> out,
              bool objects = false);
    // Provisional text for the session's readers; it is in no journal and has no id. A reader gets
    // it from the beginning of the draft, once it has the events before.
    void delta(SessionId session, session::AskModel const& ask, port::Delta const& delta);
    // These records are durable: the draft no longer holds what they say.
    void appended(SessionId session, std::vector<wire::RecordPtr> const& records) {
        drafts_.appended(session, records);
    }
    [[nodiscard]] std::size_t count() const { return readers_.size(); }

private:
    struct Reader {
        std::shared_ptr<runner::Lane> lane;
        std::shared_ptr<EventStream> out;
        Seq cursor = 0;
        Seq head = 0;  // of the session when it was last looked at
        std::uint64_t watch = 0;
        bool reading = false;  // a page of the journal is on its way
        bool objects = false;
        bool live = false;  // has the events and the draft up to now
    };
    using ReaderPtr = std::shared_ptr<Reader>;

    void pump(ReaderPtr const& reader);
    void go_live(ReaderPtr const& reader);
    void send(ReaderPtr const& reader, wire::Record const& record,
              std::shared_ptr<std::string const> frame);
    void send_page(ReaderPtr const& reader, std::vector<wire::RecordPtr> const& records,
                   wire::History const* history);
    void read_page(ReaderPtr const& reader);
    void read_objects(ReaderPtr const& reader, std::vector<wire::RecordPtr> page);
    void say_bye(ReaderPtr const& reader);
    void end(ReaderPtr const& reader, Error const& error);
    void close(ReaderPtr const& reader);
    [[nodiscard]] std::shared_ptr<std::string const> shared_frame(runner::Lane const& lane,
                                                                  wire::RecordPtr const& record);

    static constexpr std::size_t frames_kept = 256;
    static constexpr std::size_t frame_bytes_kept = std::size_t{4} << 20;
    static constexpr std::size_t queued_max = std::size_t{512}
                                              << 10;  // then the reader is waited for

    runner::Runner& runner_;
    std::unordered_multimap<SessionId, ReaderPtr> readers_;
    Drafts drafts_;
    // The newest frames, by record: what several readers of a session share.
    std::map<wire::Record const*, std::pair<wire::RecordPtr, std::shared_ptr<std::string const>>>
        frames_;
    std::size_t frame_bytes_ = 0;
};

}  // namespace dormouse::server
