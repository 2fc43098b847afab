#include "runner/lane/cut.h"

#include "base/check.h"
#include "session/replay.h"

#include <algorithm>
#include <utility>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

constexpr std::size_t walk_bytes = std::size_t{1} << 20;
constexpr Seq events_max = 20'000;  // limit for one cut
constexpr std::size_t waiting_max = 10'000;
constexpr std::size_t seen_max = 10'000;
constexpr Duration retries_often_max = std::chrono::hours(1);
constexpr std::uint64_t record_bytes = 48;  // overhead of a record in a frame, estimated

// The least that must be removed.
struct TooMuch {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;          // of the journal
    std::optional<Time> before = {};  // turns that ended earlier

    [[nodiscard]] bool nothing() const { return messages == 0 && bytes == 0 && !before; }
};

// Adds a tenth, so that not every turn causes a cut.
std::uint64_t beyond(std::uint64_t there, std::uint64_t most) {
    return there - most + std::max<std::uint64_t>(1, most / 10);
}

TooMuch too_much(State const& state, Keep const& keep, std::uint64_t bytes, Time now) {
    TooMuch out;
    std::uint64_t const messages = message_count(state);
    if (keep.messages && messages >= *keep.messages)
        out.messages = beyond(messages, *keep.messages);
    if (keep.bytes && bytes > *keep.bytes) out.bytes = beyond(bytes, *keep.bytes);
    if (keep.age) out.before = now - *keep.age;
    return out;
}

// Decides whether `state`, in which no turn is open, still needs the record.
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

// A possible end of a cut: the end of a turn.
struct Place {
    State state;  // after the turn
    Time at{};
    std::vector<wire::RecordPtr> kept;  // records to keep up to here, and those after it in its
                                        // frame
    Seq first = 0, last = 0;            // of that frame
    std::uint64_t bytes = 0;            // of the removed frames
};

// Reads a journal from its beginning and remembers the newest place at which it may be cut.
class Walk {
public:
    // `gone`: messages removed by earlier cuts.
    Walk(State base, std::uint64_t gone, TooMuch much)
        : state_(std::move(base)), gone_(gone), much_(much), from_(state_.head) {}

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

    // Enough is removed, and more would be too much for one cut.
    [[nodiscard]] bool done() const { return done_; }
    [[nodiscard]] std::optional<Place>& place() { return place_; }
    // Returns when the oldest turn that is kept ended; nullopt: none has.
    [[nodiscard]] std::optional<Time> oldest() const {
        return oldest_ || !candidate_ ? oldest_ : std::optional(candidate_->at);
    }
    // Artifacts up to the place; those that the kept records do not name are removed.
    [[nodiscard]] std::vector<wire::RecordPtr> const& artifacts() const { return artifacts_; }

private:
    void step(Event const& event) {
        auto const* const started = std::get_if<TurnStarted>(&event.body);
        // A failed turn may be resumed: it is over only when another one starts.
        if (started && candidate_) {
            if (!started->again) consider(*std::move(candidate_));
            candidate_.reset();
            if (done_) return;
        }
        replayed_ = replay(state_, event);
        if (!replayed_) return;
        ended_ = std::holds_alternative<TurnEnded>(event.body);
    }

    // `place` is the end of a turn that is over.
    void consider(Place place) {
        CHECK(!place_ || place_->state.head < place.state.head);
        bool const old = much_.before && place.at < *much_.before;
        if (enough() && !old) {
            oldest_ = place.at;
            done_ = true;
            return;
        }
        place_ = std::move(place);
        bool const many = place_->state.head - from_ >= events_max;
        done_ = many || (enough() && !much_.before);
    }

