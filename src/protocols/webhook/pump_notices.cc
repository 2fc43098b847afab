// Messages of chat services: sent, and changed when their call has ended.
#include "webhook/pump.h"

#include <algorithm>
#include <utility>

namespace dormouse::webhook {

using port::OutboxKey;
using port::OutboxState;
using port::OutboxUpdate;
using port::SentRow;

namespace {

constexpr std::size_t answer_max = 64 << 10;
// The number of waits of the end of a call for its messages to be taken, and their length.
constexpr std::uint32_t waits_max = 2;
constexpr Duration wait_for_sent{10'000};

}  // namespace

void Pump::send_notice(OutboxKey const& key) {
    if (at_work_.at(key).row.target.starts_with(push_target)) return send_push(key);
    auto const& notices = options_.outgoing.notices;
    auto const notice = std::ranges::find(notices, at_work_.at(key).row.target, &Notice::target);
    if (notice == notices.end())
        return no_receiver(key, "this address is not in any [[notify]] now");
    if (notice->kind == NotifyKind::command) return run(key, *notice);
    if (notice->kind == NotifyKind::email) return send_mail(key, *notice);
    Service const* const service = service_of(*notice);
    auto const it = service ? read_notification(at_work_.at(key).letter.body) : std::nullopt;
    if (!it) return send(key, notice->url, "", false);
    if (it->outcome.empty()) return send_message(key, *notice, *service, *it);
    auto own = std::make_shared<Notice const>(*notice);
    read_sent(key, [this, key, own = std::move(own), it = *it] { change_next(key, own, it); });
}

void Pump::send_mail(OutboxKey const& key, Notice const& notice) {
    auto const it = read_notification(at_work_.at(key).letter.body);
    if (!it) return failed(key, "it has no notification", true);
    if (!options_.mail) return no_receiver(key, "no e-mail is sent by this server");
    auto done = scope_.guard([this, key](Result<void> result) {
        if (!at_work_.contains(key)) return;
        if (result) return delivered(key);
        Code const code = result.error().code;
        if (code == Code::conflict) return release(key);  // it is another process's now
        if (code == Code::not_found) return no_receiver(key, result.error().detail);
        failed(key, result.error().detail, code == Code::bad_value);
    });
    DeliveryId const id{key, at_work_.at(key).letter.mark};
    auto wanted = [this, alive = scope_.token(), key] { return alive && owns(key); };
    options_.mail(notice, *it, delivery_text(id), std::move(wanted), std::move(done));
}

void Pump::send_message(OutboxKey const& key, Notice const& notice, Service const& service,
                        Notification const& it) {
    auto taken = [this, key, changes = can_change(notice)](ServiceReply reply) {
        Work& work = at_work_.at(key);
        auto const& pending = work.letter.pending;
        if (changes && pending && !reply.reference.empty())
            work.sent = SentRow{pending->call, pending->generation, work.row.target,
                                std::move(reply.reference), work.letter.body};
        delivered(key);
    };
    ServiceRequest request = service.request(notice, it, "");
    if_waiting(key, [this, key, &service, request = std::move(request),
                     taken = std::move(taken)]() mutable {
        ask_service(key, std::move(request), std::move(taken), service, false);
    });
}

// Sends no question whose call has ended meanwhile: nothing would change it any more.
void Pump::if_waiting(OutboxKey const& key, port::Fn<void()> then) {
    auto const pending = at_work_.at(key).letter.pending;
    if (!pending || !options_.waits) return then();
    options_.waits(*pending, scope_.guard([this, key, then = std::move(then)](bool yes) mutable {
        if (!at_work_.contains(key)) return;
        yes ? then() : withdraw(key);
    }));
}

// Removes the row: its call has ended, and the receiver accepted no message about it.
void Pump::withdraw(OutboxKey const& key) {
    if (options_.withdrawn) options_.withdrawn(at_work_.at(key).row);
    OutboxUpdate update;
    update.key = key;
    update.gone = true;
    finish(key, update);
}

// Continues with the messages about the call that the receiver took, in Work::open.
void Pump::read_sent(OutboxKey const& key, port::Fn<void()> then) {
    auto const pending = at_work_.at(key).letter.pending;
    if (!pending) return failed(key, "it does not name a call", true);
    auto question = [pending = *pending,
                     target = at_work_.at(key).row.target](port::OutboxStore& store) {
        return store.sent(pending.session, pending.call, pending.generation, target);
    };
    port::ask(services_.outbox, std::move(question),
              scope_.guard(
                  [this, key, then = std::move(then)](Result<std::vector<SentRow>> rows) mutable {
                      if (!at_work_.contains(key)) return;
                      if (!rows) return failed(key, "the store does not answer", false);
                      Work& work = at_work_.at(key);
                      bool const early = rows->empty() && work.row.attempts < waits_max;
                      if (early) return postpone(key, wait_for_sent);
                      work.open = std::move(*rows);
                      then();
                  }));
}

// Changes one message after the other.
void Pump::change_next(OutboxKey const& key, NoticePtr const& notice, Notification const& it) {
    Work& work = at_work_.at(key);
    if (work.open.empty()) return work.closed.empty() ? withdraw(key) : delivered(key);
    if (!owns(key)) return release(key);
    SentRow const& row = work.open.front();
    Notification message = read_notification(row.body).value_or(it);
    message.outcome = it.outcome;
    Service const& service = *service_of(*notice);
    auto taken = [this, key, notice, it](ServiceReply const& /*reply*/) {
        Work& at = at_work_.at(key);
        at.closed.push_back(std::move(at.open.front()));
        at.open.erase(at.open.begin());
        change_next(key, notice, it);
    };
    ask_service(key, service.request(*notice, message, row.reference), std::move(taken), service,
                true);
}

void Pump::ask_service(OutboxKey const& key, ServiceRequest made, port::Fn<void(ServiceReply)> then,
                       Service const& service, bool is_change) {
    UrlPolicy const policy = url_policy(made.url, options_.allowed);
    if (!policy.refusal.empty()) return no_receiver(key, "not sent: " + policy.refusal);
    Work& work = at_work_.at(key);
    work.answer.clear();
    work.status = 0;
    work.retry_after.reset();
    port::HttpRequest request;
    request.method = std::move(made.method);
    request.url = std::move(made.url);
    request.headers = std::move(made.headers);
    request.body = std::move(made.body);
    request.connect_limit = request.idle_limit = request.total_limit = time_limit;
    request.response_max = answer_max;
    request.public_only = policy.public_only;
    port::HttpCallbacks callbacks;
    callbacks.head =
        scope_.guard([this, key](port::HttpHead const& head) { take_head(key, head); });
    callbacks.data = scope_.guard([this, key](std::string_view bytes) {
        if (at_work_.contains(key)) at_work_.at(key).answer += bytes;
    });
    callbacks.done = scope_.guard([this, key, &service, is_change, then = std::move(then)](
                                      std::optional<port::HttpFailure> failure) mutable {
        if (!at_work_.contains(key)) return;
        Work& at = at_work_.at(key);
        at.request = 0;
        if (failure) return failed(key, failure->reason, false);
        ServiceReply reply = read_reply(service, at.status, at.answer, is_change);
        if (reply.gone) return device_gone(key);
        if (at.status == 410) return disable(key, "the receiver answered 410 Gone");
        if (reply.taken) return then(std::move(reply));
        if (reply.retry_after) at.retry_after = reply.retry_after;
        failed(key, reply.why, reply.permanent);
    });
    work.request = services_.http.start(std::move(request), std::move(callbacks));
}

// Tries again without counting the attempt as a failure of the receiver.
void Pump::postpone(OutboxKey const& key, Duration wait) {
    Work const& work = at_work_.at(key);
    OutboxUpdate update;
    update.key = key;
    update.state = OutboxState::pending;
    update.attempts = work.row.attempts + 1;
    update.next_at = services_.clock.now() + wait;
    finish(key, update);
}

}  // namespace dormouse::webhook
