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
        case Letter::Kind::program: return true;
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
    options_.sharing->claim(
        std::move(keys), now + claimed_for,
        scope_.guard([this, asked = std::move(asked)](std::vector<OutboxKey> const& taken) mutable {
            claimed(std::move(asked), taken);
        }));
}

void Pump::claimed(std::map<OutboxKey, Next> rows, std::vector<OutboxKey> const& taken) {
    for (OutboxKey const& key : taken) {
        if (!stopped_ && !at_work_.contains(key)) begin(std::move(rows.at(key)));
    }
    scan_over();
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