    // Returns true if enough is removed by number and by bytes.
    [[nodiscard]] bool enough() const {
        if (!place_) return much_.messages == 0 && much_.bytes == 0;
        std::uint64_t const gone = gone_ + place_->state.queue.size();
        bool const messages =
            much_.messages == 0 || place_->state.messages >= gone + much_.messages;
        return messages && place_->bytes >= much_.bytes;
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
        CHECK(i < records.size());
        ended_ = false;
        std::erase_if(waiting_, [&](wire::RecordPtr const& record) {
            return !std::visit(Needed{state_, record->event.seq}, record->event.body);
        });
        candidate_ = Place{state_,      records[i]->event.at,          waiting_,
                           frame.first, frame.first + frame.count - 1, bytes_};
        for (auto const& record : records.subspan(i + 1)) candidate_->kept.push_back(record);
    }

    State state_;
    std::uint64_t gone_;
    TooMuch much_;
    Seq from_ = 0;
    std::optional<Time> oldest_ = {};
    std::vector<wire::RecordPtr> waiting_, artifacts_;
    std::optional<Place> candidate_, place_;
    std::uint64_t bytes_ = 0;
    bool ended_ = false, done_ = false;
    Result<void> replayed_ = {};  // result of applying the newest event
};

// Keeps the artifacts that kept records name; returns the bytes of the others.
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

// `now`: the base of the newest cut.
Cut make_cut(Walk& walk, HistoryBase const& now, Seq redacted) {
    CHECK(walk.place());
    Place& place = *walk.place();
    Cut out;
    CutHistory& command = out.command;
    command.after = now.through;
    command.redacted = redacted;
    command.first = place.first;
    command.last = place.last;
    command.what.through = place.state.head;
    // Prompts that were queued at the place are kept.
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

// Walks from the journal's beginning until done.
Result<std::optional<Walk>> walk(port::JournalStore& store, State const& now, TooMuch const& much) {
    std::optional<Walk> walk;
    for (Seq next = 1; next <= now.head && !(walk && walk->done());) {
        auto const frames = store.page(now.id, next, walk_bytes);
        if (!frames) return std::unexpected(frames.error());
        if (frames->empty()) break;
        if (!walk) {
            auto base = read_base(now.id, *frames);
            if (!base) return std::unexpected(std::move(base.error()));
            State begin = *base ? **std::move(base) : State();
            begin.id = now.id;
            walk.emplace(std::move(begin), now.base.messages, much);
        }
        for (port::Frame const& frame : *frames) {
            if (walk->done()) break;
            if (auto taken = walk->take(frame); !taken) return std::unexpected(taken.error());
        }
        next = frames->back().first + frames->back().count;
    }
    return walk;
}

}  // namespace

Result<Plan> plan_cut(port::JournalStore& store, SessionId session, Keep const& keep, Time now) {
    auto const read = read_session(store, session);
    if (!read) return std::unexpected(read.error());
    State const& state = read->state;
    bool const there = state.lifecycle != Lifecycle::none && state.lifecycle != Lifecycle::deleted;
    Plan plan;
    if (!there || keep.all()) return plan;
    if (keep.bytes) {
        auto const bytes = store.journal_bytes(session);
        if (!bytes) return std::unexpected(bytes.error());
        plan.bytes = *bytes;
    }
    TooMuch const much = too_much(state, keep, plan.bytes, now);
    if (much.nothing()) return plan;
    auto walked = walk(store, state, much);
    if (!walked) return std::unexpected(std::move(walked.error()));
    if (!*walked) return plan;
    plan.oldest = (*walked)->oldest();
    if ((*walked)->place()) plan.cut = make_cut(**walked, state.base, state.redacted);
    return plan;
}

// One request for a session: as many cuts as it takes.
struct HistoryCutter::Job {
    SessionId session;
    Keep keep = {};
    bool dry_run = false;
    bool by_itself = false;
    Asker asker;
    CutReport report;
    port::Fn<void(Result<CutReport>)> done;
};

HistoryCutter::HistoryCutter(Runner& runner, port::Loop& loop,
                             port::StoreView<port::JournalStore> journal, Keep keep, OnCut on_cut)
    : runner_(runner), loop_(loop), journal_(journal), keep_(keep), on_cut_(std::move(on_cut)) {}

// Forgets `seen_`, which belongs to the former `keep`.
void HistoryCutter::set_keep(Keep keep) {
    keep_ = keep;
    seen_.clear();
}

