#include "runner/runner.h"

#include "base/check.h"
#include "base/trace.h"
#include "runner/repair/delete_unreadable.h"
#include "runner/repair/unreadable.h"
#include "wire/admit.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace dormouse::runner {

using namespace dormouse::session;

Runner::Runner(Services services, Options options, Observer& observer)
    : services_(services),
      options_(std::move(options)),
      clock_(services.clock),
      writer_(services.loop, services.journal),
      freshness_(services.loop, services.journal, !services.nodes.alone()),
      loads_(services.loop, services.journal, !services.nodes.alone()),
      runs_(services.nodes.alone() ? 0 : options_.runs_known),
      rules_(std::exchange(options_.rules, {})),
      numbers_(services.loop, options_.numbers, options_.fetch_numbers),
      lane_services_{.entropy = services.entropy,
                     .nodes = services.nodes,
                     .journal = services.journal,
                     .effects = services.effects,
                     .agents = services.agents,
                     .checks = {services.tools, services.workers},
                     .writer = writer_,
                     .freshness = freshness_,
                     .loads = loads_,
                     .runs = runs_,
                     .rules = rules_,
                     .numbers = numbers_,
                     .settings = *this,
                     .schedule = *this,
                     .outcomes = *this,
                     .messages = *this,
                     .observer = *this},
      observer_(observer),
      outbox_(
          {services.loop, services.journal, services.nodes.alone(),
           [this](Error const& error) { store_failed(error); }},
          [this](SessionId to, Command::Body body, Actor by, Reply reply) {
              command(to, std::move(body), {std::move(by)}, std::move(reply));
          },
          [this](OutboxKey const& key, Result<Answer> const& answer) {
              observer_.delivered(key, answer);
          }),
      aliases_(services.journal) {}

Runner::~Runner() {
    scope_.end();
    sweeps_.reset();
    for (auto const& [id, lane] : lanes_) lane->abandon();
}

void Runner::start() {
    scan();
    sweeps_.emplace();
    begin_sweeps();
}

std::shared_ptr<Lane> Runner::lane(SessionId session, bool fresh) {
    auto& lane = lanes_[session];
    parked_.erase(session);
    if (!lane) lane = std::make_shared<Lane>(session, lane_services_, fresh);
    CHECK(lane->id() == session);
    return lane;
}

Incoming Runner::make(Command::Body body, Asker asker) {
    Incoming out;
    out.at = now();
    out.random = random();
    out.rights = std::move(asker.rights);
    out.command.by = std::move(asker.by);
    out.command.idem_key = std::move(asker.idem_key);
    out.command.idem_digest = std::move(asker.idem_digest);
    out.command.trace = std::move(asker.trace);
    out.command.body = std::move(body);
    return out;
}

void Runner::command(SessionId session, Command::Body body, Asker asker, Reply reply) {
    trace();
    CHECK(reply);
    if (draining_) return reply(std::unexpected(stopping()));
    if (auto const* erase = std::get_if<Delete>(&body); erase && !erase->only_completed)
        reply = [this, alive = scope_.token(), session, by = asker.by,
                 reply = std::move(reply)](Result<Answer> answer) mutable {
            // An unreadable session can still be deleted.
            if (answer || !is_unreadable(answer.error()) || !alive) return reply(std::move(answer));
            delete_unreadable(
                {services_.journal, writer_, services_.nodes.epoch(), now()}, session,
                std::move(by),
                [this, alive, session, reply = std::move(reply)](Result<Answer> buried) mutable {
                    if (buried && alive) outbox_.retry(session);
                    reply(std::move(buried));
                });
        };
    enter(session, make(std::move(body), std::move(asker)), std::move(reply));
}

// A large command is checked on a worker first; it takes its place in the queue after that.
void Runner::enter(SessionId session, Incoming incoming, Reply reply) {
    CHECK(reply);
    if (!is_large(incoming.command))
        return lane(session)->receive(std::move(incoming), std::move(reply));
    prepare(std::move(incoming.command),
            [this, session, rights = std::move(incoming.rights),
             reply = std::move(reply)](Result<Command> prepared) mutable {
                if (prepared && draining_) prepared = std::unexpected(stopping());
                if (!prepared)
                    return refuse(session, std::move(prepared.error()), std::move(reply));
                lane(session)->receive_prepared(
                    {std::move(*prepared), now(), random(), std::move(rights)}, std::move(reply));
            });
}

