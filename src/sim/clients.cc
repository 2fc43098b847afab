#include "sim/clients.h"

#include "base/text/text.h"
#include "sim/inputs.h"

#include <utility>

// Requests that create, prompt, move and read sessions. submissions.cc has the submissions.
namespace dormouse::sim {

using namespace dormouse::session;

Clients::Clients(World& world, Durable& durable, Findings& findings, Knobs const& knobs, Up up)
    : world_(world), durable_(durable), findings_(findings), knobs_(knobs), up_(std::move(up)) {
    durable_.on_event([this](SessionId session, Event const& event) { on_event(session, event); });
    durable_.on_loss([this](Durable::Lost const& lost) { forget(lost); });
}

void Clients::forget(Durable::Lost const& lost) {
    for (auto const& [session, tail] : lost) {
        history_.forget(session, world_.instant());
        Seq& known = known_[session];
        known = std::min<Seq>(known, tail.front()->event.seq - 1);
    }
    std::erase_if(created_, [&](auto const& entry) { return !durable_.find(entry.second); });
}

void Clients::begin() {
    for (unsigned i = 0; i < knobs_.sessions; ++i) {
        world_.outside(world_.between(Duration(0), knobs_.busy / 4), [this] { create(); });
    }
}

void Clients::start(std::function<void(std::shared_ptr<Request> const&)> ask, unsigned tries) {
    repeat(std::make_shared<Request>(Request{std::move(ask), tries}));
}

void Clients::repeat(std::shared_ptr<Request> const& request) {
    if (request->answered || request->tries == 0) return;
    --request->tries;
    ++requests_;
    request->ask(request);
    if (request->tries == 0) return;
    world_.outside(world_.between(Duration(2'000), Duration(6'000)),
                   [this, request] { repeat(request); });
}

std::string Clients::name(std::string_view kind) {
    return std::string(kind) + " " + std::to_string(++names_);
}

runner::Asker Clients::asker(std::string const& name, bool keyed) const {
    runner::Asker asker;
    asker.by = {ActorType::token, name};
    if (!keyed) return asker;
    Sha256 const key = sha256(name);
    asker.idem_key = hex(std::span(key).first(16));
    asker.idem_digest = "body";
    return asker;
}

bool Clients::is_answer(SessionId session, Error const& error, bool may_be_unknown) {
    std::string const code(info(error.code).text);
    world_.trace(code);
    Durable::Session const* const found = durable_.find(session);
    bool const deleted = found && found->state.lifecycle == Lifecycle::deleted;
    bool const lost = error.code == Code::not_found && found && !deleted && !may_be_unknown;
    bool const broken = error.code == Code::internal || error.code == Code::idempotency_mismatch;
    bool const bare = error.code == Code::conflict && error.extra.is_null();
    if (lost || broken || bare) findings_.add("answer: " + code + ": " + error.detail);
    bool const again = info(error.code).next == Next::retry || error.code == Code::fail_stop;
    bool const excused = error.code == Code::not_ready || error.code == Code::queue_full ||
                         error.code == Code::session_busy;
    // With several processes the head may move under an append again and again.
    if (again && knobs_.quiet && !excused && knobs_.processes == 1)
        findings_.add("answer: " + code + " without a fault");
    return !again;
}

void Clients::create() {
    std::string const by = name("create");
    bool const keyed = world_.happens(700);
    std::string const alias = alias_of(++aliases_);
    auto const ask = [this, by, keyed, alias](std::shared_ptr<Request> const& request) {
        runner::Runner* const runner = up_().runner;
        if (!runner) return;
        Create create;
        create.alias = alias;
        create.project = "default";
        create.agent = by.ends_with("3") ? "demo-each" : "demo";
        runner->create(std::move(create), asker(by, keyed),
                       [this, by, request, lost = line()](Result<runner::Created> answer) {
                           request->answered = answer || is_answer({}, answer.error());
                           if (answer && !lost()) created(by, answer->session);
                       });
    };
    start(ask, keyed ? 6 : 1);
    bool const twice = keyed && world_.happens(300);
    if (twice) start(ask, 2);
}

void Clients::created(std::string const& by, SessionId session) {
    ++acknowledged_;
    world_.trace("created " + session.text());
    Event const* const event = durable_.event(session, 1);
    auto const* const birth = event ? std::get_if<SessionCreated>(&event->body) : nullptr;
    if (!birth || birth->by.name != by) {
        findings_.add("lost: a session was acknowledged that is not durable");
    }
    auto const [known, fresh] = created_.emplace(by, session);
    if (known->second != session) findings_.add("repeat: one key led to two sessions");
    if (fresh) live(session);
}

// Schedules what happens to a session that its creator knows of.
void Clients::live(SessionId session) {
    for (unsigned i = 0; i < knobs_.prompts; ++i) {
        world_.outside(world_.between(Duration(0), knobs_.busy / 2),
                       [this, session] { prompt(session); });
    }
    for (unsigned i = 0; i < 1 + knobs_.prompts / 2; ++i) {
        world_.outside(world_.between(Duration(0), knobs_.busy),
                       [this, session] { meddle(session); });
    }
}

void Clients::prompt(SessionId session) {
    Prompt const prompt = draw_prompt(world_);
    std::string const by = name("prompt");
    bool const keyed = world_.happens(600);
    auto const ask = [this, session, by, keyed, prompt](std::shared_ptr<Request> const& request) {
        ask_prompt(request, session, by, keyed, prompt);
    };
    start(ask, keyed ? 5 : 1);
    bool const twice = keyed && world_.happens(200);
    if (twice) start(ask, 2);
}

void Clients::ask_prompt(std::shared_ptr<Request> const& request, SessionId session,
                         std::string const& by, bool keyed, Prompt const& prompt) {
    runner::Runner* const runner = up_().runner;
    if (!runner) return;
    runner->command(session, prompt, asker(by, keyed),
                    [this, session, by, request, lost = line()](Result<Answer> answer) {
                        request->answered = answer || is_answer(session, answer.error(), lost());
                        if (answer && !lost()) prompted(session, by, *answer);
                    });
}

void Clients::prompted(SessionId session, std::string const& by, Answer const& answer) {
    ++acknowledged_;
    world_.trace("prompted " + std::to_string(answer.seq));
    // A prompt that answers an already settled pause gets the receipt alone.
    bool const receipt_only = answer.turn == 0;
    if (receipt_only) return;
    Event const* const event = durable_.event(session, answer.seq);
    auto const* const input = event ? std::get_if<InputReceived>(&event->body) : nullptr;
    if (!input || input->by.name != by) {
        findings_.add("lost: a prompt was acknowledged that is not durable");
    }
    Seq& known = known_[session];
    known = std::max(known, answer.seq);
}

void Clients::meddle(SessionId session) {
    switch (world_.below(20)) {
        case 0:
        case 1: return cancel_turn(session);
        case 2:
        case 3: return move(session, world_.happens(200) ? Move::To::end : Move::To::retry);
        case 4: return world_.happens(300) ? remove(session) : read(session);
        case 5:
        case 6: return stream(session);
        case 7:
        case 8: return write_and_leave(session);
        default: return read(session);
    }
}

void Clients::cancel_turn(SessionId session) {
    runner::Runner* const runner = up_().runner;
    if (!runner) return;
    Cancel cancel;
    if (world_.happens(300)) cancel.scope = Cancel::Scope::all;
    runner->command(session, cancel, asker(name("cancel"), false),
                    [this, session, lost = line()](Result<Answer> answer) {
                        if (!answer) (void)is_answer(session, answer.error(), lost());
                    });
}

void Clients::move(SessionId session, Move::To to) {
    runner::Runner* const runner = up_().runner;
    if (!runner) return;
    runner->command(session, Move{to, "asked for"}, asker(name("move"), false),
                    [this, session, lost = line()](Result<Answer> answer) {
                        if (!answer) (void)is_answer(session, answer.error(), lost());
                    });
}

void Clients::remove(SessionId session) {
    runner::Runner* const runner = up_().runner;
    if (!runner) return;
    runner->command(session, Delete{}, asker(name("delete"), false),
                    [this, session, lost = line()](Result<Answer> answer) {
                        if (!answer) (void)is_answer(session, answer.error(), lost());
                    });
}

// Another session sends mail to this one by id; the session is deleted while the mail is on its
// way.
void Clients::write_and_leave(SessionId session) {
    if (created_.empty()) return;
    auto writer = created_.begin();
    std::advance(writer, world_.below(created_.size()));
    auto const ask = [this, from = writer->second, by = name("prompt"),
                      prompt = prompt_of("tell " + session.text() + " goodbye")](
                         std::shared_ptr<Request> const& request) {
        ask_prompt(request, from, by, false, prompt);
    };
    start(ask, 1);
    bool const deleted = world_.happens(500);
    world_.outside(world_.between(Duration(0), Duration(600)), [this, session, deleted] {
        deleted ? remove(session) : move(session, Move::To::end);
    });
}

void Clients::read(SessionId session) {
    runner::Runner* const runner = up_().runner;
    if (!runner) return;
    ++requests_;
    Seq const known = known_[session];
    std::uint64_t const since = world_.instant();
    auto check = [this, session, known, since,
                  lost = line()](Result<runner::Runner::Read> const& answer) {
        if (!answer) return (void)is_answer(session, answer.error(), lost());
        if (lost()) return;
        check_read(session, known, *answer);
        check_pauses(*answer, since);
    };
    runner->read(session, 1, std::move(check));
}

// P6: reads see a prefix of the journal with everything acknowledged.
void Clients::check_read(SessionId session, Seq known, runner::Runner::Read const& read) {
    Durable::Session const* const truth = durable_.find(session);
    std::size_t const count = read.records.size();
    world_.trace("read " + std::to_string(count));
    Seq const head = read.records.empty() ? 0 : read.records.back()->event.seq;
    if (!truth || head > truth->records.size()) return findings_.add("read: undurable events");
    // Retention keeps some events up to `gone`; after it all must be present.
    Seq const gone = read.lane->loaded() ? read.lane->state().base.through : 0;
    Seq before = 0;
    for (wire::RecordPtr const& shown : read.records) {
        Seq const seq = shown->event.seq;
        bool const follows = seq == before + 1 || (seq > before && seq <= gone) ||
                             (before <= gone && seq == gone + 1);
        bool const same = follows && shown->data == truth->records[seq - 1]->data;
        if (!same) return findings_.add("read: it is not a prefix of the journal");
        before = seq;
    }
    if (head < known) findings_.add("read: something acknowledged before is missing");
    Seq& newest = known_[session];
    newest = std::max<Seq>(newest, head);
    bool const agrees = read.lane->loaded() && read.lane->state().head == head;
    if (!agrees) findings_.add("read: the lane's state is not that of the records");
}

void Clients::check_pauses(runner::Runner::Read const& read, std::uint64_t since) {
    if (!read.lane->loaded()) return;
    std::set<PendingId> ids;
    std::map<PendingId, Receipt> receipts;
    for (wire::RecordPtr const& record : read.records) {
        if (auto const* e = std::get_if<CallPaused>(&record->event.body)) ids.insert(e->pending);
        if (auto const* e = std::get_if<GateAsked>(&record->event.body)) ids.insert(e->pending);
        if (auto const* receipt = receipt_in(record->event)) {
            receipts.emplace(receipt->pending, *receipt);
        }
    }
    for (PendingId const& pending : ids) {
        Operation look;
        look.call = since;
        std::size_t const place = history_.begin(pending, look);
        auto const receipt = receipts.find(pending);
        bool const open = open_pause(read.lane->state(), pending) != nullptr;
        auto const observed = receipt != receipts.end() ? Operation::Observed::settled
                              : open                    ? Operation::Observed::open
                                                        : Operation::Observed::unknown;
        Seen seen;
        if (receipt != receipts.end()) seen = {receipt->second.status, receipt->second.digest};
        history_.end(pending, place, world_.instant(), observed, seen);
    }
}

// Follows a session for a while, as a reader of its event stream does.
void Clients::stream(SessionId session) {
    Server const server = up_();
    if (!server.runner) return;
    ++requests_;
    server.runner->read_lane(session, [this, session, server,
                                       lost = line()](Result<std::shared_ptr<runner::Lane>> lane) {
        if (!lane) return (void)is_answer(session, lane.error(), lost());
        runner::Lane const* const watched = lane->get();
        auto const wake = [this, watched, cursor = watched->state().head, lost = line()]() mutable {
            if (watched->loaded() && !lost()) check_stream(watched->state(), cursor);
        };
        std::uint64_t const watch = (*lane)->watch(wake);
        Duration const end = world_.between(Duration(0), Duration(15'000));
        if (knobs_.quiet && end >= stream_delay) expect_events(*server.loop, *lane, end);
        server.loop->after(end, [this, runner = server.runner, lane = *lane, watch] {
            end_stream(*runner, lane, watch);
        });
    });
}

// Checks that a reader gets what any process appends within seconds, even if signals are lost.
// `end`: a time at which the lane is still watched.
void Clients::expect_events(port::Loop& loop, std::shared_ptr<runner::Lane> const& lane,
                            Duration end) {
    auto const compare = [this, lane](Seq head) {
        bool const reads = lane->loaded() && lane->state().lifecycle != Lifecycle::deleted;
        if (reads && lane->state().head < head)
            findings_.add("stream: a reader does not get what is stored");
    };
    loop.after(end - stream_delay, [this, &loop, lane, compare] {
        Durable::Session const* const truth = durable_.find(lane->id());
        Seq const head = truth ? truth->state.head : 0;
        loop.after(stream_delay, [compare, head] { compare(head); });
    });
}

void Clients::check_stream(State const& state, Seq& cursor) {
    Durable::Session const* const truth = durable_.find(state.id);
    // Only the last event of a deleted session is kept.
    bool const gone = state.lifecycle == Lifecycle::deleted;
    if (state.head < cursor && !gone) findings_.add("stream: it went back");
    // A session whose creation was answered and is stored nowhere is one of them.
    if (state.head > (truth ? truth->records.size() : 0)) findings_.add("stream: undurable events");
    cursor = state.head;
}

// Following a lane means following the session: no other lane may receive its events.
void Clients::end_stream(runner::Runner& runner, std::shared_ptr<runner::Lane> const& lane,
                         std::uint64_t watch) {
    auto const compare = [this, lane](Result<std::shared_ptr<runner::Lane>> now) {
        if (now && *now != lane) findings_.add("stream: the session has another lane");
    };
    runner.read_lane(lane->id(), compare);
    lane->unwatch(watch);
}

}  // namespace dormouse::sim
