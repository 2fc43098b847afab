#pragma once
// Server-Sent Events of projects: what all their sessions append, in commit order. A reader is a
// position in the store's feed; an append wakes the readers that are at the end. On the loop.
//
// The id of an event is an opaque position in the feed, not a sequence number. Only the last event
// of an append has one: a reader that reconnects in the middle of an append receives all of it
// again and drops duplicates by (sessionID, seq).

#include "base/scope.h"
#include "http/streams/family.h"
#include "http/transport/http.h"
#include "port/world.h"
#include "runner/runner.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::http {

// Convert a position in the feed to the text that clients see, and back; nullopt: invalid.
[[nodiscard]] std::string feed_cursor(std::uint64_t n);
[[nodiscard]] std::optional<std::uint64_t> parse_feed_cursor(std::string_view text);

// Returns the events of one append as Event objects, oldest first. Errors: internal (damage).
[[nodiscard]] Result<std::vector<std::string>> feed_events(port::FeedRow const& row);

// Reads a page of the feed; with `family` only its sessions. Blocks on reads.
[[nodiscard]] Result<port::FeedPage> read_feed(port::Store& store, port::Projects const& projects,
                                               std::uint64_t after, std::size_t max_bytes,
                                               Family* family);

class FeedStreams {
public:
    // All outlive this.
    FeedStreams(port::Loop& loop, port::Journal& journal, runner::Runner& runner)
        : loop_(loop), journal_(journal), runner_(runner) {}

    // Sends what follows `after` (0: from the oldest that is kept) until the reader disconnects.
    // `objects`: adds the current object of each event. `family`: limits it to these sessions.
    void open(port::Projects projects, std::uint64_t after, std::shared_ptr<EventStream> out,
              bool objects = false, std::shared_ptr<Family> family = {});
    // Called after an append: readers at the end read again, once this turn of the loop is over.
    void appended();
    [[nodiscard]] std::size_t count() const { return readers_.size(); }

private:
    struct Reader {
        port::Projects projects;
        std::uint64_t next = 0;
        std::shared_ptr<EventStream> out;
        bool reading = false;  // a page is being read
        bool behind = true;    // there may be more after `next`
        bool objects = false;
        std::shared_ptr<Family> family = {};
    };
    using ReaderPtr = std::shared_ptr<Reader>;
    // An append as its readers share it. A redaction replaces the frame of an append, so `sent` is
    // valid only for the frame `read`.
    struct Kept {
        std::string read;
        std::shared_ptr<std::string const> sent;
    };

    void pump(ReaderPtr const& reader);
    void take(ReaderPtr const& reader, Result<port::FeedPage> page);
    void send_objects(ReaderPtr const& reader, port::FeedPage page);
    void sent(ReaderPtr const& reader, std::uint64_t next, bool more);
    // Returns null if the append cannot be read. The result of frames() is shared by readers.
    [[nodiscard]] static std::shared_ptr<std::string const> own_frames(port::FeedRow const& row);
    [[nodiscard]] std::shared_ptr<std::string const> frames(port::FeedRow const& row);
    void forget(std::map<std::uint64_t, Kept>::iterator kept);

    static constexpr std::size_t page_bytes = std::size_t{256} << 10;
    static constexpr std::size_t queued_max = std::size_t{512} << 10;
    static constexpr std::size_t frames_max = 256;
    static constexpr std::size_t kept_bytes_max = std::size_t{8} << 20;

    port::Loop& loop_;
    port::Journal& journal_;
    runner::Runner& runner_;
    std::vector<ReaderPtr> readers_;
    std::map<std::uint64_t, Kept> frames_;  // of the newest appends that were sent, by position
    std::size_t kept_bytes_ = 0;
    bool woken_ = false;
    Scope scope_;
};

}  // namespace dormouse::http
