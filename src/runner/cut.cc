#include "runner/cut.h"

#include "session/replay.h"

#include <algorithm>
#include <utility>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

constexpr std::size_t walk_bytes = std::size_t{1} << 20;
constexpr Seq events_max = 20'000;  // that one cut takes
constexpr std::size_t waiting_max = 10'000;

// Whether `state` still has a use for the record, now that no turn is open.
struct Needed {
    State const& state;
    Seq seq;

    bool operator()(InputReceived const&) const { return has(state.queue, &QueuedInput::seq, seq); }
    bool operator()(MailReceived const&) const { return has(state.inbox, &InboxItem::seq, seq); }
    bool operator()(MailReleased const& e) const {
        return std::ranges::any_of(
            e.numbers, [&](auto number) { return has(state.inbox, &InboxItem::number, number); });
    }
    bool operator()(MailBounced const&) const { return seq > state.asked_view; }
    bool operator()(TaskStarted const& e) const { return state.tasks.contains(e.task); }
    bool operator()(TaskChanged const& e) const { return state.tasks.contains(e.task); }
    template <class Other> bool operator()(Other const&) const { return false; }

private:
    static bool has(auto const& items, auto member, auto const& value) {
        return std::ranges::find(items, value, member) != items.end();
    }
};

// Where a journal may be cut: after a turn.
struct Place {
    State state;  // after it
    Time at{};
    std::vector<wire::RecordPtr> kept;  // records up to it, and those behind it in its frame
    Seq first = 0, last = 0;            // of that frame
    std::uint64_t bytes = 0;            // of the frames that go
};

// Reads a journal from its beginning and remembers the newest place.
class Walk {
public:
    // `gone`: messages that went with earlier cuts; so many more are to go.
    Walk(State base, std::uint64_t gone, std::uint64_t messages)
        : state_(std::move(base)), messages_(gone + messages), from_(state_.head) {}

    Result<void> take(port::Frame const& frame) {
        auto records = wire::unpack(state_.id, frame.first, frame.bytes);
        if (!records) return std::unexpected(std::move(records.error()));
        bytes_ += frame.bytes.size();
        for (std::size_t i = 0; i < records->size() && !done_; ++i) {
            if ((*records)[i]->event.seq > state_.head) step((*records)[i]->event);
            if (!replayed_) return std::unexpected(replayed_.error());
            if (done_) break;
            remember((*records)[i]);
            if (ended_) stop_here(frame, {records->begin(), records->end()}, i);
        }
        return {};
    }

    // Enough goes, and more would be too much for one cut.
    [[nodiscard]] bool done() const { return done_; }
    [[nodiscard]] std::optional<Place>& place() { return sure_; }
    // Artifacts up to the place: those that what is kept does not name go.
    [[nodiscard]] std::vector<wire::RecordPtr> const& artifacts() const { return artifacts_; }

private:
    void step(Event const& event) {
        auto const* const started = std::get_if<TurnStarted>(&event.body);
        // A turn that failed may be taken up again: only the next one says that it is over.
        if (started && maybe_) {
            if (!started->again) sure_ = std::move(maybe_);
            maybe_.reset();
            bool const enough =
                sure_ && sure_->state.messages >= messages_ + sure_->state.queue.size();
            bool const many = sure_ && sure_->state.head - from_ >= events_max;
            done_ = enough || many;
            if (done_) return;
        }
        replayed_ = replay(state_, event);
        if (!replayed_) return;
        ended_ = std::holds_alternative<TurnEnded>(event.body);
    }

    void remember(wire::RecordPtr const& record) {
        Event const& event = record->event;
        if (std::holds_alternative<ArtifactEmitted>(event.body)) artifacts_.push_back(record);
        bool const may_wait = std::holds_alternative<InputReceived>(event.body) ||
                              std::holds_alternative<MailReceived>(event.body) ||
                              std::holds_alternative<MailReleased>(event.body) ||
                              std::holds_alternative<MailBounced>(event.body) ||
                              std::holds_alternative<TaskStarted>(event.body) ||
                              std::holds_alternative<TaskChanged>(event.body);
        if (may_wait) waiting_.push_back(record);
    }

