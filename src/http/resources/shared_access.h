#pragma once
// Tokens, devices and standing rules that another process on the same store has changed. Each
// process keeps them in memory; the store counts their changes. On the loop.

#include "base/crypto/sha256.h"
#include "base/scope.h"
#include "port/store_rows.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::http {

class Api;
struct Exchange;
struct HttpRequest;
struct Services;

class SharedAccess {
public:
    // `services` outlives this. `changed` is called after something was read again.
    SharedAccess(Services& services, std::function<void()> changed)
        : services_(services), changed_(std::move(changed)) {}

    // Reads again if the store has counted more changes than at the last heartbeat.
    void on_heartbeat(std::uint64_t changes);
    // Marks a change by this process until the handle is destroyed; anything read meanwhile is
    // ignored.
    [[nodiscard]] std::shared_ptr<void> changing();

    using Done = std::function<void(Result<void>)>;
    // Calls `done` when what other processes changed before this call is in memory; the error: the
    // store did not answer. At once if no other process uses the store.
    void refresh(Done done);

    // Whether the request has a token or cookie that this process does not know and that another
    // one may have made a moment ago: look_up() finds out. False while its address has sent too
    // many bad ones.
    [[nodiscard]] bool is_unsure(HttpRequest const& head) const;
    // For a secret of this kind (port::TokenRow::kind). `done` is called when the secret
    // is known, or nobody has made it; the error: the store did not answer.
    void look_up(std::string const& kind, std::string_view secret, Done done);

private:
    // How many changes by this process have begun and ended, and those of rules by its sessions.
    struct Changes {
        std::uint64_t begun = 0;
        std::uint64_t ended = 0;
        std::uint64_t rules = 0;
        friend bool operator==(Changes const&, Changes const&) = default;
    };
    struct Access {
        std::vector<port::TokenRow> tokens;
        std::vector<port::DeviceRow> devices;
        std::vector<port::RuleRow> rules;
    };
    struct Refresh {
        Done done;
        std::size_t reads = 0;  // that did not count, because this process changed something
    };
    [[nodiscard]] bool was_missing(Sha256 const& digest) const;
    void note_missing(Sha256 const& digest);
    void ask_for(Sha256 const& digest);
    void found(Sha256 const& digest, Changes const& before,
               Result<std::optional<port::TokenRow>> const& row);
    void end_look_up(Sha256 const& digest, Result<void> const& result);
    [[nodiscard]] Changes changes() const;
    void read();
    void read_later();
    void read_soon();
    void take(Changes const& before, Result<Access> const& access);
    void refresh_again(std::vector<Refresh> refreshes);

    Services& services_;
    std::function<void()> const changed_;
    std::optional<std::uint64_t> known_changes_ = {};
    bool reading_ = false;
    bool again_ = false;              // there were changes while it was being read
    bool soon_ = false;               // read_soon() waits
    Duration begun_{-1'000};          // when the newest read began
    std::vector<Refresh> refreshes_;  // wait for the read that is under way
    std::vector<Refresh> next_;       // wait for the one after it
    std::shared_ptr<Changes> const own_ = std::make_shared<Changes>();
    std::map<Sha256, std::vector<Done>> looking_up_;  // who waits for an answer of the store
    std::map<Sha256, Duration> missing_;              // when the store did not have it
    Scope scope_;
};

// Runs `then` after a refresh; answers with the error if the store does not.
void with_newest_access(Api& api, std::shared_ptr<Exchange> const& x, std::function<void()> then);

}  // namespace dormouse::http