bool Runner::is_large(Command& command) const {
    return services_.workers != nullptr && wire::bytes_of(command) >= wire::large_bytes;
}

// REQUIRES: is_large().
void Runner::prepare(Command command, port::Fn<void(Result<Command>)> then) {
    CHECK(is_large(command));
    struct Large {
        Command command;
        Result<void> prepared = {};
    };
    auto const large = std::make_shared<Large>(std::move(command));
    services_.workers->run(
        [large, output_bytes = options_.limits.output_bytes](std::stop_token const&) {
            large->prepared = Lane::prepare(large->command, output_bytes);
        },
        scope_.guard([large, then = std::move(then)](bool ran) mutable {
            if (!ran) return then(fail(Code::overloaded, "Too many large values wait."));
            if (!large->prepared) return then(std::unexpected(std::move(large->prepared.error())));
            then(std::move(large->command));
        }));
}

void Runner::refuse(SessionId session, Error error, Reply reply) {
    CHECK(reply);
    reply(std::unexpected(std::move(error)));
    auto const known = lanes_.find(session);
    if (known != lanes_.end() && known->second->may_sleep()) rested(session);
}

void Runner::outbox_added(std::vector<port::OutboxRow> rows) {
    auto const others = std::ranges::stable_partition(
        rows, [](port::OutboxRow const& message) { return message.kind == "session"; });
    bool const outside = !others.empty();
    rows.erase(others.begin(), others.end());
    if (!rows.empty()) outbox_.add(std::move(rows));
    if (outside) observer_.outbox_added();
}

void Runner::store_failed(Error const& error) {
    if (error.code == Code::precondition_failed) return;  // refused, and nothing else
    outbox_.doubt();
    // Memory was too short to read a session: unloads idle ones for the next attempt.
    if (error.code == Code::overloaded) release_idle();
    if (error.code != Code::fail_stop || std::exchange(failed_, true)) return;
    observer_.failed();
}

// Running effects continue; their outcomes are offered to the sessions as they are stored then.
void Runner::fenced() {
    if (std::exchange(rejoining_, true)) return;
    services_.nodes.rejoin(scope_.guard([this] {
        rejoining_ = false;
        forget_memory();
    }));
}

void Runner::forget_memory() {
    auto const resident = lanes_;  // a tick may end one
    for (auto const& [id, lane] : resident) lane->forget_state();
    for (auto const& [id, lane] : resident) lane->doubt_messages();
    for (auto const& [id, lane] : resident) appended_elsewhere(id);
}

bool Runner::attends(SessionId session, Time until) const {
    auto const found = lanes_.find(session);
    if (found == lanes_.end() || !found->second->loaded()) return false;
    if (found->second->effects_running() == 0) return false;
    auto const next = found->second->next_time();
    return !next || *next >= until;
}

// A tick is compared with the store, and decided again if that is ahead. A session without watchers
// and effects, of which nothing is held here, is read again when it is needed.
void Runner::appended_elsewhere(SessionId session) {
    numbers_.seen(session.number());
    auto const resident = lanes_.find(session);
    auto const parked = parked_.find(session);
    if (parked != parked_.end() && parked->second.gate.empty()) parked_.erase(parked);
    if (resident == lanes_.end() || draining_ || failed_) return;
    Lane& lane = *resident->second;
    if (lane.may_sleep() && !lane.holds()) return lane.forget_state();
    lane.receive(make(Tick{}, {}), [](Result<Answer> const& /*answer*/) {});
}

void Runner::appended_elsewhere(port::FeedRow const& row) {
    numbers_.seen(row.session.number());
    auto const resident = lanes_.find(row.session);
    bool const known = resident != lanes_.end() && !row.deleted && resident->second->has(row.frame);
    if (!known) appended_elsewhere(row.session);
}

std::optional<Bits128> Runner::creation_key(std::string const& project, Asker const& asker) {
    if (asker.idem_key.empty()) return std::nullopt;
    Sha256 const digest = sha256(project + "\n" + asker.idem_key);
    Bits128 key{};
    std::copy_n(digest.begin(), key.size(), key.begin());
    return key;
}

