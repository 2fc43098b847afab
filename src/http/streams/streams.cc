#include "http/streams/streams.h"

#include "http/objects/objects.h"
#include "json/json.h"

#include <limits>
#include <utility>

namespace dormouse::http {

using namespace dormouse::session;

namespace {

// Returns the reply that the session is writing, or wrote last.
Writing writing_of(State const& state) {
    constexpr auto all = std::numeric_limits<std::uint32_t>::max();
    if (state.turn)
        return {state.turn->no, state.turn->step, state.turn->attempt,
                state.turn->external.updates};
    return {state.last_turn ? state.last_turn->no : 0, all, all, all};
}

bool is_writing(State const& state) { return state.turn && state.turn->request; }

}  // namespace

Streams::Streams(runner::Runner& runner, port::Loop& loop,
                 std::function<void(std::string_view)> publish)
    : runner_(runner),
      relay_(publish ? std::make_unique<Relay>(Relay::Services{loop, drafts_, std::move(publish)})
                     : nullptr) {}

void Streams::open(std::shared_ptr<runner::Lane> lane, Seq after, std::shared_ptr<EventStream> out,
                   bool objects) {
    auto const reader = std::make_shared<Reader>();
    reader->lane = std::move(lane);
    reader->out = std::move(out);
    reader->cursor = after;
    reader->head = reader->lane->state().head;
    reader->objects = objects;
    SessionId const session = reader->lane->id();
    readers_.emplace(session, reader);
    if (relay_ && readers_.count(session) == 1) relay_->opened(session);
    std::weak_ptr<Reader> const weak = reader;
    auto const again = scope_.guard([this, weak] {
        if (auto const self = weak.lock()) pump(self);
    });
    reader->watch = reader->lane->watch(again);
    reader->out->on_drained(again);
    reader->out->on_closed(scope_.guard([this, weak] {
        if (auto const self = weak.lock()) close(self);
    }));
    pump(reader);
}

void Streams::pump(ReaderPtr const& reader) {
    if (reader->reading || !reader->lane || !reader->lane->loaded()) return;
    auto const lane = reader->lane;  // the reader may leave while it receives
    if (relay_) follow_others(*lane);
    auto const& recent = lane->recent();
    // A lane loaded from a snapshot has no recent records until its next append.
    Seq const newest = recent.empty() ? lane->newest().head : recent.back()->event.seq;
    if (newest <= reader->cursor) return go_live(reader);
    // Waits until the queue has drained; otherwise the page's own read would wake the reader again.
    if (reader->out->queued_bytes() > queued_max) return;
    bool const behind = recent.empty() || recent.front()->event.seq > reader->cursor + 1;
    if (behind || reader->objects) return read_page(reader);
    std::size_t const skip = reader->cursor + 1 - recent.front()->event.seq;
    for (std::size_t i = skip; i < recent.size(); ++i) {
        if (!reader->lane || reader->out->queued_bytes() > queued_max)
            return;  // on_drained calls again
        send(reader, *recent[i], shared_frame(*reader->lane, recent[i]));
    }
    go_live(reader);
}

// The lane may have read that what another process wrote is durable.
void Streams::follow_others(runner::Lane const& lane) {
    relay_->caught_up(lane.id());
    auto const draft = drafts_.writing(lane.id());
    if (!draft) return;
    State const& state = lane.state();
    Writing const here = writing_of(state);
    bool const ended = !is_writing(state) || !here.same_request(*draft);
    if (ended && *draft <= here) drafts_.erase(lane.id());
}

// The reader has all events: sends the draft so far, and from now on each piece of it.
void Streams::go_live(ReaderPtr const& reader) {
    if (reader->live || !reader->lane) return;
    SessionId const session = reader->lane->id();
    if (!drafts_.whole(session)) return;
    reader->live = true;
    State const& state = reader->lane->state();
    auto draft = state.turn ? drafts_.so_far(session, state.turn->no) : std::string();
    if (!draft.empty()) reader->out->send(std::make_shared<std::string const>(std::move(draft)));
}

void Streams::send(ReaderPtr const& reader, wire::Record const& record,
                   std::shared_ptr<std::string const> frame) {
    reader->cursor = record.event.seq;
    bool const taken = reader->out->send(std::move(frame));
    if (taken && std::holds_alternative<SessionDeleted>(record.event.body)) send_bye(reader);
}

void Streams::send_bye(ReaderPtr const& reader) {
    reader->out->send(
        std::make_shared<std::string const>("event: bye\ndata: {\"reason\":\"deleted\"}\n\n"));
    reader->out->close();
}

// The journal cannot be read: the session was deleted, or the read failed; the reader reconnects at
// its sequence number.
void Streams::end(ReaderPtr const& reader, Error const& error) {
    if (error.code == Code::not_found) return send_bye(reader);
    reader->out->close();
}

// Reads one page of what the reader lacks, never all of it; the next page follows when that has
// been sent.
void Streams::read_page(ReaderPtr const& reader) {
    reader->reading = true;
    auto read_on = [this, reader](Result<runner::Runner::Read> read) {
        if (!reader->lane || !read) {
            reader->reading = false;
            if (reader->lane) end(reader, read.error());
            return;
        }
        if (reader->objects) return read_objects(reader, std::move(read->records));
        reader->reading = false;
        send_page(reader, read->records, nullptr);
    };
    runner_.read_events(reader->lane->id(), reader->cursor + 1, scope_.guard(std::move(read_on)));
}

void Streams::read_objects(ReaderPtr const& reader, std::vector<wire::RecordPtr> page) {
    auto use = [this, reader, page = std::move(page)](Result<runner::Runner::Read> read) {
        reader->reading = false;
        if (!reader->lane) return;
        if (!read) return end(reader, read.error());
        wire::History history(reader->lane->id());
        for (wire::RecordPtr const& record : read->records) history.add(*record);
        send_page(reader, page, &history);
    };
    runner_.read(reader->lane->id(), 1, scope_.guard(std::move(use)));
}

// Called within a read, when the lane has its state.
void Streams::send_page(ReaderPtr const& reader, std::vector<wire::RecordPtr> const& records,
                        wire::History const* history) {
    reader->head = reader->lane->state().head;
    if (Seq const base = reader->lane->state().base.through; reader->cursor < base) {
        reader->cursor = base;
        reader->out->send(std::make_shared<std::string const>(
            "event: reset\ndata: {\"after\":" + std::to_string(base) + "}\n\n"));
    }
    for (wire::RecordPtr const& record : records) {
        if (!reader->lane || reader->out->queued_bytes() > queued_max) return;
        if (record->event.seq != reader->cursor + 1) continue;
        State const& state = reader->lane->state();
        std::string const object =
            history ? event_subject(state, *history, record->event, runner_.now()) : "";
        send(reader, *record,
             std::make_shared<std::string const>(
                 wire::sse_frame(state.id, state.project, *record, object)));
    }
    pump(reader);
}

void Streams::close(ReaderPtr const& reader) {
    if (!reader->lane) return;
    auto const lane = std::exchange(reader->lane, nullptr);
    auto const [first, last] = readers_.equal_range(lane->id());
    for (auto it = first; it != last; ++it) {
        if (it->second != reader) continue;
        readers_.erase(it);
        break;
    }
    lane->unwatch(reader->watch);
    if (relay_ && !readers_.contains(lane->id())) relay_->closed(lane->id());
}

std::shared_ptr<std::string const> Streams::shared_frame(runner::Lane const& lane,
                                                         wire::RecordPtr const& record) {
    auto& [kept, bytes] = frames_[record.get()];
    if (!bytes) {
        kept = record;  // kept, so that its address is not reused
        bytes = std::make_shared<std::string const>(
            wire::sse_frame(lane.id(), lane.state().project, *record));
        frame_bytes_ += bytes->size();
    }
    auto const out = bytes;
    if (frames_.size() > frames_kept || frame_bytes_ > frame_bytes_kept) {
        frames_.clear();
        frame_bytes_ = 0;
    }
    return out;
}

void Streams::delta(SessionId session, AskModel const& ask, port::Delta const& delta) {
    if (readers_.contains(session))
        send_live(session, drafts_.add(session, ask, delta));
    else
        drafts_.add_unread(session, ask, delta);
    if (relay_) relay_->added(session);
}

void Streams::on_signal(Epoch from, std::string_view text) {
    if (!relay_) return;
    relay_->on_message(
        from, text, [this](SessionId session, Piece const& piece) { return take(session, piece); });
}

// A piece leaves after the events before it, and not after the durable reply.
Relay::Taken Streams::take(SessionId session, Piece const& piece) {
    using Taken = Relay::Taken;
    auto const reader = readers_.find(session);
    if (reader == readers_.end()) return Taken::done;
    runner::Lane const& lane = *reader->second->lane;
    if (!lane.loaded()) return Taken::early;
    Writing const here = writing_of(lane.state());
    if (!here.same_request(piece.of)) return here < piece.of ? Taken::early : Taken::done;
    if (!is_writing(lane.state())) return Taken::done;
    if (here.updates != piece.of.updates)
        return here.updates < piece.of.updates ? Taken::early : Taken::stale;
    send_live(session, drafts_.mirror(session, piece, lane.state().head));
    return Taken::done;
}

void Streams::send_live(SessionId session, std::string frame) {
    if (frame.empty()) return;
    auto const bytes = std::make_shared<std::string const>(std::move(frame));
    auto const [first, last] = readers_.equal_range(session);
    std::vector<ReaderPtr> live;  // slow readers leave while they receive
    for (auto it = first; it != last; ++it) {
        if (it->second->live) live.push_back(it->second);
    }
    for (ReaderPtr const& reader : live) reader->out->send(bytes);
}

}  // namespace dormouse::http
