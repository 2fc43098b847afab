#include "webhook/pump.h"

#include "base/address.h"
#include "base/text.h"
#include "base/url.h"
#include "webhook/signature.h"

#include <algorithm>
#include <utility>

namespace dormouse::webhook {

using port::PostKey;
using port::PostRow;
using port::PostState;
using port::PostUpdate;

namespace {

constexpr Duration scan_every{1'000};
constexpr Duration prune_every{600'000};
constexpr Duration store_pause{5'000};
constexpr std::uint32_t look_at = 4'096;        // rows that are due, without what is in them
constexpr std::size_t remembered_max = 10'000;  // receivers
constexpr std::size_t error_max = 300;
constexpr Duration patience_max{36'000'000};  // the longest Retry-After that is followed

bool has(std::vector<std::string> const& names, std::string const& name) {
    return std::ranges::find(names, name) != names.end();
}

// What failed in an earlier process says so in its row.
Standing standing_of(std::map<std::string, bool> const& newest, std::set<std::string> const& tried,
                     std::string const& target) {
    auto const known = newest.find(target);
    if (known != newest.end()) return known->second ? Standing::answering : Standing::failing;
    return tried.contains(target) ? Standing::failing : Standing::stranger;
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

}  // namespace

std::optional<Duration> next_attempt(std::uint32_t made, std::uint8_t luck) {
    if (made >= attempts_after.size()) return std::nullopt;
    Duration const usual = attempts_after[made];
    return usual + usual * luck / 2560;
}

Way way_to(std::string_view text, std::vector<std::string> const& allowed) {
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

bool Pump::has_room(Standing standing, std::size_t to_it, std::size_t busy, std::size_t failing) {
    if (to_it >= (standing == Standing::answering ? at_once_each : 1)) return false;
    switch (standing) {
        case Standing::answering: return busy < (to_it == 0 ? at_once : at_once_more);
        case Standing::stranger: return busy < at_once_strangers;
        case Standing::failing: return busy < at_once_strangers && failing < at_once_failing;
    }
    return false;
}

Pump::Pump(World world, Options options) : world_(world), options_(std::move(options)) {
    for (std::string& host : options_.allowed) host = lower_case(host);
}

Pump::~Pump() {
    *alive_ = false;
    stop();
}

void Pump::start() { scan(); }

void Pump::wake() {
    if (scanning_) {
        again_ = true;
        return;
    }
    scanning_ = true;
    port::ask(world_.outbox, question(), [this, alive = alive_](Result<Due> due) {
        if (*alive) scanned(std::move(due));
    });
}

// Receivers take turns: each has so many on their way, whatever else waits for it. Runs on the
// store's thread, with its own copy of what is at work.
port::Fn<Result<Pump::Due>(port::OutboxStore&)> Pump::question() const {
    std::set<PostKey> busy;
    for (auto const& [key, work] : at_work_) busy.insert(key);
    return [until = world_.clock.now(), after = next_, busy = std::move(busy), to = to_,
            newest = newest_, failing = failing_,
            turn = turn_](port::OutboxStore& store) mutable -> Result<Due> {
        auto due = store.due_by_target(until, after, 2 * at_once_each, look_at);
        if (!due) return std::unexpected(due.error());
        Due out;
        out.turn = turn;
        if (due->size() >= look_at) out.next = due->back().target;
        std::set<std::string> tried;
        for (port::DuePost const& one : *due) {
            if (one.attempts > 0) tried.insert(one.target);
        }
        // Whoever is new and comes first by name does not keep the others from their turn.
        std::ranges::stable_partition(*due, [&](port::DuePost const& one) {
            return one.target > turn ||
                   standing_of(newest, tried, one.target) != Standing::stranger;
        });
        for (port::DuePost const& one : *due) {
            if (busy.contains(one.key)) continue;
            auto const standing = standing_of(newest, tried, one.target);
            std::size_t const on_way = busy.size() + out.rows.size();
            if (!has_room(standing, to[one.target], on_way, failing)) {
                bool const waits = standing == Standing::stranger && to[one.target] == 0;
                out.crowded = out.crowded || waits;
                continue;
            }
            auto row = store.post(one.key);
            if (!row) return std::unexpected(std::move(row.error()));
            if (!*row) continue;
            ++to[one.target];
            failing += standing == Standing::failing ? 1 : 0;
            if (standing == Standing::stranger) out.turn = one.target;
            out.rows.push_back({std::move(**row), standing});
        }
        return out;
    };
}

void Pump::scan() {
    if (stopped_) return;
    prune();
    wake();
    world_.loop.after(scan_every, [this, alive = alive_] {
        if (*alive) scan();
    });
}

void Pump::scanned(Result<Due> due) {
    scanning_ = false;
    if (due) {
        next_ = std::move(due->next);
        turn_ = std::move(due->turn);
        if (due->crowded && !stopped_) make_room();
        if (!next_.empty() && at_work_.size() + due->rows.size() < at_once) again_ = true;
    }
    if (due) {
        for (Next& next : due->rows) {
            if (!stopped_ && !at_work_.contains(next.row.key)) begin(std::move(next));
        }
    }
    if (std::exchange(again_, false) && !stopped_) wake();
}

void Pump::stop() {
    stopped_ = true;
    for (auto const& [key, work] : at_work_) {
        if (work.request != 0) world_.http.cancel(work.request);
        if (work.process != 0) world_.processes.stop(work.process);
    }
    at_work_.clear();
    to_.clear();
    failing_ = 0;
}

void Pump::prune() {
    Time const now = world_.clock.now();
    if (now - pruned_ < prune_every && now >= pruned_) return;
    pruned_ = now;
    world_.outbox.write(
        [until = now - kept_for](port::OutboxStore& store) { return store.drop_delivered(until); },
        [](Result<void>) {});
    if (options_.given_up_after) drop_given_up();
}

// Some at a time, while there are more.
void Pump::drop_given_up() {
    Time const until = world_.clock.now() - *options_.given_up_after;
    port::ask(
        world_.outbox,
        [until](port::OutboxStore& store) { return store.count_given_up(until, dropped_at_once); },
        [this, alive = alive_, until](Result<std::uint64_t> count) {
            if (!*alive || stopped_ || !count || *count == 0) return;
            world_.outbox.write(
                [until](port::OutboxStore& store) {
                    return store.drop_given_up(until, dropped_at_once);
                },
                [this, alive, more = *count == dropped_at_once](Result<void> done) {
                    if (*alive && done && more) drop_given_up();
                });
        });
}

void Pump::begin(Next next) {
    PostKey const key = next.row.key;
    auto letter = read_letter(next.row.body);
    if (!letter) return;  // of a newer release: it waits for that
    ++to_[next.row.target];
    failing_ += next.standing == Standing::failing ? 1 : 0;
    Work work{std::move(next.row), std::move(*letter)};
    work.standing = next.standing;
    work.begun = world_.clock.monotonic();
    at_work_.emplace(key, std::move(work));
    switch (at_work_.at(key).letter.kind) {
        case Letter::Kind::call: return send_call(key);
        case Letter::Kind::event: return send_event(key);
        case Letter::Kind::notice: return send_notice(key);
        case Letter::Kind::program: return tell_program(key);
    }
}

void Pump::send_call(PostKey const& key) {
    auto const pending = at_work_.at(key).letter.pending;
    if (!pending) return failed(key, "it names no call", true);
    auto question = [pending = *pending](port::OutboxStore& store) {
        return store.secret(pending.session, pending.call, pending.generation);
    };
    port::ask(world_.outbox, std::move(question),
              [this, alive = alive_, key](Result<std::optional<std::string>> secret) {
                  if (!*alive || !at_work_.contains(key)) return;
                  if (!secret) return failed(key, "the store does not answer", false);
                  Work const& work = at_work_.at(key);
                  auto const usual = options_.tool_secrets.find(work.letter.tool);
                  bool const none = usual == options_.tool_secrets.end();
                  std::string const by_tool = none ? std::string() : usual->second;
                  send(key, work.row.target, secret->value_or(by_tool), true);
              });
}

void Pump::send_event(PostKey const& key) {
    std::string const& target = at_work_.at(key).row.target;
    auto const& hooks = options_.outgoing.hooks;
    auto const hook = std::ranges::find(hooks, target, &Hook::url);
    if (hook == hooks.end()) return failed(key, "no [[webhook]] has this address any more", true);
    bool const again = at_work_.at(key).row.attempts == 0 && at_work_.at(key).row.last_status != 0;
    if (disabled_.contains(target) && !again) return disable(key, "its receiver said 410 Gone");
    send(key, hook->url, hook->secret, false);
}

void Pump::send_notice(PostKey const& key) {
    auto const& notices = options_.outgoing.notices;
    auto const notice = std::ranges::find(notices, at_work_.at(key).row.target, &Notice::target);
    if (notice == notices.end())
        return failed(key, "no [[notify]] has this address any more", true);
    if (notice->kind == Notice::Kind::command) return run(key, *notice);
    send(key, notice->url, "", false);
}

void Pump::tell_program(PostKey const& key) {
    if (!options_.program) return failed(key, "no program is an agent here", true);
    Work const& work = at_work_.at(key);
    options_.program(work.row, work.letter.body, [this, alive = alive_, key](Result<void> told) {
        if (!*alive || !at_work_.contains(key)) return;
        if (told) return delivered(key);
        Code const code = told.error().code;
        failed(key, told.error().detail, code == Code::wrong_kind || code == Code::not_found);
    });
}

void Pump::send(PostKey const& key, std::string const& url, std::string const& secret,
                bool signed_plain) {
    Work& work = at_work_.at(key);
    Way const way = way_to(url, options_.allowed);
    if (!way.refusal.empty()) return failed(key, "not sent: " + way.refusal, true);
    port::HttpRequest request = request_of(url, work.letter.body, way.public_only);
    std::string const id = delivery_text(key);
    std::int64_t const seconds = to_ms(world_.clock.now()) / 1'000;
    request.headers.push_back({"webhook-id", id});
    request.headers.push_back({"webhook-timestamp", std::to_string(seconds)});
    if (!secret.empty()) {
        request.headers.push_back(
            {"webhook-signature", standard_signature(secret, id, seconds, request.body)});
    }
    if (!secret.empty() && signed_plain)
        request.headers.push_back({"X-Webhook-Signature", plain_signature(secret, request.body)});
    port::HttpCallbacks callbacks;
    callbacks.head = [this, alive = alive_, key](port::HttpHead const& head) {
        if (!*alive || !at_work_.contains(key)) return;
        at_work_.at(key).status = head.status;
        at_work_.at(key).retry_after = port::retry_after(head, world_.clock.now());
    };
    callbacks.done = [this, alive = alive_, key](std::optional<port::HttpFailure> failure) {
        if (!*alive || !at_work_.contains(key)) return;
        at_work_.at(key).request = 0;
        answered(key, std::move(failure));
    };
    work.request = world_.http.start(std::move(request), std::move(callbacks));
}

void Pump::answered(PostKey const& key, std::optional<port::HttpFailure> failure) {
    int const status = at_work_.at(key).status;
    // A status that came is an answer, whatever became of its body.
    if (status >= 200 && status < 300) return delivered(key);
    if (status == 410) return disable(key, "its receiver said 410 Gone");
    if (status != 0) return failed(key, "its receiver said " + std::to_string(status), false);
    failed(key, failure ? failure->reason : "no answer came", false);
}

void Pump::run(PostKey const& key, Notice const& notice) {
    port::ProcessSpec spec;
    spec.argv = notice.command;
    spec.environment = options_.environment;
    spec.input = at_work_.at(key).letter.body + "\n";
    spec.time_limit = time_limit;
    at_work_.at(key).process = world_.processes.start(
        std::move(spec), [this, alive = alive_, key](port::ProcessEnd const& end) {
            if (!*alive || !at_work_.contains(key)) return;
            at_work_.at(key).process = 0;
            using How = port::ProcessEnd::How;
            if (end.how == How::exited && end.status == 0) return delivered(key);
            std::string const why =
                end.how == How::not_started ? "it can not be started: " + end.error
                : end.how == How::exited    ? "exit status " + std::to_string(end.status)
                                            : "it did not end by itself";
            failed(key, why, false);
        });
}

// Strangers wait for room. Those on their way that have had their chance are tried again later, in
// the share of those that fail.
void Pump::make_room() {
    Duration const now = world_.clock.monotonic();
    std::vector<PostKey> slow;
    for (auto const& [key, work] : at_work_) {
        bool const hangs = work.request != 0 || work.process != 0;
        if (hangs && work.standing == Standing::stranger && now - work.begun >= chance)
            slow.push_back(key);
    }
    for (PostKey const& key : slow) {
        Work& work = at_work_.at(key);
        if (work.process != 0) world_.processes.stop(std::exchange(work.process, 0));
        if (work.request != 0) world_.http.cancel(std::exchange(work.request, 0));
        if (work.status >= 200 && work.status < 300) {
            delivered(key);
        } else {
            failed(key, "no answer came within 5 s, and others waited for the place", false);
        }
    }
}

// Whoever is forgotten is a stranger again, or what waits for him says that it failed.
void Pump::remember(std::string const& target, bool answered) {
    if (newest_.size() >= remembered_max && !newest_.contains(target)) newest_.clear();
    newest_[target] = answered;
}

void Pump::delivered(PostKey const& key) {
    Work const& work = at_work_.at(key);
    if (work.letter.kind == Letter::Kind::event) disabled_.erase(work.row.target);
    remember(work.row.target, true);
    PostUpdate update;
    update.key = key;
    update.state = PostState::delivered;
    update.attempts = work.row.attempts + 1;
    update.last_status = work.status;
    update.delivered = world_.clock.now();
    finish(key, update);
}

void Pump::failed(PostKey const& key, std::string const& why, bool for_good) {
    Work const& work = at_work_.at(key);
    remember(work.row.target, false);
    PostUpdate update;
    update.key = key;
    update.attempts = work.row.attempts + 1;
    update.last_status = work.status;
    update.last_error = why.substr(0, error_max);
    if (!valid_utf8(update.last_error)) update.last_error = "it failed";
    auto const wait =
        for_good ? std::nullopt : next_attempt(update.attempts, world_.entropy.random()[0]);
    update.state = wait ? PostState::pending : PostState::dead;
    update.next_at = world_.clock.now();
    if (wait) {
        Duration const asked = std::min(work.retry_after.value_or(Duration(0)), patience_max);
        update.next_at = world_.clock.now() + std::max(*wait, asked);
    }
    if (options_.failed) options_.failed(work.row, update.last_error, !wait);
    finish(key, update);
}

void Pump::disable(PostKey const& key, std::string const& why) {
    Work const& work = at_work_.at(key);
    if (work.letter.kind == Letter::Kind::event) disabled_.insert(work.row.target);
    PostUpdate update;
    update.key = key;
    update.state = PostState::disabled;
    update.next_at = world_.clock.now();
    update.attempts = work.row.attempts + (work.status != 0 ? 1 : 0);
    update.last_status = work.status;
    update.last_error = why;
    if (options_.failed) options_.failed(work.row, why, true);
    finish(key, update);
}

// It is at work until the store knows: else it would be sent again at once. If the store does not
// take it, it is sent again later.
void Pump::finish(PostKey const& key, PostUpdate update) {
    world_.outbox.write([update = std::move(update)](
                            port::OutboxStore& store) { return store.update_posts({&update, 1}); },
                        [this, alive = alive_, key](Result<void> done) {
                            if (!*alive) return;
                            if (done) return release(key);
                            world_.loop.after(store_pause, [this, alive, key] {
                                if (*alive) release(key);
                            });
                        });
}

void Pump::release(PostKey const& key) {
    auto const work = at_work_.find(key);
    if (work == at_work_.end()) return;
    auto const busy = to_.find(work->second.row.target);
    if (--busy->second == 0) to_.erase(busy);
    failing_ -= work->second.standing == Standing::failing ? 1 : 0;
    at_work_.erase(work);
    if (!stopped_) wake();
}

}  // namespace dormouse::webhook
