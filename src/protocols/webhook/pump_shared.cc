// Messages that several processes may send: which of them sends one, and what they know of its
// receiver.
#include "webhook/pump.h"

#include <algorithm>
#include <utility>

namespace dormouse::webhook {

using port::OutboxKey;
using port::OutboxRow;

namespace {

// The process whose machine has the program that the message is for ("agent:NAME@NODE"); empty:
// any.
std::string_view node_in(std::string_view target) {
    auto const at = target.find('@');
    return target.starts_with("agent:") && at != std::string_view::npos ? target.substr(at + 1)
                                                                        : std::string_view();
}

}  // namespace

bool Pump::has_receiver_of_notice(std::string const& target) const {
    if (target.starts_with(push_target))
        return options_.push && options_.push->device(target.substr(push_target.size()));
    auto const& notices = options_.outgoing.notices;
    auto const notice = std::ranges::find(notices, target, &Notice::target);
    return notice != notices.end() && (notice->kind != NotifyKind::email || options_.mail);
}

// Whether the configuration of this process allows the receiver.
bool Pump::has_receiver(OutboxRow const& row) const {
    auto const letter = read_letter(row.body);
    if (!letter) return true;
    auto const& hooks = options_.outgoing.hooks;
    switch (letter->kind) {
        case Letter::Kind::call: return url_policy(row.target, options_.allowed).refusal.empty();
        case Letter::Kind::event:
            return std::ranges::find(hooks, row.target, &Hook::url) != hooks.end() &&
                   url_policy(row.target, options_.allowed).refusal.empty();
        case Letter::Kind::notice: return has_receiver_of_notice(row.target);
        case Letter::Kind::external_agent: return true;
    }
    return true;
}

// Each process sends its share. A message that is overdue belongs to a process that is gone, or
// that has no place for it.
void Pump::claim(std::vector<Next> rows) {
    Time const now = services_.clock.now();
    std::map<OutboxKey, Next> asked;
    std::vector<OutboxKey> keys;
    for (Next& next : rows) {
        OutboxKey const key = next.row.key;
        std::string_view const node = node_in(next.row.target);
        if (!node.empty() && node != options_.sharing->node) continue;
        bool const mine = !node.empty() || options_.sharing->has_share(key.from.number());
        if (at_work_.contains(key) || (!mine && next.row.next_at + overdue_after > now)) continue;
        // Another process may know the receiver, or this one will when it reads its configuration.
        if (next.row.next_at + unknown_after > now && !has_receiver(next.row)) continue;
        keys.push_back(key);
        asked.emplace(key, std::move(next));
    }
    if (keys.empty()) return scan_over();
    Time const until = now + claimed_for;
    options_.sharing->claim(std::move(keys), until,
                            scope_.guard([this, asked = std::move(asked),
                                          until](std::vector<OutboxKey> const& taken) mutable {
                                claimed(std::move(asked), taken, until);
                            }));
}

void Pump::claimed(std::map<OutboxKey, Next> rows, std::vector<OutboxKey> const& taken,
                   Time until) {
    for (OutboxKey const& key : taken) {
        if (stopped_ || at_work_.contains(key)) continue;
        Next next = std::move(rows.at(key));
        next.row.next_at = until;
        begin(std::move(next));
    }
    renew_later();
    scan_over();
}

void Pump::renew_later() {
    if (stopped_ || at_work_.empty() || std::exchange(renews_, true)) return;
    services_.loop.after(renew_every, scope_.guard([this] {
        renews_ = false;
        renew();
    }));
}

// A mail may wait for others, and all messages about a call are changed in one attempt: attempts
// may last longer than a claim.
void Pump::renew() {
    if (stopped_) return;
    Time const now = services_.clock.now();
    std::vector<port::OutboxClaim> claims;
    std::vector<OutboxKey> asked;
    for (auto& [key, work] : at_work_) {
        if (work.ended || work.renewing || !owns(key)) continue;
        work.renewing = true;
        claims.push_back({key, {work.row.attempts, work.row.next_at}});
        asked.push_back(key);
    }
    renew_later();
    if (claims.empty()) return;
    Time const until = now + claimed_for;
    options_.sharing->renew(std::move(claims), until,
                            scope_.guard([this, asked = std::move(asked),
                                          until](Result<std::vector<OutboxKey>> const& kept) {
                                renewed(asked, until, kept);
                            }));
}

// After an error it is unknown which claims were renewed, and the next time counts.
void Pump::renewed(std::vector<OutboxKey> const& asked, Time until,
                   Result<std::vector<OutboxKey>> const& kept) {
    for (OutboxKey const& key : asked) {
        auto const found = at_work_.find(key);
        if (found == at_work_.end() || !found->second.renewing) continue;
        Work& work = found->second;
        work.renewing = false;
        bool const known = kept && std::ranges::find(*kept, key) != kept->end();
        if (known) work.row.next_at = until;
        work.lost = kept && !known;
        if (work.outcome) finish(key, *std::exchange(work.outcome, std::nullopt));
    }
}

// Returns false if another process may deliver the message.
bool Pump::owns(OutboxKey const& key) const {
    auto const found = at_work_.find(key);
    if (found == at_work_.end() || found->second.lost) return false;
    return !options_.sharing || services_.clock.now() < found->second.row.next_at;
}

// Tries again later if other processes share the store: their configuration may have the receiver.
void Pump::no_receiver(OutboxKey const& key, std::string const& why) {
    failed(key, why, !options_.sharing);
}

// Handles a message to a receiver that has answered 410: sends it if another process has delivered
// to that receiver since then, else disables it.
void Pump::disable_again(OutboxKey const& key) {
    std::string const why = "the receiver answered 410 Gone";
    if (!options_.sharing) return disable(key, why);
    std::string const target = at_work_.at(key).row.target;
    auto use =
        scope_.guard([this, key, target, why, asked = services_.clock.now()](Result<bool> answers) {
            if (!at_work_.contains(key)) return;
            if (!answers) return failed(key, "the store does not answer", false);
            auto const since = disabled_.find(target);
            if (*answers) disabled_.erase(target);
            if (*answers || since == disabled_.end()) return send_event(key);
            since->second = std::max(since->second, asked - delivered_late);
            disable(key, why);
        });
    options_.sharing->delivered_since(target, disabled_.at(target), std::move(use));
}

}  // namespace dormouse::webhook
