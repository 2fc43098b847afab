#pragma once
// Group commit. One commit is on its way at a time; what comes meanwhile is the next one. Nothing
// waits for a batch to fill: the first commit starts at the end of the loop's turn in which it was
// asked for. On the loop.

#include "port/world.h"

#include <deque>
#include <vector>

namespace dormouse::runner {

class JournalWriter {
public:
    using Done = port::Fn<void(Result<void>)>;
    static constexpr std::size_t batch_max = 256;

    // `loop` and `journal` outlive this.
    JournalWriter(port::Loop& loop, port::Journal& journal) : loop_(loop), journal_(journal) {}

    // Appends become durable in the order of the calls, and `done` follows in that order.
    void append(port::Append append, Done done);

    [[nodiscard]] bool idle() const { return !busy_; }
    [[nodiscard]] std::uint64_t commits() const { return commits_; }
    [[nodiscard]] std::uint64_t appends() const { return appends_; }

private:
    void commit();
    void finish(std::vector<Done> dones, std::vector<Result<void>> results);

    port::Loop& loop_;
    port::Journal& journal_;
    bool busy_ = false;
    std::deque<std::pair<port::Append, Done>> waiting_;
    std::uint64_t commits_ = 0;
    std::uint64_t appends_ = 0;
};

}  // namespace dormouse::runner
