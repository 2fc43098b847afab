#pragma once
// Webhooks that arrived before their call: kept durably for a day and offered when a call with
// their reference appears. Also serialises deliveries with the same id, so that only one of them is
// the first. On the loop.

#include "base/scope.h"
#include "port/world.h"
#include "runner/runner.h"
#include "webhook/source.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dormouse::http {

struct Services;

// The key of the deliveries under one id.
struct Delivery {
    std::string id;
    std::vector<Bits128> keys;  // never empty; the first is that of the id
    Bits128 digest{};           // of the body
};
[[nodiscard]] Delivery delivery_of(webhook::Source const& source, std::string id,
                                   std::string_view body);

// Returns the outcome in a payload as a command whose call is not set yet.
[[nodiscard]] session::Submit submission_of(webhook::Payload const& payload,
                                            Delivery const& delivery);
// Finds the calls of the source with this reference and one of these statuses; at most two.
void find_referenced(port::StoreView<port::PendingStore> calls, webhook::Source const& source,
                     std::string const& reference, std::vector<port::PendingStatus> statuses,
                     port::Fn<void(Result<std::vector<PendingId>>)> done);

class Webhooks {
public:
    // `services` outlives this.
    explicit Webhooks(Services& services) : services_(services) {}

    // Reads what an earlier process kept, and offers it; from then on drops what is too old.
    void start();
    // Reads and offers what another process kept that is gone. What finds no place in memory is
    // read later.
    void read_kept();
    // Offers all that is kept again: calls may have begun to wait for it.
    void offer_all();
    // A session of this project has these new events, whichever process appended them.
    void appended(std::string const& project, std::vector<wire::RecordPtr> const& records);

    // The row is durable when `done` is called. Errors: too_many_pending; those of the store.
    void keep(port::KeptRow row, port::Fn<void(Result<void>)> done);
    [[nodiscard]] bool keeps(Bits128 const& key) const { return kept_.contains(key); }
    // Whether a delivery of the source with the same content is kept, where the signature covers
    // nothing else. Looks at all that this process keeps.
    [[nodiscard]] bool keeps_copy(std::string const& source, Delivery const& delivery) const;

    // Runs `work` when no other work runs under this key; the caller calls leave() when it is done.
    void enter(Bits128 const& key, port::Fn<void()> work);
    void leave(Bits128 const& key);

    static constexpr Duration kept_for{24 * 3'600'000};
    static constexpr std::size_t kept_max = 10'000;
    static constexpr std::size_t kept_bytes_max = std::size_t{64} << 20;
    // With those that other processes have kept: more are not read.
    static constexpr std::size_t read_max = 4 * kept_max;
    static constexpr std::size_t read_bytes_max = 4 * kept_bytes_max;
    // One page has all that one process keeps: the first requests after a start find it read.
    static constexpr std::uint32_t page_rows = kept_max;
    static constexpr std::size_t page_bytes = kept_bytes_max;

private:
    using Place = std::pair<std::string, std::string>;  // project, reference
    struct Reading {
        std::vector<Bits128> found = {};  // to be offered
        std::optional<port::KeptPlace> after = {};
    };

    void add(port::KeptRow row);
    void remove(Bits128 const& key);
    void drop(std::vector<Bits128> keys);
    void offer(Place const& place);
    void offer(port::KeptRow const& row);
    // Rows that were in the store a moment ago.
    void offer_in_turn(std::shared_ptr<std::vector<Bits128>> keys);
    void check(Bits128 const& key, std::optional<PendingId> const& place);
    void read(Bits128 const& key, PendingId const& place);
    void offer_to(port::KeptRow const& row, session::Submit what, PendingId const& place);
    void offer_again(Bits128 const& key);
    void read_page(std::shared_ptr<Reading> reading);
    [[nodiscard]] bool take_page(Reading& reading, std::vector<port::KeptRow> rows);
    void read_over(Reading& reading);
    bool drop_old();
    void drop_old_of_all();
    void sweep();
    void read_again_later(Bits128 const& key);
    [[nodiscard]] webhook::Source const* source(std::string const& id) const;

    Services& services_;
    std::map<Bits128, port::KeptRow> kept_;
    std::multimap<Place, Bits128> places_;
    std::size_t kept_bytes_ = 0;
    bool reading_ = false;
    bool read_again_ = false;  // called for meanwhile
    bool unread_ = false;      // the store may have more that no process has in memory
    std::map<Bits128, std::vector<port::Fn<void()>>> at_work_;  // and the work that waits for it
    Scope scope_;
};

}  // namespace dormouse::http