void HistoryCutter::appended(Lane const& lane, std::vector<wire::RecordPtr> const& records) {
    if (keep_.all()) return;
    auto const seen = seen_.find(lane.id());
    bool ended = false;
    for (wire::RecordPtr const& record : records) {
        if (seen != seen_.end()) seen->second.bytes += record->data.size() + record_bytes;
        ended = ended || std::holds_alternative<TurnEnded>(record->event.body);
    }
    if (!ended || waiting_.size() >= waiting_max || !worth(lane)) return;
    waiting_.insert(lane.id());
    CHECK(waiting_.size() <= waiting_max);
    next();
}

bool HistoryCutter::worth(Lane const& lane) const {
    if (keep_.messages && message_count(lane.state()) >= *keep_.messages) return true;
    if (!keep_.age && !keep_.bytes) return false;
    auto const seen = seen_.find(lane.id());
    if (seen == seen_.end()) return true;
    bool const old = keep_.age && runner_.now() >= seen->second.check_at;
    return old || (keep_.bytes && seen->second.bytes > *keep_.bytes);
}

void HistoryCutter::see(SessionId session, Plan const& plan, Time planned_at) {
    if (!keep_.age && !keep_.bytes) return;
    if (seen_.size() >= seen_max) seen_.clear();
    Seen seen{.bytes = plan.bytes};
    if (keep_.age) {
        seen.check_at = planned_at + std::min(*keep_.age / 10, retries_often_max);
        if (plan.oldest) seen.check_at = std::max(seen.check_at, *plan.oldest + *keep_.age);
    }
    seen_.insert_or_assign(session, seen);
    CHECK(seen_.size() <= seen_max);
}

// Posted to the loop: the lane has just released its answers, and other work has precedence.
void HistoryCutter::next() {
    if (busy_ || waiting_.empty()) return;
    busy_ = true;
    loop_.post(scope_.guard([this] {
        CHECK(busy_ && !waiting_.empty());
        SessionId const session = *waiting_.begin();
        waiting_.erase(waiting_.begin());
        auto done = [this, session](Result<CutReport> const& cut) {
            busy_ = false;
            if (cut && cut->messages > 0 && on_cut_) on_cut_(session, *cut);
            next();
        };
        step(std::make_shared<Job>(Job{session, keep_, false, true, {}, {}, std::move(done)}));
    }));
}

void HistoryCutter::cut(SessionId session, Keep const& keep, bool dry_run, Asker asker,
                        port::Fn<void(Result<CutReport>)> done) {
    CHECK(done);
    asker.idem_key.clear();  // it is for the request, not for each cut
    step(std::make_shared<Job>(
        Job{session, keep, dry_run, false, std::move(asker), {}, std::move(done)}));
}

void HistoryCutter::step(std::shared_ptr<Job> const& job) {
    CHECK(job && job->done);
    Time const now = runner_.now();
    auto make = [session = job->session, keep = job->keep, now](port::JournalStore& store) {
        return plan_cut(store, session, keep, now);
    };
    port::ask(journal_, std::move(make), scope_.guard([this, job, now](Result<Plan> plan) {
        if (!plan) return job->done(std::unexpected(std::move(plan.error())));
        if (!plan->cut && job->by_itself && job->keep == keep_) see(job->session, *plan, now);
        if (!plan->cut || runner_.draining()) return job->done(job->report);
        CutReport const gone{plan->cut->command.what.messages, plan->cut->bytes};
        if (job->dry_run) return job->done(gone);
        auto applied = scope_.guard([this, job, gone](Result<Answer> const& answer) {
            if (!answer && info(answer.error().code).next == Next::retry)
                return job->done(std::unexpected(answer.error()));
            // The history was cut meanwhile or the session is gone: done.
            if (!answer) return job->done(job->report);
            job->report.messages += gone.messages;
            job->report.bytes += gone.bytes;
            step(job);
        });
        runner_.command(job->session, std::move(plan->cut->command), job->asker,
                        std::move(applied));
    }));
}

}  // namespace dormouse::runner
