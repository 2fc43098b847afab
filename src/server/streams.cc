#include "server/streams.h"

#include "json/json.h"

namespace dormouse::server {

using namespace dormouse::session;

void Streams::open(std::shared_ptr<runner::Lane> lane, Seq after,
                   std::shared_ptr<EventStream> out) {
    auto const reader = std::make_shared<Reader>();
    reader->lane = std::move(lane);
    reader->out = std::move(out);
    reader->cursor = after;
    readers_.emplace(reader->lane->id(), reader);
    std::weak_ptr<Reader> const weak = reader;
    auto const again = [this, weak] {
        if (auto const self = weak.lock()) pump(self);
    };
    reader->watch = reader->lane->watch(again);
    reader->out->on_drained(again);
    reader->out->on_closed([this, weak] {
        if (auto const self = weak.lock()) close(self);
    });
    pump(reader);
}

void Streams::pump(ReaderPtr const& reader) {
    if (reader->reading || !reader->lane || !reader->lane->loaded()) return;
    auto const lane = reader->lane;  // the reader may leave while it is sent something
    auto const& recent = lane->recent();
    if (recent.empty() || recent.back()->event.seq <= reader->cursor) return;
    // Not before there is room: the page's own look would wake the reader for the next one.
    if (reader->out->queued_bytes() > queued_max) return;
    if (recent.front()->event.seq > reader->cursor + 1) return read_page(reader);
    std::size_t const skip = reader->cursor + 1 - recent.front()->event.seq;
    for (std::size_t i = skip; i < recent.size(); ++i) {
        if (!reader->lane || reader->out->queued_bytes() > queued_max)
            return;  // on_drained comes back here
        send(reader, recent[i]);
    }
}

void Streams::send(ReaderPtr const& reader, wire::RecordPtr const& record) {
    reader->cursor = record->event.seq;
    bool const taken = reader->out->send(frame(*reader->lane, record));
    if (taken && std::holds_alternative<SessionDeleted>(record->event.body)) say_bye(reader);
}

void Streams::say_bye(ReaderPtr const& reader) {
    reader->out->send(
        std::make_shared<std::string const>("event: bye\ndata: {\"reason\":\"deleted\"}\n\n"));
    reader->out->close();
}

// The journal could not be read: because it is gone, or for now; the reader comes back at its
// sequence.
void Streams::end(ReaderPtr const& reader, Error const& error) {
    if (error.code == Code::not_found) return say_bye(reader);
    reader->out->close();
}

void Streams::read_page(ReaderPtr const& reader) {
    reader->reading = true;
    auto const read_on = [this, reader](Result<runner::Runner::Read> read) {
        reader->reading = false;
        if (!reader->lane) return;
        if (!read) return end(reader, read.error());
        for (wire::RecordPtr const& record : read->records) {
            if (!reader->lane || reader->out->queued_bytes() > queued_max) return;
            if (record->event.seq == reader->cursor + 1) send(reader, record);
        }
        pump(reader);
    };
    runner_.read(reader->lane->id(), reader->cursor + 1, read_on);
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
}

std::shared_ptr<std::string const> Streams::frame(runner::Lane const& lane,
                                                  wire::RecordPtr const& record) {
    auto& [kept, bytes] = frames_[record.get()];
    if (!bytes) {
        kept = record;  // so that the address is not used again
        bytes = std::make_shared<std::string const>(
            wire::sse_frame(lane.id(), lane.state().project, *record));
    }
    auto const out = bytes;
    if (frames_.size() > frames_kept) frames_.clear();
    return out;
}

void Streams::delta(SessionId session, AskModel const& ask, port::Delta const& delta) {
    auto const [first, last] = readers_.equal_range(session);
    if (first == last) return;
    constexpr std::string_view kinds[] = {"text", "reasoning", "input"};
    json::Writer out;
    out.begin_object()
        .member("turnID", numbered_id("trn_", session, ask.turn))
        .member("step", ask.step);
    out.member("attempt", ask.attempt).member("kind", kinds[static_cast<std::size_t>(delta.kind)]);
    out.member("text", delta.text);
    if (delta.call > 0) out.member("call", delta.call).member("tool", delta.tool);
    out.end_object();
    auto const bytes =
        std::make_shared<std::string const>("event: delta\ndata: " + out.take() + "\n\n");
    for (auto it = first; it != last; ++it) it->second->out->send(bytes);
}

}  // namespace dormouse::server
