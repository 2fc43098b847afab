#pragma once
// Group commit. One commit is in progress at a time; appends that come meanwhile form the next one.
// No batch waits to fill: the first commit starts at the end of the loop iteration that asked for
// it. On the loop.

#include "base/scope.h"
#include "port/world.h"

#include <deque>
#include <vector>

namespace dormouse::runner {

class JournalWriter {
public:
    using Done = port::Fn<void(port::AppendResult)>;
    static constexpr std::size_t batch_max = 256;

    // `loop` and `journal` outlive this.
    JournalWriter(port::Loop& loop, port::Journal& journal) : loop_(loop), journal_(journal) {}

    // Appends become durable in the order of the calls; `done` is called in that order too.
    void append(port::Append append, Done done);

    [[nodiscard]] bool idle() const { return !busy_; }
    [[nodiscard]] std::uint64_t commits() const { return commits_; }
    [[nodiscard]] std::uint64_t appends() const { return appends_; }

private:
    void commit();
    void finish(std::vector<Done> dones, std::vector<port::AppendResult> results);

    port::Loop& loop_;
    port::Journal& journal_;
    bool busy_ = false;
    std::deque<std::pair<port::Append, Done>> waiting_;
    std::uint64_t commits_ = 0;
    std::uint64_t appends_ = 0;
    Scope scope_;
};

}  // namespace dormouse::runner
