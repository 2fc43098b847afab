#pragma once
// Server-Sent Events of a project: what all its sessions append, in the order of the commits. A
// reader is a place in the store's feed; an append wakes those who have read all there was. On the
// loop.
//
// The id of an event is an opaque place in the feed, not a sequence number. Only the last event of
// an append bears one: who comes back in the middle of an append gets all of it again, and drops
// what it has by (sessionID, seq).

#include "http/streams/family.h"
#include "http/transport/http.h"
#include "port/world.h"
#include "runner/runner.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::server {

// A place in the feed as clients see it, and back; nullopt: not one of ours.
[[nodiscard]] std::string feed_cursor(std::uint64_t n);
[[nodiscard]] std::optional<std::uint64_t> parse_feed_cursor(std::string_view text);

// The events of one append as Event objects, oldest first. Errors: internal (damage).
[[nodiscard]] Result<std::vector<std::string>> feed_events(port::FeedRow const& row,
                                                           std::string_view project);

// A page of the feed; with `family` what concerns that. Where reading may block.
[[nodiscard]] Result<port::FeedPage> read_feed(port::Store& store, std::string const& project,
                                               std::uint64_t after, std::size_t max_bytes,
                                               Family* family);

class FeedStreams {
public:
    // All outlive this.
    FeedStreams(port::Loop& loop, port::Journal& journal, runner::Runner& runner)
        : loop_(loop), journal_(journal), runner_(runner) {}
    ~FeedStreams();
    FeedStreams(FeedStreams const&) = delete;
    FeedStreams& operator=(FeedStreams const&) = delete;

    // Sends what comes after `after` (0: from the oldest that is kept) until the reader goes.
    // `objects`: each event with what it is about. `family`: of these sessions only.
    void open(std::string project, std::uint64_t after, std::shared_ptr<EventStream> out,
              bool objects = false, std::shared_ptr<Family> family = {});
    // Something has been appended: readers at the end look again, once this turn of the loop is
    // over.
    void appended();
    [[nodiscard]] std::size_t count() const { return readers_.size(); }

private:
    struct Reader {
        std::string project;
        std::uint64_t next = 0;
        std::shared_ptr<EventStream> out;
        bool reading = false;  // a page is on its way
        bool behind = true;    // there may be something after `next`
        bool objects = false;
        std::shared_ptr<Family> family = {};
    };
    using ReaderPtr = std::shared_ptr<Reader>;

    void pump(ReaderPtr const& reader);
    void take(ReaderPtr const& reader, Result<port::FeedPage> page);
    void send_objects(ReaderPtr const& reader, port::FeedPage page);
    void sent(ReaderPtr const& reader, std::uint64_t next, bool more);
    [[nodiscard]] std::shared_ptr<std::string const> frames(port::FeedRow const& row,
                                                            std::string const& project);

    static constexpr std::size_t page_bytes = std::size_t{256} << 10;
    static constexpr std::size_t queued_max = std::size_t{512} << 10;
    static constexpr std::size_t frames_kept = 256;

    port::Loop& loop_;
    port::Journal& journal_;
    runner::Runner& runner_;
    std::vector<ReaderPtr> readers_;
    // The newest appends as bytes, by place: what several readers share.
    std::map<std::uint64_t, std::shared_ptr<std::string const>> frames_;
    bool woken_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dormouse::server