void Runner::create(Create create, Asker asker, port::Fn<void(Result<Created>)> reply) {
    CHECK(reply);
    if (draining_) return reply(std::unexpected(stopping()));
    auto const known = creation_key(create.project, asker);
    if (!known) return create_new(std::move(create), std::move(asker), {}, std::move(reply));
    Bits128 const key = *known;
    // One creation for each key at a time: between the query and the append another request could
    // create the session.
    if (auto const racing = creating_.find(key); racing != creating_.end()) {
        racing->second.push_back([this, create = std::move(create), asker = std::move(asker),
                                  reply = std::move(reply)]() mutable {
            this->create(std::move(create), std::move(asker), std::move(reply));
        });
        return;
    }
    creating_.try_emplace(key);
    auto finish = [this, key, reply = std::move(reply)](Result<Created> created) mutable {
        auto waiting = creating_.extract(key);
        CHECK(!waiting.empty());  // each creation ends once
        reply(std::move(created));
        for (auto& next : waiting.mapped()) next();
    };
    create_keyed({std::move(create), std::move(asker), key}, std::move(finish));
}

void Runner::create_keyed(Keyed what, port::Fn<void(Result<Created>)> reply) {
    CHECK(reply && creating_.contains(what.key));
    auto question = [key = what.key](port::ListStore& store) { return store.find_created(key); };
    auto use = [this, what = std::move(what),
                reply = std::move(reply)](Result<std::optional<SessionId>> found) mutable {
        if (!found) return reply(std::unexpected(std::move(found.error())));
        bool const alias_taken = what.refused && what.refused->code == Code::alias_taken;
        if (!*found && alias_taken) return reply(std::unexpected(*std::move(what.refused)));
        auto answered =
            services_.nodes.alone() ? std::move(reply) : repeat_if_refused(what, std::move(reply));
        if (!*found)
            return create_new(std::move(what.create), std::move(what.asker), what.key,
                              std::move(answered));
        auto const known = lane(**found);
        known->set_create_key(what.key);  // the store may fall back, and it is created again
        create_at(known, std::move(what.create), std::move(what.asker), std::move(answered));
    };
    port::ask(services_.journal, std::move(question), scope_.guard(std::move(use)));
}

// Another process may create the session of this key, or one with this alias, at the same time. It
// may also do so after the store fell back and lost the session that was found. Then what is stored
// now is the answer.
port::Fn<void(Result<Created>)> Runner::repeat_if_refused(Keyed what,
                                                          port::Fn<void(Result<Created>)> reply) {
    CHECK(reply && what.tries < keyed_tries_max);
    return [this, what = std::move(what),
            reply = std::move(reply)](Result<Created> created) mutable {
        Code const code = created ? Code::internal : created.error().code;
        if (code != Code::conflict && code != Code::alias_taken) return reply(std::move(created));
        if (++what.tries == keyed_tries_max)
            return reply(fail(Code::store_unavailable, "Other servers create this session, too."));
        what.refused = std::move(created.error());
        create_keyed(std::move(what), std::move(reply));
    };
}

// Not called for a repeated request with an Idempotency-Key: its session has the alias already.
void Runner::create_new(Create create, Asker asker, std::optional<Bits128> key,
                        port::Fn<void(Result<Created>)> reply) {
    CHECK(reply);
    if (create.alias.empty())
        return create_fresh(std::move(create), std::move(asker), key, std::move(reply));
    std::string const project = create.project;
    std::string const alias = create.alias;
    auto create_claimed = [this, create = std::move(create), asker = std::move(asker), key,
                           reply = std::move(reply)](Result<Aliases::Claim> claim) mutable {
        if (!claim) return reply(std::unexpected(std::move(claim.error())));
        auto released = [claim = std::move(*claim),
                         reply = std::move(reply)](Result<Created> created) mutable {
            claim.reset();
            reply(std::move(created));
        };
        create_fresh(std::move(create), std::move(asker), key, std::move(released));
    };
    aliases_.claim(project, alias, {}, scope_.guard(std::move(create_claimed)));
}

void Runner::rename(SessionId session, Change change, Asker asker, Reply reply) {
    CHECK(change.alias && reply);
    read_lane(session, [this, session, change = std::move(change), asker = std::move(asker),
                        reply = std::move(reply)](Result<std::shared_ptr<Lane>> lane) mutable {
        if (!lane) return reply(std::unexpected(std::move(lane.error())));
        std::string const project = (*lane)->state().project;
        std::string const alias = *change.alias;
        auto rename_claimed = [this, session, change = std::move(change), asker = std::move(asker),
                               reply = std::move(reply)](Result<Aliases::Claim> claim) mutable {
            if (!claim) return reply(std::unexpected(std::move(claim.error())));
            command(session, std::move(change), std::move(asker),
                    [claim = std::move(*claim),
                     reply = std::move(reply)](Result<Answer> answer) mutable {
                        claim.reset();
                        reply(std::move(answer));
                    });
        };
        aliases_.claim(project, alias, session, scope_.guard(std::move(rename_claimed)));
    });
}