    void stop_here(port::Frame const& frame, std::span<wire::RecordPtr const> records,
                   std::size_t i) {
        ended_ = false;
        std::erase_if(waiting_, [&](wire::RecordPtr const& record) {
            return !std::visit(Needed{state_, record->event.seq}, record->event.body);
        });
        maybe_ = Place{state_,      records[i]->event.at,          waiting_,
                       frame.first, frame.first + frame.count - 1, bytes_};
        for (auto const& record : records.subspan(i + 1)) maybe_->kept.push_back(record);
    }

    State state_;
    std::uint64_t messages_;  // of the place, those that stay aside
    Seq from_ = 0;
    std::vector<wire::RecordPtr> waiting_, artifacts_;
    std::optional<Place> maybe_, sure_;
    std::uint64_t bytes_ = 0;
    bool ended_ = false, done_ = false;
    Result<void> replayed_ = {};  // the newest event
};

// Which of the artifacts up to the place are named by what is kept of them; the others' bytes.
std::uint64_t keep_artifacts(Walk const& walk, Place& place, std::vector<Seq>& kept) {
    std::uint64_t gone = 0;
    std::vector<wire::RecordPtr> more;
    for (wire::RecordPtr const& record : walk.artifacts()) {
        Seq const seq = record->event.seq;
        if (seq > place.state.head) continue;
        std::string const id = numbered_id("art_", place.state.id, seq);
        bool const named = std::ranges::any_of(place.kept, [&](wire::RecordPtr const& one) {
            return one->data.find('"' + id + '"') != std::string::npos;
        });
        if (!named) gone += std::get<ArtifactEmitted>(record->event.body).bytes;
        if (!named) continue;
        kept.push_back(seq);
        more.push_back(record);
    }
    std::ranges::move(more, std::back_inserter(place.kept));
    std::ranges::sort(place.kept, {}, [](auto const& record) { return record->event.seq; });
    return gone;
}

// `now`: the state with the newest cut.
Cut make_cut(Walk& walk, HistoryBase const& now) {
    Place& place = *walk.place();
    Cut out;
    CutHistory& command = out.command;
    command.after = now.through;
    command.first = place.first;
    command.last = place.last;
    command.what.through = place.state.head;
    // Prompts that were queued at the place stay.
    std::uint64_t const gone = now.messages + place.state.queue.size();
    command.what.messages = place.state.messages - std::min(place.state.messages, gone);
    command.what.turn = place.state.last_turn ? place.state.last_turn->no : 0;
    command.what.call = place.state.calls_ever;
    command.what.artifact_bytes = keep_artifacts(walk, place, command.artifacts);
    command.frame = std::make_shared<std::string const>(
        wire::pack_base(place.state, place.at, place.first, place.kept));
    out.bytes = place.bytes - std::min<std::uint64_t>(place.bytes, command.frame->size());
    return out;
}

}  // namespace

Result<std::optional<Cut>> plan_cut(port::Store& store, SessionId session,
                                    std::uint64_t messages_max) {
    auto const now = read_session(store, session);
    if (!now) return std::unexpected(now.error());
    State const& state = now->state;
    bool const there = state.lifecycle != Lifecycle::none && state.lifecycle != Lifecycle::deleted;
    std::uint64_t const messages = message_count(state);
    if (!there || messages < messages_max) return std::nullopt;
    std::uint64_t const too_many =
        messages - messages_max + std::max<std::uint64_t>(1, messages_max / 10);
    std::optional<Walk> walk;
    for (Seq next = 1; next <= state.head && !(walk && walk->done());) {
        auto const frames = store.page(session, next, walk_bytes);
        if (!frames) return std::unexpected(frames.error());
        if (frames->empty()) break;
        if (!walk) {
            auto base = read_base(session, *frames);
            if (!base) return std::unexpected(std::move(base.error()));
            State begin = *base ? **std::move(base) : State();
            begin.id = session;
            walk.emplace(std::move(begin), state.base.messages, too_many);
        }
        for (port::Frame const& frame : *frames) {
            if (walk->done()) break;
            if (auto taken = walk->take(frame); !taken) return std::unexpected(taken.error());
        }
        next = frames->back().first + frames->back().count;
    }
    if (!walk || !walk->place()) return std::nullopt;
    return make_cut(*walk, state.base);
}

