#include "http/resources/shared_access.h"

#include "http/resources/api.h"

#include <utility>

namespace dormouse::http {

namespace {

constexpr Duration read_again_after{100};
constexpr Duration refresh_every{50};  // at most so often, however many ask
constexpr Duration ask_again_after{10};
constexpr Duration missing_holds{1'000};
constexpr std::size_t missing_max = 10'000;
constexpr std::size_t look_ups_max = 256;  // at the same time
constexpr std::size_t reads_max = 20;      // for one refresh

}  // namespace

void SharedAccess::on_heartbeat(std::uint64_t changes) {
    if (std::exchange(known_changes_, changes) != changes) read();
}

std::shared_ptr<void> SharedAccess::changing() {
    ++own_->begun;
    return {own_.get(), [own = own_](void*) { ++own->ended; }};
}

void SharedAccess::refresh(Done done) {
    if (!services_.find_token) return done({});
    next_.push_back({std::move(done)});
    read_soon();
}

void SharedAccess::read_soon() {
    if (soon_) return;
    Duration const wait = begun_ + refresh_every - services_.clock.monotonic();
    if (wait <= Duration(0)) return read();
    soon_ = true;
    services_.loop.after(wait, scope_.guard([this] {
        soon_ = false;
        read();
    }));
}

SharedAccess::Changes SharedAccess::changes() const {
    Changes out = *own_;
    out.rules = services_.runner.rules().changes();
    return out;
}

// A read that is under way may be older than a refresh.
void SharedAccess::read() {
    again_ = reading_;
    if (std::exchange(reading_, true)) return;
    refreshes_ = std::exchange(next_, {});
    begun_ = services_.clock.monotonic();
    auto question = [](port::Store& store) -> Result<Access> {
        auto tokens = store.tokens();
        if (!tokens) return std::unexpected(std::move(tokens.error()));
        auto devices = store.devices();
        if (!devices) return std::unexpected(std::move(devices.error()));
        auto rules = store.rules();
        if (!rules) return std::unexpected(std::move(rules.error()));
        return Access{*std::move(tokens), *std::move(devices), *std::move(rules)};
    };
    port::ask(
        services_.journal, std::move(question),
        scope_.guard([this, own = changes()](Result<Access> const& access) { take(own, access); }));
}

void SharedAccess::read_later() {
    services_.loop.after(read_again_after, scope_.guard([this] { read(); }));
}

// Reads again if this process changed something while the store was read, or had begun to when the
// store was asked: the answer may lack what was added, or still have what was removed.
void SharedAccess::take(Changes const& before, Result<Access> const& access) {
    reading_ = false;
    auto const refreshes = std::exchange(refreshes_, {});
    if (!access) {
        for (Refresh const& one : refreshes) one.done(std::unexpected(access.error()));
        return read_later();
    }
    if (before.begun != before.ended || before != changes()) return refresh_again(refreshes);
    services_.gate.tokens().replace_stored(access->tokens);
    services_.gate.devices().replace(access->devices);
    services_.runner.rules().replace(access->rules);
    changed_();
    if (std::exchange(again_, false)) read_soon();
    for (Refresh const& one : refreshes) one.done({});
}

void SharedAccess::refresh_again(std::vector<Refresh> refreshes) {
    read_later();
    for (Refresh& one : refreshes) {
        if (++one.reads < reads_max) {
            next_.push_back(std::move(one));
        } else {
            one.done({});
        }
    }
}

bool SharedAccess::was_missing(Sha256 const& digest) const {
    auto const at = missing_.find(digest);
    return at != missing_.end() && services_.clock.monotonic() < at->second + missing_holds;
}

void SharedAccess::note_missing(Sha256 const& digest) {
    Duration const now = services_.clock.monotonic();
    if (missing_.size() >= missing_max)
        std::erase_if(missing_, [&](auto const& one) { return now >= one.second + missing_holds; });
    if (missing_.size() < missing_max) missing_.insert_or_assign(digest, now);
}

bool SharedAccess::is_unsure(HttpRequest const& head) const {
    if (!services_.find_token || services_.gate.failed_too_often(head)) return false;
    if (looking_up_.size() >= look_ups_max) return false;
    auto const unknown = services_.gate.unknown(head);
    return unknown && !was_missing(sha256(unknown->secret));
}

void SharedAccess::look_up(std::string const& kind, std::string_view secret, Done done) {
    auto const digest = sha256(secret);
    bool const known = services_.gate.tokens().find(kind, secret) != nullptr;
    if (!services_.find_token || known || was_missing(digest)) return done({});
    auto& waiting = looking_up_[digest];
    waiting.push_back(std::move(done));
    if (waiting.size() == 1) ask_for(digest);
}

void SharedAccess::ask_for(Sha256 const& digest) {
    auto question = [digest, find = services_.find_token](port::Store& /*store*/) {
        return find(digest);
    };
    port::ask(
        services_.journal, std::move(question),
        scope_.guard([this, digest, own = *own_](Result<std::optional<port::TokenRow>> const& row) {
            found(digest, own, row);
        }));
}

// Asks again if this process may have removed the token meanwhile. A token that another process
// removes disappears when all tokens are read again.
void SharedAccess::found(Sha256 const& digest, Changes const& before,
                         Result<std::optional<port::TokenRow>> const& row) {
    if (!row) return end_look_up(digest, std::unexpected(row.error()));
    bool const changed = before.begun != before.ended || before != *own_;
    auto const& expires = *row ? (*row)->expires : std::nullopt;
    bool const expired = expires && services_.runner.now() >= *expires;
    bool const revoked = *row && (*row)->kind == revoked_kind;
    if (*row && changed)
        return services_.loop.after(ask_again_after,
                                    scope_.guard([this, digest] { ask_for(digest); }));
    if (*row && !expired && !revoked) {
        services_.gate.tokens().add(**row);
        read_later();
    } else {
        note_missing(digest);
    }
    end_look_up(digest, {});
}

void SharedAccess::end_look_up(Sha256 const& digest, Result<void> const& result) {
    auto waiting = looking_up_.extract(digest);
    if (waiting.empty()) return;
    for (Done const& done : waiting.mapped()) done(result);
}

void with_newest_access(Api& api, ExchangePtr const& x, std::function<void()> then) {
    api.shared_access().refresh([x, then = std::move(then)](Result<void> const& done) {
        if (!done) return x->fail(done.error());
        then();
    });
}

}  // namespace dormouse::http
