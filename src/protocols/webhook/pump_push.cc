// Messages to devices: encrypted for each, and replaced when their call has ended.
#include "webhook/pump.h"

#include <utility>

namespace dormouse::webhook {

using port::OutboxKey;
using port::SentRow;

void Pump::send_push(OutboxKey const& key) {
    Work const& work = at_work_.at(key);
    auto const it = read_notification(work.letter.body);
    if (!options_.push) return no_receiver(key, "this server sends nothing to devices now");
    if (!it || !work.letter.pending) return failed(key, "it has no notification", true);
    auto device = options_.push->device(work.row.target.substr(push_target.size()));
    if (!device) return disable(key, "this device was removed");
    if (!it->outcome.empty()) {
        // Replaces the message on devices that got one.
        return read_sent(key, [this, key, device = *std::move(device), it = *it] {
            if (at_work_.at(key).open.empty()) return withdraw(key);
            push(key, device, it);
        });
    }
    // A message that was tried again and again may be too late.
    if_waiting(key, [this, key, device = *std::move(device), it = *it] { push(key, device, it); });
}

void Pump::push(OutboxKey const& key, PushDevice const& device, Notification const& it) {
    Time const now = services_.clock.now();
    PushRandom const random{services_.entropy.random(), services_.entropy.random()};
    auto request = push_request(options_.push->tokens->of(device.endpoint, now), device,
                                push_message(it, now), random);
    if (!request)
        return failed(key, request.error().detail, request.error().code == Code::too_large);
    auto taken = [this, key](ServiceReply reply) { pushed(key, std::move(reply.reference)); };
    ask_service(key, *std::move(request), std::move(taken), web_push_service, !it.outcome.empty());
}

// A question is noted as sent; its outcome ends that note.
void Pump::pushed(OutboxKey const& key, std::string reference) {
    Work& work = at_work_.at(key);
    auto const& pending = *work.letter.pending;
    if (work.open.empty()) {
        work.sent = SentRow{pending.call, pending.generation, work.row.target, std::move(reference),
                            work.letter.body};
    }
    work.closed = std::exchange(work.open, {});
    delivered(key);
}

void Pump::device_gone(OutboxKey const& key) {
    if (options_.push) {
        std::string const& target = at_work_.at(key).row.target;
        options_.push->gone(target.substr(push_target.size()));
    }
    disable(key, "the push service does not know this device any more; it was removed");
}

}  // namespace dormouse::webhook
