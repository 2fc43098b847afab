#include "http/streams/feed_streams.h"

#include "base/text/text.h"
#include "http/streams/feed_objects.h"
#include "json/json.h"
#include "wire/journal/record.h"

#include <algorithm>

namespace dormouse::http {

namespace {

// The frames of a deleted session are deleted with it; the feed still reports the deletion.
std::string deletion(port::FeedRow const& row) {
    json::Writer out;
    out.begin_object().member("seq", row.frame.first).member("type", "session_deleted");
    out.member("v", 1).member("sessionID", row.session.text()).member("projectID", row.project);
    out.key("turnID").null().member("at", to_ms(row.at));
    return out.key("data").begin_object().end_object().end_object().take();
}

// Reports an unreadable append in its place, so that the later ones are still delivered.
std::string damage(port::FeedRow const& row) {
    json::Writer out;
    out.begin_object().member("seq", row.frame.first).member("type", "append_unreadable");
    out.member("v", 1).member("sessionID", row.session.text()).member("projectID", row.project);
    out.key("turnID").null().member("at", to_ms(row.at));
    return out.key("data").begin_object().end_object().end_object().take();
}

std::string type_of(std::string_view event) { return json::View(event)["type"].string_or(""); }

std::string frames_of(std::uint64_t place, std::vector<std::string> const& events) {
    std::string out;
    for (std::size_t i = 0; i < events.size(); ++i) {
        if (i + 1 == events.size()) out += "id: " + feed_cursor(place) + "\n";
        out += "event: " + type_of(events[i]) + "\ndata: " + events[i] + "\n\n";
    }
    return out;
}

}  // namespace

std::string feed_cursor(std::uint64_t n) { return "f" + std::to_string(n); }

std::optional<std::uint64_t> parse_feed_cursor(std::string_view text) {
    if (text == "0") return 0;
    if (!text.starts_with('f')) return std::nullopt;
    return parse_number(text.substr(1));
}

Result<std::vector<std::string>> feed_events(port::FeedRow const& row) {
    if (row.deleted) return std::vector{deletion(row)};
    auto const records = wire::unpack(row.session, row.frame.first, row.frame.bytes);
    if (!records || row.frame.count == 0) {
        if (!records && records.error().code == Code::newer_format)
            return std::unexpected(records.error());
        return std::vector{damage(row)};
    }
    std::vector<std::string> out;
    for (wire::RecordPtr const& record : *records) {
        // Retention has since moved older events into this frame, which were still needed.
        if (record->event.seq < row.frame.first) continue;
        out.push_back(wire::event_object(row.session, row.project, *record));
    }
    return out;
}

Result<port::FeedPage> read_feed(port::Store& store, port::Projects const& projects,
                                 std::uint64_t after, std::size_t max_bytes, Family* family) {
    auto page = store.feed(projects, after, max_bytes);
    if (!page || !family) return page;
    auto const decided = family->keep(store, page->rows);
    if (!decided) return std::unexpected(decided.error());
    if (*decided) {
        page->next = **decided;
        page->more = true;
    }
    return page;
}

void FeedStreams::open(port::Projects projects, std::uint64_t after,
                       std::shared_ptr<EventStream> out, bool objects,
                       std::shared_ptr<Family> family) {
    auto const reader = std::make_shared<Reader>();
    reader->family = std::move(family);
    reader->projects = std::move(projects);
    reader->next = after;
    reader->objects = objects;
    reader->out = std::move(out);
    readers_.push_back(reader);
    std::weak_ptr<Reader> const weak = reader;
    reader->out->on_drained(scope_.guard([this, weak] {
        if (auto const self = weak.lock()) pump(self);
    }));
    reader->out->on_closed(scope_.guard([this, weak] {
        if (auto const self = weak.lock()) std::erase(readers_, self);
    }));
    pump(reader);
}

void FeedStreams::appended() {
    if (readers_.empty() || std::exchange(woken_, true)) return;
    loop_.post(scope_.guard([this] {
        woken_ = false;
        auto const readers = readers_;
        for (ReaderPtr const& reader : readers) {
            reader->behind = true;
            pump(reader);
        }
    }));
}

void FeedStreams::pump(ReaderPtr const& reader) {
    if (reader->reading || !reader->behind || !reader->out->open()) return;
    if (reader->out->queued_bytes() > queued_max) return;  // on_drained calls again
    reader->reading = true;
    reader->behind = false;
    auto question = [projects = reader->projects, next = reader->next,
                     family = reader->family](port::Store& store) {
        return read_feed(store, projects, next, page_bytes, family.get());
    };
    port::ask(journal_, std::move(question),
              scope_.guard([this, reader](auto page) { take(reader, std::move(page)); }));
}

void FeedStreams::take(ReaderPtr const& reader, Result<port::FeedPage> page) {
    if (page && !page->gone && reader->objects) return send_objects(reader, *std::move(page));
    reader->reading = false;
    if (!page) return reader->out->close();  // the client reconnects at its position
    if (page->gone) {
        reader->out->send(
            std::make_shared<std::string const>("event: reset\ndata: {\"after\":\"0\"}\n\n"));
        reader->next = 0;
        reader->behind = true;
        return pump(reader);
    }
    for (port::FeedRow const& row : page->rows) {
        // A reader that is behind gets its own copy, which counts as bytes of its connection.
        auto bytes = page->more ? own_frames(row) : frames(row);
        if (!bytes || !reader->out->send(std::move(bytes))) return reader->out->close();
        reader->next = row.n;
    }
    sent(reader, page->next, page->more);
}

void FeedStreams::sent(ReaderPtr const& reader, std::uint64_t next, bool more) {
    reader->next = next;
    reader->behind = reader->behind || more;
    pump(reader);
}

// Objects show the state when the page is sent, not when the event was appended, so they cannot be
// shared between readers.
void FeedStreams::send_objects(ReaderPtr const& reader, port::FeedPage page) {
    std::vector<std::uint64_t> places;
    for (port::FeedRow const& row : page.rows) places.push_back(row.n);
    auto send = [this, reader, places = std::move(places), next = page.next,
                 more = page.more](Result<RowsOfEvents> rows) {
        reader->reading = false;
        if (!rows) return reader->out->close();
        for (std::size_t i = 0; i < rows->size(); ++i) {
            auto bytes = std::make_shared<std::string const>(frames_of(places[i], (*rows)[i]));
            if (!reader->out->send(std::move(bytes))) return reader->out->close();
            reader->next = places[i];
        }
        sent(reader, next, more);
    };
    feed_objects(loop_, runner_, std::move(page.rows), scope_.guard(std::move(send)));
}

std::shared_ptr<std::string const> FeedStreams::own_frames(port::FeedRow const& row) {
    auto const events = feed_events(row);
    return events ? std::make_shared<std::string const>(frames_of(row.n, *events)) : nullptr;
}

std::shared_ptr<std::string const> FeedStreams::frames(port::FeedRow const& row) {
    if (auto const kept = frames_.find(row.n); kept != frames_.end()) {
        if (kept->second.read == row.frame.bytes) return kept->second.sent;
        forget(kept);
    }
    auto bytes = own_frames(row);
    if (!bytes) return nullptr;
    kept_bytes_ += row.frame.bytes.size() + bytes->size();
    frames_.emplace(row.n, Kept{row.frame.bytes, bytes});
    while (frames_.size() > frames_max || kept_bytes_ > kept_bytes_max) forget(frames_.begin());
    return bytes;
}

void FeedStreams::forget(std::map<std::uint64_t, Kept>::iterator kept) {
    kept_bytes_ -= kept->second.read.size() + kept->second.sent->size();
    frames_.erase(kept);
}

}  // namespace dormouse::http
