#pragma once
// What sources have sent and for which no call is there yet: kept durably for a day and offered
// when a call with that reference appears. Also one delivery at a time under an id, so that two of
// them can not both be the first. On the loop.

#include "port/world.h"
#include "runner/runner.h"
#include "webhook/source.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::server {

struct Services;

// The deliveries under one id: what they are remembered by.
struct Delivery {
    std::string id;
    std::vector<Bits128> keys;  // never empty; the first is that of the id
    Bits128 digest{};           // of the body
};
[[nodiscard]] Delivery delivery_of(webhook::Source const& source, std::string id,
                                   std::string_view body);

// The outcome that a payload brings, for a call that is still to be named.
[[nodiscard]] session::Submit submission_of(webhook::Payload const& payload,
                                            Delivery const& delivery);
// The calls of the source that have this reference and a status of these; at most two.
void find_referenced(port::Part<port::JournalStore> journal, webhook::Source const& source,
                     std::string const& reference, std::vector<port::PendingStatus> statuses,
                     port::Fn<void(Result<std::vector<PendingId>>)> done);

class Webhooks {
public:
    // `services` outlives this.
    explicit Webhooks(Services& services);
    ~Webhooks();

    // Reads what an earlier process kept, and offers it.
    void start();
    void appended(runner::Lane const& lane, std::vector<wire::RecordPtr> const& records);

    // Durable when `done` is called. Errors: too_many_pending; those of the store.
    void keep(port::KeptRow row, port::Fn<void(Result<void>)> done);
    [[nodiscard]] bool keeps(Bits128 const& key) const { return kept_.contains(key); }

    // Runs `work` when no other is at work under this key; it calls leave() when it is done.
    void enter(Bits128 const& key, port::Fn<void()> work);
    void leave(Bits128 const& key);

    static constexpr Duration kept_for{24 * 3'600'000};
    static constexpr std::size_t kept_max = 10'000;
    static constexpr std::size_t kept_bytes_max = std::size_t{64} << 20;

private:
    using Place = std::pair<std::string, std::string>;  // project, reference

    void add(port::KeptRow row);
    void remove(Bits128 const& key);
    void drop(std::vector<Bits128> keys);
    void offer(Place const& place);
    void offer(port::KeptRow const& row);
    void read(Bits128 const& key, PendingId const& place);
    void offer_to(port::KeptRow const& row, session::Submit what, PendingId const& place);
    void offer_again(Bits128 const& key);
    void sweep();
    void look_again(Bits128 const& key);
    [[nodiscard]] webhook::Source const* source(std::string const& id) const;

    Services& services_;
    std::map<Bits128, port::KeptRow> kept_;
    std::multimap<Place, Bits128> places_;
    std::size_t kept_bytes_ = 0;
    std::map<Bits128, std::vector<port::Fn<void()>>> at_work_;  // and who waits for it
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dormouse::server
