#pragma once
// Server-Sent Events of sessions. A reader is a cursor, not a queue: it holds the sequence number
// it has reached and reads on from the lane's newest records, or from the journal when it is
// further behind. One serialisation of an event serves all its readers. On the loop.

#include "base/scope.h"
#include "http/streams/drafts.h"
#include "http/streams/relay.h"
#include "http/transport/http.h"
#include "runner/runner.h"
#include "wire/journal/history.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

namespace dormouse::http {

class Streams {
public:
    // All outlive this. `publish` sends a message to the other processes that use the store; empty:
    // there are none.
    Streams(runner::Runner& runner, port::Loop& loop,
            std::function<void(std::string_view)> publish);

    // Sends what follows `after` until the reader disconnects or the session is deleted. `objects`:
    // adds the current object of each event; the session is read for each batch.
    void open(std::shared_ptr<runner::Lane> lane, Seq after, std::shared_ptr<EventStream> out,
              bool objects = false);
    // Sends provisional text to the session's readers; it is not in the journal and has no id. A
    // reader receives it from the beginning of the draft, after the events before it.
    void delta(SessionId session, session::AskModel const& ask, port::Delta const& delta);
    // Handles a message of another process.
    void on_signal(Epoch from, std::string_view text);
    // These records are durable: removes them from the draft.
    void appended(SessionId session, std::vector<wire::RecordPtr> const& records) {
        drafts_.appended(session, records);
    }
    [[nodiscard]] std::size_t count() const { return readers_.size(); }

private:
    struct Reader {
        std::shared_ptr<runner::Lane> lane;
        std::shared_ptr<EventStream> out;
        Seq cursor = 0;
        Seq head = 0;  // of the session when it was last read
        std::uint64_t watch = 0;
        bool reading = false;  // a page of the journal is being read
        bool objects = false;
        bool live = false;  // has received the events and the draft up to now
    };
    using ReaderPtr = std::shared_ptr<Reader>;

    void pump(ReaderPtr const& reader);
    void follow_others(runner::Lane const& lane);
    [[nodiscard]] Relay::Taken take(SessionId session, Piece const& piece);
    void send_live(SessionId session, std::string frame);
    void go_live(ReaderPtr const& reader);
    void send(ReaderPtr const& reader, wire::Record const& record,
              std::shared_ptr<std::string const> frame);
    void send_page(ReaderPtr const& reader, std::vector<wire::RecordPtr> const& records,
                   wire::History const* history);
    void read_page(ReaderPtr const& reader);
    void read_objects(ReaderPtr const& reader, std::vector<wire::RecordPtr> page);
    void send_bye(ReaderPtr const& reader);
    void end(ReaderPtr const& reader, Error const& error);
    void close(ReaderPtr const& reader);
    [[nodiscard]] std::shared_ptr<std::string const> shared_frame(runner::Lane const& lane,
                                                                  wire::RecordPtr const& record);

    static constexpr std::size_t frames_kept = 256;
    static constexpr std::size_t frame_bytes_kept = std::size_t{4} << 20;
    static constexpr std::size_t queued_max = std::size_t{512}
                                              << 10;  // above this, waits for the reader

    runner::Runner& runner_;
    std::unordered_multimap<SessionId, ReaderPtr> readers_;
    Drafts drafts_;
    std::unique_ptr<Relay> relay_;  // null: no other process uses the store
    // The newest frames by record, shared between the readers of a session.
    std::map<wire::Record const*, std::pair<wire::RecordPtr, std::shared_ptr<std::string const>>>
        frames_;
    std::size_t frame_bytes_ = 0;
    Scope scope_;
};

}  // namespace dormouse::http
