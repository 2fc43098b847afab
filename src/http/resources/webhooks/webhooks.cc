#include "http/resources/webhooks/webhooks.h"

#include "base/crypto/sha256.h"
#include "http/resources/api.h"
#include "json/json.h"

#include "wire/admit.h"
#include "wire/submission.h"

#include <algorithm>

namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr Duration sweep_every{60'000};
constexpr Duration again_after{1'000};

Bits128 short_digest(std::string const& text) {
    Sha256 const digest = sha256(text);
    Bits128 out{};
    std::copy_n(digest.begin(), out.size(), out.begin());
    return out;
}

Bits128 key_of(std::string const& source, std::string const& kind, std::string const& id) {
    return short_digest(source + "\n" + kind + "\n" + id);
}

}  // namespace

Delivery delivery_of(webhook::Source const& source, std::string id, std::string_view body) {
    Delivery out;
    Sha256 const digest = sha256(body);
    std::copy_n(digest.begin(), out.digest.size(), out.digest.begin());
    out.keys.push_back(key_of(source.id, "id", id));
    // Where the signature covers neither id nor time, a copy of a delivery could be sent again
    // under another id.
    bool const bare = source.kind == webhook::Kind::hmac || source.kind == webhook::Kind::github;
    if (bare) out.keys.push_back(key_of(source.id, "content", digest_text(digest)));
    out.id = std::move(id);
    return out;
}

namespace {

// Returns the delivery of a kept row. The content key was computed from the body as sent. The row
// holds the body as JSON, which can differ in surrounding white space; then only the stored key is
// used.
Delivery delivery_in(webhook::Source const& source, port::KeptRow const& row) {
    Delivery out = delivery_of(source, row.delivery_id, row.body);
    if (out.digest != row.delivery.digest) out.keys = {row.delivery.key};
    out.digest = row.delivery.digest;
    return out;
}

}  // namespace

Submit submission_of(webhook::Payload const& payload, Delivery const& delivery) {
    Submit out;
    out.what = payload.error
                   ? wire::submitted_error(*payload.error)
                   : wire::submitted_result(payload.output, payload.title, payload.metadata);
    out.via = "webhook";
    out.delivery_id = delivery.id;
    out.delivery_keys = delivery.keys;
    out.delivery_digest = delivery.digest;
    return out;
}

void find_referenced(port::StoreView<port::PendingStore> calls, webhook::Source const& source,
                     std::string const& reference, std::vector<port::PendingStatus> statuses,
                     port::Fn<void(Result<std::vector<PendingId>>)> done) {
    port::PendingFilter filter;
    filter.project = source.project;
    filter.external_ref = reference;
    filter.statuses = std::move(statuses);
    filter.limit = 200;
    auto question = [filter](port::PendingStore& store) { return store.list_pending(filter); };
    port::ask(calls, std::move(question),
              [tools = source.tools,
               done = std::move(done)](Result<std::vector<port::PendingListed>> rows) mutable {
                  if (!rows) return done(std::unexpected(std::move(rows.error())));
                  std::vector<PendingId> out;
                  for (port::PendingListed const& one : *rows) {
                      bool const mine =
                          tools.empty() || std::ranges::find(tools, one.row.tool) != tools.end();
                      if (mine && out.size() < 2)
                          out.push_back({one.session, one.row.call, one.row.generation, {}});
                  }
                  done(std::move(out));
              });
}

webhook::Source const* Webhooks::source(std::string const& id) const {
    auto const& sources = services_.sources;
    auto const found = std::ranges::find(sources, id, &webhook::Source::id);
    return found == sources.end() ? nullptr : &*found;
}

void Webhooks::start() {
    read_kept();
    sweep();
}

void Webhooks::read_kept() {
    read_again_ = reading_;
    if (std::exchange(reading_, true)) return;
    unread_ = false;
    read_page(std::make_shared<Reading>());
}

void Webhooks::read_page(std::shared_ptr<Reading> reading) {
    auto question = [after = reading->after](port::InboundStore& store) {
        return store.kept(after, page_rows, page_bytes);
    };
    auto use = [this, reading = std::move(reading)](Result<std::vector<port::KeptRow>> rows) {
        if (!rows) services_.log.warn("kept deliveries cannot be read");
        if (!rows) unread_ = true;
        if (rows && take_page(*reading, std::move(*rows))) return read_page(reading);
        read_over(*reading);
    };
    port::ask(services_.journal, std::move(question), scope_.guard(std::move(use)));
}

// Returns false if there are no more, or memory has no place for them. What is too old is not
// taken.
bool Webhooks::take_page(Reading& reading, std::vector<port::KeptRow> rows) {
    Time const oldest = services_.runner.now() - kept_for;
    std::size_t bytes = 0;
    for (port::KeptRow& row : rows) {
        bytes += row.body.size();
        unread_ = kept_.size() >= read_max || kept_bytes_ + row.body.size() > read_bytes_max;
        if (unread_) return false;
        reading.after = port::KeptPlace{.at = row.at, .key = row.delivery.key};
        if (row.at < oldest || kept_.contains(row.delivery.key)) continue;
        reading.found.push_back(row.delivery.key);
        add(std::move(row));
    }
    return rows.size() == page_rows || bytes >= page_bytes;
}

void Webhooks::read_over(Reading& reading) {
    reading_ = false;
    offer_in_turn(std::make_shared<std::vector<Bits128>>(std::move(reading.found)));
    if (std::exchange(read_again_, false)) read_kept();
}

void Webhooks::offer_all() {
    std::vector<Bits128> known;
    for (auto const& [key, row] : kept_) known.push_back(key);
    offer_in_turn(std::make_shared<std::vector<Bits128>>(std::move(known)));
    read_kept();
}

// Deletes deliveries that are too old, from memory and then from the store. Returns true if memory
// had some.
bool Webhooks::drop_old() {
    Time const until = services_.runner.now() - kept_for;
    std::vector<Bits128> old;
    for (auto const& [key, row] : kept_) {
        if (row.at < until) old.push_back(key);
    }
    if (!old.empty()) {
        services_.log.warn("deliveries without a call were dropped",
                           {{"deliveries", std::to_string(old.size())}});
        drop(std::move(old));
        return true;
    }
    return false;
}

// Also those that no process has in memory.
void Webhooks::drop_old_of_all() {
    Time const until = services_.runner.now() - kept_for;
    auto use = [this, until](Result<std::vector<port::KeptRow>> const& oldest) {
        if (!oldest || oldest->empty() || oldest->front().at >= until) return;
        services_.log.warn("deliveries without a call were dropped from the store");
        services_.journal.write(
            [until](port::InboundStore& store) { return store.drop_old_kept(until); },
            [](Result<void>) {});
    };
    port::ask(
        services_.journal, [](port::InboundStore& store) { return store.kept({}, 1, 1); },
        scope_.guard(std::move(use)));
}

void Webhooks::sweep() {
    if (!drop_old()) drop_old_of_all();
    if (unread_) read_kept();
    services_.loop.after(sweep_every, scope_.guard([this] { sweep(); }));
}

void Webhooks::add(port::KeptRow row) {
    Bits128 const key = row.delivery.key;
    kept_bytes_ += row.body.size();
    places_.emplace(Place{row.project, row.reference}, key);
    kept_.emplace(key, std::move(row));
}

void Webhooks::remove(Bits128 const& key) {
    auto const found = kept_.find(key);
    if (found == kept_.end()) return;
    port::KeptRow const& row = found->second;
    kept_bytes_ -= row.body.size();
    auto const [from, to] = places_.equal_range(Place{row.project, row.reference});
    for (auto it = from; it != to; ++it) {
        if (it->second != key) continue;
        places_.erase(it);
        break;
    }
    kept_.erase(found);
}

void Webhooks::drop(std::vector<Bits128> keys) {
    for (Bits128 const& key : keys) remove(key);
    services_.journal.write(
        [keys = std::move(keys)](port::InboundStore& store) { return store.drop_kept(keys); },
        [](Result<void>) {});
}

void Webhooks::keep(port::KeptRow row, port::Fn<void(Result<void>)> done) {
    if (kept_.size() >= kept_max || kept_bytes_ + row.body.size() > kept_bytes_max) {
        return done(std::unexpected(Error{
            Code::too_many_pending, "Too many deliveries wait for their calls.", {}, 60'000}));
    }
    auto const shared = std::make_shared<port::KeptRow>(std::move(row));
    services_.journal.write(
        [shared](port::InboundStore& store) { return store.keep(*shared); },
        scope_.guard([this, shared, done = std::move(done)](Result<void> kept) mutable {
            if (kept) {
                // A call that paused during this write did not find the delivery; offer it now.
                Bits128 const key = shared->delivery.key;
                add(std::move(*shared));
                offer(kept_.at(key));
            } else if (info(kept.error().code).next == Next::retry) {
                read_again_later(shared->delivery.key);
            }
            done(std::move(kept));
        }));
}

namespace {

// The terms of a wait that begins with the event; nullptr: none that a delivery could end.
PauseTerms const* opened_terms(Event::Body const& body) {
    if (auto const* const e = std::get_if<CallPaused>(&body)) return &*e->terms;
    if (auto const* const e = std::get_if<GateAsked>(&body)) return &*e->terms;
    // POST /api/pending
    if (auto const* const e = std::get_if<AgentAsked>(&body)) return &*e->terms;
    return nullptr;
}

}  // namespace

void Webhooks::appended(std::string const& project, std::vector<wire::RecordPtr> const& records) {
    if (kept_.empty()) return;
    for (wire::RecordPtr const& record : records) {
        PauseTerms const* const terms = opened_terms(record->event.body);
        if (!terms || terms->external_ref.empty()) continue;
        // Posted, because the append is still being released.
        Place const place{project, terms->external_ref};
        services_.loop.post(scope_.guard([this, place] { offer(place); }));
    }
}

void Webhooks::offer(Place const& place) {
    std::vector<Bits128> keys;
    auto const [from, to] = places_.equal_range(place);
    for (auto it = from; it != to; ++it) keys.push_back(it->second);
    for (Bits128 const& key : keys) offer(kept_.at(key));
}

void Webhooks::offer(port::KeptRow const& row) {
    webhook::Source const* const from = source(row.source);
    if (!from) return;  // the source is not configured any more
    find_referenced(
        services_.journal, *from, row.reference, {port::PendingStatus::waiting},
        scope_.guard([this, key = row.delivery.key](Result<std::vector<PendingId>> found) {
            if (!kept_.contains(key)) return;
            if (!found) return offer_again(key);
            check(key, found->size() == 1 ? std::optional(found->front()) : std::nullopt);
        }));
}

// There may be thousands, and no call waits for most of them: one query at a time, so that requests
// do not wait behind them.
void Webhooks::offer_in_turn(std::shared_ptr<std::vector<Bits128>> keys) {
    while (!keys->empty()) {
        Bits128 const key = keys->back();
        keys->pop_back();
        auto const kept = kept_.find(key);
        webhook::Source const* const from =
            kept == kept_.end() ? nullptr : source(kept->second.source);
        if (!from) continue;
        auto then = [this, key, keys](Result<std::vector<PendingId>> found) mutable {
            if (kept_.contains(key) && !found) offer_again(key);
            // Also without a call: it may have ended since the rows were read.
            if (kept_.contains(key) && found)
                check(key, found->size() == 1 ? std::optional(found->front()) : std::nullopt);
            offer_in_turn(std::move(keys));
        };
        return find_referenced(services_.journal, *from, kept->second.reference,
                               {port::PendingStatus::waiting}, scope_.guard(std::move(then)));
    }
}

// Another process of the store may have found the delivery's call. Its append ends that call's wait
// and removes the row at once; so when a row is still there after `place` was found to be the only
// call that waits, no other call has taken the delivery. If one takes it later, the store refuses
// the append for `place`.
void Webhooks::check(Bits128 const& key, std::optional<PendingId> const& place) {
    auto question = [key](port::InboundStore& store) { return store.kept_delivery(key); };
    auto use = [this, key, place](Result<std::optional<port::KeptRow>> const& row) {
        if (!kept_.contains(key)) return;
        if (!row) return offer_again(key);
        if (!*row) return remove(key);
        if (place) read(key, *place);
    };
    port::ask(services_.journal, std::move(question), scope_.guard(std::move(use)));
}

// Reads a kept delivery for a call that waits for it.
void Webhooks::read(Bits128 const& key, PendingId const& place) {
    struct Reading {
        webhook::Source source;
        port::KeptRow row;
        std::optional<Submit> command = {};
    };
    port::KeptRow const& kept = kept_.at(key);
    webhook::Source const* const from = source(kept.source);
    if (!from) return;  // the source is not configured any more
    auto const at = std::make_shared<Reading>(*from, kept);
    auto work = [at] {
        auto const body = json::check(at->row.body);
        auto const payload =
            body ? webhook::read_payload(at->source, *body) : std::unexpected(body.error());
        if (!payload || payload->ignored) return;
        at->command = submission_of(*payload, delivery_in(at->source, at->row));
    };
    auto then = scope_.guard([this, at, key, place](bool ran) {
        if (!kept_.contains(key)) return;
        if (!ran) return offer_again(key);
        if (at->command) offer_to(kept_.at(key), std::move(*at->command), place);
    });
    if (!services_.workers || kept.body.size() < wire::large_bytes) {
        work();
        return then(true);
    }
    services_.workers->run([work](std::stop_token const&) { work(); }, std::move(then));
}

void Webhooks::offer_again(Bits128 const& key) {
    services_.loop.after(again_after, scope_.guard([this, key] {
        if (kept_.contains(key)) offer(kept_.at(key));
    }));
}

namespace {

// Returns true if the session was deleted before it received the delivery.
bool is_call_gone(Result<Answer> const& answer) {
    return !answer &&
           (answer.error().code == Code::not_found || answer.error().code == Code::session_gone);
}

}  // namespace

void Webhooks::offer_to(port::KeptRow const& row, Submit what, PendingId const& place) {
    auto submit = [this, key = row.delivery.key, command = std::move(what), place,
                   by = Actor{ActorType::webhook, row.source}](
                      Result<std::shared_ptr<runner::Lane>> lane) mutable {
        if (!kept_.contains(key)) return;
        if (!lane) return offer_again(key);
        auto const& calls = (*lane)->state().calls;
        auto const at = calls.find(place.call);
        bool const waits = at != calls.end() && at->second.pending.generation == place.generation;
        if (!waits) return offer_again(key);
        Call const* const call = &at->second;
        command.pending = call->pending;
        services_.runner.command(
            call->pending.session, std::move(command), {by},
            scope_.guard([this, key, pending = call->pending](Result<Answer> answer) {
                bool const later = !answer && info(answer.error().code).next == Next::retry;
                if (later) return read_again_later(key);
                if (is_call_gone(answer)) return offer_again(key);
                // A delivery that does not fit this call stays: it may fit a later one.
                bool const misfit = !answer && (info(answer.error().code).http == 422 ||
                                                answer.error().code == Code::not_an_answerer);
                if (!misfit) drop({key});
                if (answer) return;
                services_.log.warn(
                    "a kept delivery does not fit its call",
                    {{"pendingID", pending.text()}, {"code", info(answer.error().code).text}});
            }));
    };
    services_.runner.read_lane(place.session, scope_.guard(std::move(submit)));
}

// Asks the store, after a write of unknown outcome, whether the delivery is still kept or a call
// has taken it, so that no second call gets it.
void Webhooks::read_again_later(Bits128 const& key) {
    auto question = [key](port::InboundStore& store) { return store.kept_delivery(key); };
    auto look = [this, key, question] {
        auto use = [this, key,
                    known = kept_.contains(key)](Result<std::optional<port::KeptRow>> row) {
            if (!row) return read_again_later(key);
            if (*row && !kept_.contains(key)) add(std::move(**row));
            if (*row) return offer(kept_.at(key));
            if (known) remove(key);
        };
        port::ask(services_.journal, question, scope_.guard(std::move(use)));
    };
    services_.loop.after(again_after, scope_.guard(std::move(look)));
}

bool Webhooks::keeps_copy(std::string const& source, Delivery const& delivery) const {
    auto const is_copy = [&](auto const& entry) {
        return entry.second.source == source && entry.second.delivery.digest == delivery.digest;
    };
    return delivery.keys.size() > 1 && std::ranges::any_of(kept_, is_copy);
}

void Webhooks::enter(Bits128 const& key, port::Fn<void()> work) {
    auto const [found, first] = at_work_.try_emplace(key);
    if (!first) return found->second.push_back(std::move(work));
    work();
}

void Webhooks::leave(Bits128 const& key) {
    auto const found = at_work_.find(key);
    if (found == at_work_.end()) return;
    if (found->second.empty()) {
        at_work_.erase(found);
        return;
    }
    auto next = std::move(found->second.front());
    found->second.erase(found->second.begin());
    services_.loop.post(scope_.guard(std::move(next)));
}

}  // namespace dormouse::http
