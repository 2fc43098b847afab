#include "webhook/pump.h"

#include "base/address.h"
#include "base/text/split.h"
#include "base/text/text.h"
#include "base/url.h"
#include "webhook/signature.h"

#include <algorithm>
#include <utility>

namespace dormouse::webhook {

using port::OutboxKey;
using port::OutboxRow;
using port::OutboxState;
using port::OutboxUpdate;

namespace {

constexpr Duration scan_every{1'000};
constexpr Duration prune_every{600'000};
constexpr Duration store_pause{5'000};
constexpr std::uint32_t scan_limit = 4'096;     // due rows, without their bodies
constexpr std::size_t remembered_max = 10'000;  // receivers
constexpr std::size_t error_max = 300;
constexpr Duration patience_max{36'000'000};  // the longest Retry-After that is respected

bool has(std::vector<std::string> const& names, std::string const& name) {
    return std::ranges::find(names, name) != names.end();
}

// A failure in an earlier process is visible in the row's attempts.
ReceiverHealth health_of(std::map<std::string, bool> const& newest,
                         std::set<std::string> const& tried, std::string const& target) {
    auto const known = newest.find(target);
    if (known != newest.end())
        return known->second ? ReceiverHealth::answering : ReceiverHealth::failing;
    return tried.contains(target) ? ReceiverHealth::failing : ReceiverHealth::unknown;
}

port::HttpRequest request_of(std::string const& url, std::string body, bool public_only) {
    port::HttpRequest out;
    out.method = "POST";
    out.url = url;
    out.headers = {{"Content-Type", "application/json"}};
    out.body = std::move(body);
    out.connect_limit = out.idle_limit = out.total_limit = Pump::time_limit;
    out.response_max = 64 << 10;
    out.public_only = public_only;
    return out;
}

// A context that was only received is passed on unchanged.
std::string traceparent_of(Letter const& letter, bool traced, OutboxKey const& key,
                           std::uint32_t attempt) {
    auto context = session::parse_traceparent(letter.trace.parent);
    if (!context || !traced) return letter.trace.parent;
    context->span = session::delivery_span(key.from, key.seq, key.n, attempt);
    return session::text(*context);
}

}  // namespace

std::optional<Duration> next_attempt(std::uint32_t made, std::uint8_t jitter) {
    if (made >= attempts_after.size()) return std::nullopt;
    Duration const base = attempts_after[made];
    return base + base * jitter / 2560;
}

UrlPolicy url_policy(std::string_view text, std::vector<std::string> const& allowed) {
    auto const url = parse_url(text);
    if (!url) return {"its address " + std::string(url.error())};
    std::string const& host = url->host;
    if (has(allowed, url->authority()) || has(allowed, host)) return {{}, false};
    if (!url->secure)
        return {"it is not https; webhook_hosts in [server] allows single hosts by http"};
    auto const address = parse_address(host);
    bool const local = host == "localhost" || host.ends_with(".localhost");
    if (local || (address && !is_public(*address)))
        return {"its address is not a public one; webhook_hosts in [server] allows single hosts"};
    return {};
}

bool Pump::has_capacity(ReceiverHealth health, std::size_t to_it, std::size_t busy,
                        std::size_t failing) {
    if (to_it >= (health == ReceiverHealth::answering ? at_once_each : 1)) return false;
    switch (health) {
        case ReceiverHealth::answering: return busy < (to_it == 0 ? at_once : at_once_more);
        case ReceiverHealth::unknown: return busy < at_once_unknown;
        case ReceiverHealth::failing: return busy < at_once_unknown && failing < at_once_failing;
    }
    return false;
}

Pump::Pump(Services services, Options options) : services_(services), options_(std::move(options)) {
    options_.allowed = lower_cased(std::move(options_.allowed));
}

Pump::~Pump() { stop(); }

void Pump::start() { scan(); }

void Pump::wake() {
    if (scanning_) {
        again_ = true;
        return;
    }
    scanning_ = true;
    port::ask(services_.outbox, question(),
              scope_.guard([this](Result<Due> due) { scanned(std::move(due)); }));
}

// Receivers take turns, so none gets more than its limit, however much waits for it. Runs on the
// store's thread with its own copy of the requests in progress.
port::Fn<Result<Pump::Due>(port::OutboxStore&)> Pump::question() const {
    std::set<OutboxKey> busy;
    for (auto const& [key, work] : at_work_) busy.insert(key);
    return [until = services_.clock.now(), after = next_, busy = std::move(busy), to = to_,
            newest = newest_, failing = failing_,
            turn = turn_](port::OutboxStore& store) mutable -> Result<Due> {
        auto due = store.due_by_target(until, after, 2 * at_once_each, scan_limit);
        if (!due) return std::unexpected(due.error());
        Due out;
        out.turn = turn;
        if (due->size() >= scan_limit) out.next = due->back().target;
        std::set<std::string> tried;
        for (port::DueMessage const& one : *due) {
            if (one.attempts > 0) tried.insert(one.target);
        }
        // Unknown receivers continue after the last one that had its turn, so that those early in
        // the order do not keep the others waiting.
        std::ranges::stable_partition(*due, [&](port::DueMessage const& one) {
            return one.target > turn ||
                   health_of(newest, tried, one.target) != ReceiverHealth::unknown;
        });
        for (port::DueMessage const& one : *due) {
            if (busy.contains(one.key)) continue;
            auto const health = health_of(newest, tried, one.target);
            std::size_t const on_way = busy.size() + out.rows.size();
            if (!has_capacity(health, to[one.target], on_way, failing)) {
                bool const waits = health == ReceiverHealth::unknown && to[one.target] == 0;
                out.saturated = out.saturated || waits;
                continue;
            }
            auto row = store.outbox_message(one.key);
            if (!row) return std::unexpected(std::move(row.error()));
            if (!*row) continue;
            ++to[one.target];
            failing += health == ReceiverHealth::failing ? 1 : 0;
            if (health == ReceiverHealth::unknown) out.turn = one.target;
            out.rows.push_back({std::move(**row), health});
        }
        return out;
    };
}

void Pump::scan() {
    if (stopped_) return;
    prune();
    wake();
    services_.loop.after(scan_every, scope_.guard([this] { scan(); }));
}

void Pump::scanned(Result<Due> due) {
    if (due) {
        next_ = std::move(due->next);
        turn_ = std::move(due->turn);
        if (due->saturated && !stopped_) free_capacity();
        if (!next_.empty() && at_work_.size() + due->rows.size() < at_once) again_ = true;
    }
    if (due && options_.sharing && !stopped_) return claim(std::move(due->rows));
    if (due) {
        for (Next& next : due->rows) {
            if (!stopped_ && !at_work_.contains(next.row.key)) begin(std::move(next));
        }
    }
    scan_over();
}

void Pump::scan_over() {
    scanning_ = false;
    if (std::exchange(again_, false) && !stopped_) wake();
}

// A receiver that answered 410 and is configured again later gets its messages again.
void Pump::apply(Changes changes) {
    options_.outgoing.hooks = std::move(changes.hooks);
    options_.outgoing.notices = std::move(changes.notices);
    options_.allowed = lower_cased(std::move(changes.allowed));
    options_.tool_secrets = std::move(changes.tool_secrets);
    options_.given_up_after = changes.given_up_after;
    std::erase_if(disabled_, [this](auto const& one) {
        return std::ranges::find(options_.outgoing.hooks, one.first, &Hook::url) ==
               options_.outgoing.hooks.end();
    });
}

void Pump::stop() {
    stopped_ = true;
    for (auto const& [key, work] : at_work_) {
        if (work.request != 0) services_.http.cancel(work.request);
        if (work.process != 0) services_.processes.stop(work.process);
    }
    at_work_.clear();
    to_.clear();
    failing_ = 0;
}

void Pump::prune() {
    Time const now = services_.clock.now();
    if (now - pruned_ < prune_every && now >= pruned_) return;
    pruned_ = now;
    services_.outbox.write(
        [until = now - kept_for](port::OutboxStore& store) { return store.drop_delivered(until); },
        [](Result<void>) {});
    drop_given_up();
}

// Deletes a limited number at a time, until none is left.
void Pump::drop_given_up() {
    if (!options_.given_up_after) return;
    Time const until = services_.clock.now() - *options_.given_up_after;
    port::ask(
        services_.outbox,
        [until](port::OutboxStore& store) { return store.count_given_up(until, dropped_at_once); },
        scope_.guard([this, until](Result<std::uint64_t> count) {
            if (stopped_ || !count || *count == 0) return;
            services_.outbox.write(
                [until](port::OutboxStore& store) {
                    return store.drop_given_up(until, dropped_at_once);
                },
                scope_.guard([this, more = *count == dropped_at_once](Result<void> done) {
                    if (done && more) drop_given_up();
                }));
        }));
}

void Pump::begin(Next next) {
    OutboxKey const key = next.row.key;
    auto letter = read_letter(next.row.body);
    if (!letter) return;  // written by a newer release, which will send it
    ++to_[next.row.target];
    failing_ += next.health == ReceiverHealth::failing ? 1 : 0;
    Work work{std::move(next.row), std::move(*letter)};
    work.health = next.health;
    work.begun = services_.clock.monotonic();
    work.begun_at = services_.clock.now();
    at_work_.emplace(key, std::move(work));
    switch (at_work_.at(key).letter.kind) {
        case Letter::Kind::call: return send_call(key);
        case Letter::Kind::event: return send_event(key);
        case Letter::Kind::notice: return send_notice(key);
        case Letter::Kind::external_agent: return notify_agent(key);
    }
}

void Pump::send_call(OutboxKey const& key) {
    auto const pending = at_work_.at(key).letter.pending;
    if (!pending) return failed(key, "it does not name a call", true);
    auto question = [pending = *pending](port::OutboxStore& store) {
        return store.secret(pending.session, pending.call, pending.generation);
    };
    port::ask(services_.outbox, std::move(question),
              scope_.guard([this, key](Result<std::optional<std::string>> secret) {
                  if (!at_work_.contains(key)) return;
                  if (!secret) return failed(key, "the store does not answer", false);
                  Work const& work = at_work_.at(key);
                  auto const base = options_.tool_secrets.find(work.letter.tool);
                  bool const none = base == options_.tool_secrets.end();
                  std::string const by_tool = none ? std::string() : base->second;
                  send(key, work.row.target, secret->value_or(by_tool), true);
              }));
}

void Pump::send_event(OutboxKey const& key) {
    std::string const& target = at_work_.at(key).row.target;
    auto const& hooks = options_.outgoing.hooks;
    auto const hook = std::ranges::find(hooks, target, &Hook::url);
    if (hook == hooks.end()) return no_receiver(key, "this address is not in any [[webhook]] now");
    // A new message has neither. One that was disabled without a request has a reason alone.
    OutboxRow const& row = at_work_.at(key).row;
    bool const again = row.attempts == 0 && (row.last_status != 0 || !row.last_error.empty());
    if (disabled_.contains(target) && !again) return disable_again(key);
    send(key, hook->url, hook->secret, false);
}

void Pump::notify_agent(OutboxKey const& key) {
    if (!options_.external_agent) return failed(key, "no external agent is configured", true);
    Work const& work = at_work_.at(key);
    auto done = scope_.guard([this, key](Result<void> result) {
        if (!at_work_.contains(key)) return;
        if (result) return delivered(key);
        Code const code = result.error().code;
        failed(key, result.error().detail, code == Code::wrong_kind || code == Code::not_found);
    });
    options_.external_agent(work.row, work.letter.body, std::move(done));
}

void Pump::send(OutboxKey const& key, std::string const& url, std::string const& secret,
                bool signed_plain) {
    Work& work = at_work_.at(key);
    UrlPolicy const policy = url_policy(url, options_.allowed);
    if (!policy.refusal.empty()) return no_receiver(key, "not sent: " + policy.refusal);
    port::HttpRequest request = request_of(url, work.letter.body, policy.public_only);
    std::string const id = delivery_text(DeliveryId{key, work.letter.mark});
    std::int64_t const seconds = to_ms(services_.clock.now()) / 1'000;
    request.headers.push_back({"webhook-id", id});
    request.headers.push_back({"webhook-timestamp", std::to_string(seconds)});
    auto const trace =
        traceparent_of(work.letter, options_.outgoing.tracing.on, key, work.row.attempts + 1);
    if (!trace.empty()) request.headers.push_back({"traceparent", trace});
    if (!work.letter.trace.state.empty())
        request.headers.push_back({"tracestate", work.letter.trace.state});
    if (!secret.empty()) {
        request.headers.push_back(
            {"webhook-signature", standard_signature(secret, id, seconds, request.body)});
    }
    if (!secret.empty() && signed_plain)
        request.headers.push_back({"X-Webhook-Signature", plain_signature(secret, request.body)});
    port::HttpCallbacks callbacks;
    callbacks.head =
        scope_.guard([this, key](port::HttpHead const& head) { take_head(key, head); });
    callbacks.done = scope_.guard([this, key](std::optional<port::HttpFailure> failure) {
        if (!at_work_.contains(key)) return;
        at_work_.at(key).request = 0;
        answered(key, std::move(failure));
    });
    work.request = services_.http.start(std::move(request), std::move(callbacks));
}

void Pump::take_head(OutboxKey const& key, port::HttpHead const& head) {
    if (!at_work_.contains(key)) return;
    at_work_.at(key).status = head.status;
    at_work_.at(key).retry_after = port::retry_after(head, services_.clock.now());
}

void Pump::answered(OutboxKey const& key, std::optional<port::HttpFailure> failure) {
    int const status = at_work_.at(key).status;
    // A status counts as an answer, even if the body was lost.
    if (status >= 200 && status < 300) return delivered(key);
    if (status == 410) return disable(key, "the receiver answered 410 Gone");
    if (status != 0) return failed(key, "the receiver answered " + std::to_string(status), false);
    failed(key, failure ? failure->reason : "no response", false);
}

void Pump::run(OutboxKey const& key, Notice const& notice) {
    port::ProcessSpec spec;
    spec.argv = notice.command;
    spec.environment = options_.environment;
    spec.input = at_work_.at(key).letter.body + "\n";
    spec.time_limit = time_limit;
    at_work_.at(key).process = services_.processes.start(
        std::move(spec), scope_.guard([this, key](port::ProcessEnd const& end) {
            if (!at_work_.contains(key)) return;
            at_work_.at(key).process = 0;
            using How = port::ProcessEnd::How;
            if (end.how == How::exited && end.status == 0) return delivered(key);
            std::string const why =
                end.how == How::not_started ? "it cannot be started: " + end.error
                : end.how == How::exited    ? "exit status " + std::to_string(end.status)
                                            : "it did not end by itself";
            failed(key, why, false);
        }));
}

// Unknown receivers wait for a place. Cuts off requests to other unknown receivers that had their
// time; they are retried in the share of failing receivers.
void Pump::free_capacity() {
    Duration const now = services_.clock.monotonic();
    std::vector<OutboxKey> slow;
    for (auto const& [key, work] : at_work_) {
        bool const in_progress = work.request != 0 || work.process != 0;
        if (in_progress && work.health == ReceiverHealth::unknown &&
            now - work.begun >= probe_timeout)
            slow.push_back(key);
    }
    for (OutboxKey const& key : slow) {
        Work& work = at_work_.at(key);
        if (work.process != 0) services_.processes.stop(std::exchange(work.process, 0));
        if (work.request != 0) services_.http.cancel(std::exchange(work.request, 0));
        if (work.status >= 200 && work.status < 300) {
            delivered(key);
        } else {
            failed(key, "no response within 5 s while deliveries to other receivers waited", false);
        }
    }
}

// A forgotten receiver is unknown again, or failing if a waiting delivery to it has failed.
void Pump::remember(std::string const& target, bool answered) {
    if (newest_.size() >= remembered_max && !newest_.contains(target)) newest_.clear();
    newest_[target] = answered;
}

void Pump::delivered(OutboxKey const& key) {
    Work const& work = at_work_.at(key);
    if (work.letter.kind == Letter::Kind::event) disabled_.erase(work.row.target);
    remember(work.row.target, true);
    OutboxUpdate update;
    update.key = key;
    update.state = OutboxState::delivered;
    update.attempts = work.row.attempts + 1;
    update.last_status = work.status;
    update.delivered = services_.clock.now();
    if (options_.delivered) options_.delivered(work.row);
    report(work, {});
    finish(key, update);
}

void Pump::report(Work const& work, std::string_view why) const {
    if (!options_.attempted) return;
    options_.attempted({{work.row.key, work.letter.mark},
                        work.row.attempts + 1,
                        work.row.target,
                        work.letter.trace,
                        work.begun_at,
                        work.status,
                        why});
}

void Pump::failed(OutboxKey const& key, std::string const& why, bool for_good) {
    Work const& work = at_work_.at(key);
    remember(work.row.target, false);
    OutboxUpdate update;
    update.key = key;
    update.attempts = work.row.attempts + 1;
    update.last_status = work.status;
    update.last_error = why.substr(0, error_max);
    if (!valid_utf8(update.last_error)) update.last_error = "it failed";
    auto const wait =
        for_good ? std::nullopt : next_attempt(update.attempts, services_.entropy.random()[0]);
    update.state = wait ? OutboxState::pending : OutboxState::dead;
    update.next_at = services_.clock.now();
    if (wait) {
        Duration const asked = std::min(work.retry_after.value_or(Duration(0)), patience_max);
        update.next_at = services_.clock.now() + std::max(*wait, asked);
    }
    if (options_.failed) options_.failed(work.row, update.last_error, !wait);
    report(work, update.last_error);
    finish(key, update);
}

void Pump::disable(OutboxKey const& key, std::string const& why) {
    Work const& work = at_work_.at(key);
    bool const answered = work.status != 0;
    if (answered && work.letter.kind == Letter::Kind::event)
        disabled_.insert_or_assign(work.row.target, services_.clock.now());
    OutboxUpdate update;
    update.key = key;
    update.state = OutboxState::disabled;
    update.next_at = services_.clock.now();
    update.attempts = work.row.attempts + (answered ? 1 : 0);
    update.last_status = work.status;
    update.last_error = why;
    if (options_.failed) options_.failed(work.row, why, true);
    report(work, why);
    finish(key, update);
}

namespace {

// Returns true if the row of this key is not that of the event with this mark.
Result<bool> is_another(port::OutboxStore& store, OutboxKey const& key, std::string const& mark) {
    if (mark.empty()) return false;
    auto const row = store.outbox_message(key);
    if (!row) return std::unexpected(row.error());
    auto const letter = *row ? read_letter((*row)->body) : std::nullopt;
    return letter && letter->mark != mark;
}

}  // namespace

// The row counts as in progress until the store has the update; otherwise it would be sent again at
// once. If the store fails, it is sent again later. The update is refused if another process or a
// person has changed the row during the attempt.
void Pump::finish(OutboxKey const& key, OutboxUpdate update) {
    Work& work = at_work_.at(key);
    if (work.renewing) {
        work.outcome = std::move(update);
        return;
    }
    work.ended = true;
    update.attempt = port::OutboxAttempt{work.row.attempts, work.row.next_at};
    update.sent = std::move(work.sent);
    std::vector<OutboxUpdate> updates(std::max<std::size_t>(work.closed.size(), 1), update);
    for (std::size_t i = 0; i < work.closed.size(); ++i) updates[i].closed = work.closed[i];
    // A shared store may have fallen back to an earlier state during the attempt.
    std::string const mark = options_.sharing ? work.letter.mark : std::string();
    services_.outbox.write(
        [updates = std::move(updates), mark](port::OutboxStore& store) -> Result<void> {
            auto const other = is_another(store, updates.front().key, mark);
            if (!other) return std::unexpected(other.error());
            return *other ? Result<void>() : store.update_messages(updates);
        },
        scope_.guard([this, key](Result<void> done) {
            if (done) return release(key);
            services_.loop.after(store_pause, scope_.guard([this, key] { release(key); }));
        }));
}

void Pump::release(OutboxKey const& key) {
    auto const work = at_work_.find(key);
    if (work == at_work_.end()) return;
    auto const busy = to_.find(work->second.row.target);
    if (--busy->second == 0) to_.erase(busy);
    failing_ -= work->second.health == ReceiverHealth::failing ? 1 : 0;
    at_work_.erase(work);
    if (!stopped_) wake();
}

}  // namespace dormouse::webhook
