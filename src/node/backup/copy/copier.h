#pragma once
// Copies a data directory continuously, on a thread of its own, while the server works. It holds
// one piece (16 MiB, and three more forms of it while it is made) in memory, and never a state of
// the database while it writes to the depot: what changes meanwhile is copied next. A process sees
// every change while it works. It does not assume that the files are unchanged since the last run:
// it compares every page with the digests of the copy's newest state (page_record.h), or begins a
// new generation.

#include "backup/copy/depot.h"
#include "backup/copy/owner.h"
#include "backup/copy/page_record.h"
#include "backup/copy/piece.h"
#include "port/copies.h"
#include "port/world.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace dormouse::backup {

class Copier {
public:
    struct Options {
        std::filesystem::path directory;  // that is copied
        std::string release;
        std::string target;  // for people
        Sealing sealing = {};
        Duration interval{0};
        Duration base_every{0};
        Duration keep{0};
        std::function<Result<std::unique_ptr<Depot>>()> depot;
    };
    // All outlive this. Any thread may use them.
    Copier(store::sqlite::Changes& changes, port::Clock const& clock, port::Entropy& entropy,
           Options options);
    ~Copier();  // end()
    Copier(Copier const&) = delete;
    Copier& operator=(Copier const&) = delete;

    // REQUIRES: the store is open until end(). May be called twice.
    void start();
    // Copies what is left and ends. The depot's `stop` limits how long it takes.
    void end();
    // Any thread. Returns the number of this request. Once CopyStatus::answered has reached it, an
    // attempt has ended that began after it: if that works, everything that was stored before the
    // request is in the copy.
    [[nodiscard]] std::uint64_t copy_now();
    // Any thread.
    [[nodiscard]] port::CopyStatus status() const;

private:
    struct Pending {
        std::string name;
        std::string bytes;  // as they are stored
        Newest newest;
        Time time = {};
        std::uint64_t feed = 0;
        bool complete = false;
    };

    void run();
    void wait(Duration limit);
    // `before`: as it was before the round.
    void note(Result<void> const& done, port::CopyStatus const& before, Duration took);
    [[nodiscard]] Result<void> copy_or_fail();
    [[nodiscard]] Result<void> copy_once();
    [[nodiscard]] Result<void> open();
    [[nodiscard]] Result<void> begin_generation();
    [[nodiscard]] Result<CopyIndex> read_index();
    // Continues the generation of an earlier process, if that is safe.
    [[nodiscard]] Result<void> resume();
    // Returns true if the copy ends as the earlier process left it.
    [[nodiscard]] Result<bool> ends_as(Resumption const& left);
    [[nodiscard]] Result<void> leave_resumption() const;
    [[nodiscard]] Result<store::sqlite::Cut> next_cut();
    [[nodiscard]] Result<void> copy_pieces();
    // Returns false if nothing has changed.
    [[nodiscard]] Result<bool> make_piece();
    [[nodiscard]] Result<void> put_piece();
    [[nodiscard]] Result<void> completed(Time time);
    [[nodiscard]] Result<void> remove_old();
    [[nodiscard]] Result<void> remove_generation(std::string const& id);
    [[nodiscard]] Result<void> write_index();
    [[nodiscard]] Result<std::vector<KeyFile>> changed_files();
    [[nodiscard]] bool ending() const;

    store::sqlite::Changes& changes_;
    port::Clock const& clock_;
    port::Entropy& entropy_;
    Options const options_;

    // Used by the thread only.
    Owner owner_;
    std::unique_ptr<Depot> depot_;
    bool tracking_ = false;
    CopyIndex index_;
    Generation generation_;  // its id is empty: none has begun
    Newest newest_;
    PageRecord record_;
    bool comparing_ = false;  // the pages that have not been cut yet with those of the record
    bool whole_ = false;      // the newest piece completes a state
    std::optional<Pending> pending_;

    mutable std::mutex mutex_;
    std::condition_variable wake_;
    // Protected by mutex_.
    bool ending_ = false;
    port::CopyStatus status_;

    std::thread thread_;
};

}  // namespace dormouse::backup