void Runner::create_fresh(Create create, Asker asker, std::optional<Bits128> key,
                          port::Fn<void(Result<Created>)> reply) {
    CHECK(reply);
    std::uint64_t const number = numbers_.next();
    if (number == 0)
        return reply(
            fail(Code::overloaded, "Numbers for new sessions are being fetched; try again."));
    numbers_.take(1);
    SessionId const id = SessionId::make(number, dormouse::draw(random(), 0));
    auto const lane = this->lane(id, true);
    if (key) lane->set_create_key(*key);
    create_at(lane, std::move(create), std::move(asker), std::move(reply));
}

void Runner::create_at(std::shared_ptr<Lane> const& lane, Create create, Asker asker,
                       port::Fn<void(Result<Created>)> reply) {
    CHECK(lane);
    SessionId const id = lane->id();
    create.id = id;
    enter(id, make(std::move(create), std::move(asker)),
          [id, reply = std::move(reply)](Result<Answer> answer) mutable {
              if (!answer) return reply(std::unexpected(std::move(answer.error())));
              reply(Created{id, std::move(*answer)});
          });
}

std::vector<std::pair<SessionId, std::string>> Runner::awaiting_gate(std::size_t limit) const {
    std::vector<std::pair<SessionId, std::string>> out;
    for (auto const& [id, lane] : lanes_) {
        if (out.size() == limit) break;
        if (auto gate = lane->missing_gate()) out.emplace_back(id, *std::move(gate));
    }
    for (auto const& [id, one] : parked_) {
        if (out.size() == limit) break;
        if (!one.gate.empty()) out.emplace_back(id, one.gate);
    }
    CHECK(out.size() <= limit);
    std::ranges::sort(out);
    return out;
}

void Runner::read_lane(SessionId session, port::Fn<void(Result<std::shared_ptr<Lane>>)> done) {
    CHECK(done);
    auto const lane = this->lane(session);
    lane->read([lane, done = std::move(done)](Result<Lane const*> at) mutable {
        if (!at) return done(std::unexpected(std::move(at.error())));
        done(lane);
    });
}

void Runner::read(SessionId session, Seq from, port::Fn<void(Result<Read>)> done) {
    read_on(session, std::max<Seq>(from, 1), {}, std::move(done));
}

// Calls `done` within a read of the lane, so that records and state are consistent: while the
// journal was read, the lane may have continued or dropped its state.
void Runner::read_on(SessionId session, Seq next, std::vector<wire::RecordPtr> records,
                     port::Fn<void(Result<Read>)> done) {
    CHECK(done && next > 0);
    read_lane(session, [this, session, next, records = std::move(records),
                        done = std::move(done)](Result<std::shared_ptr<Lane>> lane) mutable {
        if (!lane) return done(std::unexpected(std::move(lane.error())));
        Seq const head = (*lane)->state().head;
        auto const& recent = (*lane)->recent();
        bool const covered = next > head || (!recent.empty() && recent.front()->event.seq <= next);
        if (!covered) return read_stored(session, next, head, std::move(records), std::move(done));
        for (wire::RecordPtr const& record : recent) {
            if (record->event.seq >= next) records.push_back(record);
        }
        done(Read{*lane, std::move(records)});
    });
}

void Runner::read_stored(SessionId session, Seq next, Seq head,
                         std::vector<wire::RecordPtr> records, port::Fn<void(Result<Read>)> done) {
    CHECK(next <= head);
    CHECK(records.empty() || records.back()->event.seq + 1 == next);
    auto question = [session, next, head](port::JournalStore& store) {
        return read_records(store, session, next, head);
    };
    auto use = [this, session, records = std::move(records),
                done = std::move(done)](Result<std::vector<wire::RecordPtr>> read) mutable {
        if (!read) return done(std::unexpected(std::move(read.error())));
        if (read->empty()) return done(fail(Code::not_found, "This id was not found."));
        std::ranges::move(*read, std::back_inserter(records));
        Seq const after = records.back()->event.seq + 1;
        read_on(session, after, std::move(records), std::move(done));
    };
    port::ask(services_.journal, std::move(question), scope_.guard(std::move(use)),
              port::read_key(session));
}

void Runner::read_page(SessionId session, Seq from, std::size_t bytes,
                       port::Fn<void(Result<Read>)> done) {
    read_page(session, from, bytes, false, std::move(done));
}