// One session, cut by cut.
struct HistoryCutter::Job {
    SessionId session;
    std::uint64_t messages_max = 0;
    bool dry_run = false;
    Asker asker;
    CutReport report;
    port::Fn<void(Result<CutReport>)> done;
};

HistoryCutter::HistoryCutter(Runner& runner, port::Loop& loop, port::Journal& journal,
                             std::optional<std::uint64_t> messages_max)
    : runner_(runner), loop_(loop), journal_(journal), messages_max_(messages_max) {}

HistoryCutter::~HistoryCutter() { *alive_ = false; }

void HistoryCutter::appended(Lane const& lane, std::vector<wire::RecordPtr> const& records) {
    if (!messages_max_) return;
    State const& state = lane.state();
    if (message_count(state) < *messages_max_) return;
    bool const ended = std::ranges::any_of(records, [](wire::RecordPtr const& record) {
        return std::holds_alternative<TurnEnded>(record->event.body);
    });
    if (!ended || waiting_.size() >= waiting_max) return;
    waiting_.insert(lane.id());
    next();
}

// Not at once: the lane has just let its answers go, and others have their turn first.
void HistoryCutter::next() {
    if (busy_ || waiting_.empty()) return;
    busy_ = true;
    loop_.post([this, alive = alive_] {
        if (!*alive) return;
        SessionId const session = *waiting_.begin();
        waiting_.erase(waiting_.begin());
        cut(session, *messages_max_, false, {}, [this, session](Result<CutReport> cut) {
            busy_ = false;
            if (cut && cut->messages > 0 && told_) told_(session, *cut);
            next();
        });
    });
}

void HistoryCutter::cut(SessionId session, std::uint64_t messages_max, bool dry_run, Asker asker,
                        port::Fn<void(Result<CutReport>)> done) {
    auto const job = std::make_shared<Job>(
        Job{session, messages_max, dry_run, std::move(asker), {}, std::move(done)});
    job->asker.idem_key.clear();  // of the request, not of each cut
    step(job);
}

void HistoryCutter::step(std::shared_ptr<Job> const& job) {
    auto plan = [session = job->session, max = job->messages_max](port::Store& store) {
        return plan_cut(store, session, max);
    };
    port::ask(journal_, std::move(plan),
              [this, alive = alive_, job](Result<std::optional<Cut>> cut) {
                  if (!*alive) return;
                  if (!cut) return job->done(std::unexpected(std::move(cut.error())));
                  if (!*cut || runner_.draining()) return job->done(job->report);
                  CutReport const gone{(*cut)->command.what.messages, (*cut)->bytes};
                  if (job->dry_run) return job->done(gone);
                  auto const applied = [this, alive, job, gone](Result<Answer> const& answer) {
                      if (!*alive) return;
                      if (!answer && info(answer.error().code).next == Next::retry)
                          return job->done(std::unexpected(answer.error()));
                      // Somebody else has cut it meanwhile, or it is gone: so be it.
                      if (!answer) return job->done(job->report);
                      job->report.messages += gone.messages;
                      job->report.bytes += gone.bytes;
                      step(job);
                  };
                  runner_.command(job->session, std::move((*cut)->command), job->asker, applied);
              });
}

}  // namespace dormouse::runner