void Runner::read_event(SessionId session, Seq seq, port::Fn<void(Result<Read>)> done) {
    read_page(session, seq, 1, false, std::move(done));
}

void Runner::read_events(SessionId session, Seq from, port::Fn<void(Result<Read>)> done) {
    read_page(session, from, page_bytes, true, std::move(done));
}

void Runner::read_page(SessionId session, Seq from, std::size_t bytes, bool skip,
                       port::Fn<void(Result<Read>)> done) {
    CHECK(done);
    read_lane(session, [this, session, from, bytes, skip,
                        done = std::move(done)](Result<std::shared_ptr<Lane>> lane) mutable {
        if (!lane) return done(std::unexpected(std::move(lane.error())));
        if (skip) from = std::max(from, (*lane)->state().base.through + 1);
        Seq const head = (*lane)->state().head;
        auto const& recent = (*lane)->recent();
        bool const covered = from > head || (!recent.empty() && recent.front()->event.seq <= from);
        if (!covered) return read_stored_page(session, from, head, bytes, std::move(done));
        Read page{*lane, {}};
        std::size_t read = 0;
        for (wire::RecordPtr const& record : recent) {
            if (record->event.seq < from) continue;
            if (read >= bytes) break;
            read += record->data.size();
            page.records.push_back(record);
        }
        done(std::move(page));
    });
}

void Runner::read_stored_page(SessionId session, Seq from, Seq head, std::size_t bytes,
                              port::Fn<void(Result<Read>)> done) {
    CHECK(from <= head);
    auto question = [session, from, head, bytes](port::JournalStore& store) {
        return read_some_records(store, session, from, head, bytes);
    };
    auto use = [this, session,
                done = std::move(done)](Result<std::vector<wire::RecordPtr>> read) mutable {
        if (!read) return done(std::unexpected(std::move(read.error())));
        if (read->empty()) return done(fail(Code::not_found, "This id was not found."));
        read_lane(session, [records = std::move(*read),
                            done = std::move(done)](Result<std::shared_ptr<Lane>> lane) mutable {
            if (!lane) return done(std::unexpected(std::move(lane.error())));
            done(Read{std::move(*lane), std::move(records)});
        });
    };
    port::ask(services_.journal, std::move(question), scope_.guard(std::move(use)),
              port::read_key(session));
}

void Runner::offer(SessionId session, EffectId id, Command::Body outcome) {
    // Events of external agents must stay in order.
    bool const alone = std::holds_alternative<ToolOutcome>(outcome) ||
                       std::holds_alternative<PollOutcome>(outcome) ||
                       std::holds_alternative<ModelReply>(outcome);
    Command command;
    command.body = std::move(outcome);
    if (!alone || !is_large(command)) return lane(session)->offer(id, std::move(command.body));
    auto const again = std::make_shared<Command::Body>(command.body);
    prepare(std::move(command), [this, session, id, again](Result<Command> prepared) mutable {
        if (!prepared) return lane(session)->offer(id, std::move(*again));
        lane(session)->offer_prepared(id, std::move(prepared->body));
    });
}

void Runner::offer_later(SessionId session, EffectId id, Command::Body outcome) {
    auto again = [this, session, id, outcome = std::move(outcome)]() mutable {
        if (!failed_) offer(session, id, std::move(outcome));
    };
    services_.loop.after(Duration(1'000), scope_.guard(std::move(again)));
}

void Runner::after(Duration delay, port::Fn<void()> work) {
    CHECK(work);
    services_.loop.after(delay, scope_.guard(std::move(work)));
}

void Runner::drain(port::Fn<void()> done, Duration limit) {
    CHECK(done && !drained_);
    draining_ = true;
    drain_until_ = clock_.now() + limit;
    drained_ = std::move(done);
    auto const lanes = lanes_;
    for (auto const& [id, lane] : lanes) lane->give_back_runs();
    finish_drain();
}

// Running work may still report its outcome; the next start settles what does not report in time.
void Runner::finish_drain() {
    CHECK(draining_ && drained_);
    bool running = !writer_.idle();
    for (auto const& [id, lane] : lanes_)
        running = running || lane->shut() || lane->effects_running() > 0;
    if (!running || now() >= drain_until_) return services_.loop.post(std::exchange(drained_, {}));
    services_.loop.after(Duration(20), scope_.guard([this] { finish_drain(); }));
}

}  // namespace dormouse::runner
