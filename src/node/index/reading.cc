#include "index/reading.h"

#include "index/documents.h"
#include "runner/read/read_history.h"
#include "runner/read/reading.h"
#include "runner/repair/rebuild.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>
#include <vector>

namespace dormouse::index {

namespace {

constexpr std::size_t feed_bytes = std::size_t{256} << 10;
constexpr std::uint32_t sessions_at_once = 64;

// Damage affects one session only. Everything else means that the store does not answer.
bool is_damage(Error const& error) {
    return error.code == Code::internal || error.code == Code::newer_format;
}

port::Stamp stamp_in(port::FeedRow const& row) {
    return row.deleted || row.frame.count == 0 ? port::Stamp::none
                                               : port::stamp_of(row.session, row.frame);
}

void pass(Position& position, port::FeedRow const& row) {
    position = {std::max(position.next, row.n), row.n, row.session, stamp_in(row),
                position.history};
}

// Collects the documents of one batch, each once.
class Collector {
public:
    explicit Collector(port::Store& store) : store_(store) {}

    Result<void> add(port::FeedRow const& row) {
        if (row.deleted) {
            batch.deleted.push_back({row.session, row.project});
            return {};
        }
        auto const records = wire::unpack(row.session, row.frame.first, row.frame.bytes);
        if (!records) return {};
        std::set<PendingId> calls;
        auto const removes = [](wire::RecordPtr const& record) {
            return std::holds_alternative<session::Redacted>(record->event.body);
        };
        if (std::ranges::any_of(*records, removes)) return add_all(row.session);
        for (wire::RecordPtr const& record : *records)
            for (PendingId const& call : wire::touched(record->event))
                if (calls_.insert(call).second) calls.insert(call);
        bool const is_new = sessions_.insert(row.session).second;
        if (!is_new && calls.empty()) return {};
        auto const session = runner::read_session(store_, row.session);
        if (!session) return unless_damaged(session.error());
        if (session->state.lifecycle == session::Lifecycle::none) return {};
        // Its end may come before this in the feed, where others append, too.
        if (session->state.lifecycle == session::Lifecycle::deleted) {
            batch.deleted.push_back({row.session, row.project});
            return {};
        }
        if (is_new) add(session_document(session->state));
        return add_calls(*session, calls);
    }
    // Takes the place of what the batch has of the session.
    Result<void> add_all(SessionId session) {
        auto const journal = runner::read_journal(store_, session);
        if (!journal) return unless_damaged(journal.error());
        auto const loaded = runner::read_session(store_, session);
        if (!loaded) return unless_damaged(loaded.error());
        auto const lifecycle = loaded->state.lifecycle;
        if (lifecycle == session::Lifecycle::none || lifecycle == session::Lifecycle::deleted)
            return {};
        sessions_.insert(session);
        std::erase_if(batch.sessions, [&](auto const& one) { return one.id == session; });
        std::erase_if(batch.calls, [&](auto const& one) { return one.id.session == session; });
        add(session_document(loaded->state));
        wire::History history(session);
        for (wire::RecordPtr const& record : journal->records) history.add(*record);
        for (auto const& [no, call] : history.calls())
            for (wire::PauseView const& pause : call.pauses) add(call_document(history, pause));
        return {};
    }

    port::IndexBatch batch = {};
    std::size_t bytes = 0;

private:
    static Result<void> unless_damaged(Error const& error) {
        if (is_damage(error) || error.code == Code::not_found) return {};
        return std::unexpected(error);
    }
    void add(port::SessionDocument document) {
        bytes += document.text.size();
        batch.sessions.push_back(std::move(document));
    }
    void add(port::CallDocument document) {
        bytes += document.text.size();
        batch.calls.push_back(std::move(document));
    }
    void add(wire::History const& history, PendingId const& id) {
        wire::PauseView const* const pause = history.pause(id);
        if (pause && history.calls().contains(id.call)) add(call_document(history, *pause));
    }
    // Without a snapshot all records of the session have just been read.
    Result<void> add_calls(runner::LoadedSession const& session, std::set<PendingId> const& calls) {
        session::State const& state = session.state;
        wire::History all(state.id);
        bool const whole = session.snapshot_seq == 0 && state.base.through == 0;
        if (whole && !calls.empty())
            for (wire::RecordPtr const& record : session.tail) all.add(*record);
        for (PendingId const& call : calls) {
            if (whole) {
                add(all, call);
                continue;
            }
            auto const history = runner::read_call(store_, call, state.base.through, state.head);
            if (!history) {
                if (auto left = unless_damaged(history.error()); !left) return left;
                continue;
            }
            add(*history, call);
        }
        return {};
    }

    port::Store& store_;
    std::set<PendingId> calls_;
    std::set<SessionId> sessions_;
};

template <class Number> bool read_number(std::string_view& text, Number& out, int base) {
    auto const end = std::min(text.find('.'), text.size());
    char const* const last = text.data() + end;
    auto const [at, error] = std::from_chars(text.data(), last, out, base);
    if (error != std::errc() || at != last) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
    return true;
}

}  // namespace

std::string Position::text() const {
    char hex[17] = {};
    auto const end =
        std::to_chars(std::begin(hex), std::end(hex), static_cast<std::uint64_t>(stamp), 16).ptr;
    return std::to_string(next) + "." + std::to_string(row) + "." +
           std::string(std::begin(hex), end) + "." + session.text() +
           (history == 0 ? "" : "." + std::to_string(history));
}

std::optional<Position> Position::parse(std::string_view text) {
    Position out;
    std::uint64_t stamp = 0;
    bool const numbers = read_number(text, out.next, 10) && read_number(text, out.row, 10) &&
                         read_number(text, stamp, 16);
    auto const end = text.find('.');
    auto const session = SessionId::parse(text.substr(0, end));
    if (!numbers || !session) return std::nullopt;
    if (end != std::string_view::npos) {
        text.remove_prefix(end + 1);
        if (!read_number(text, out.history, 10) || !text.empty()) return std::nullopt;
    }
    out.stamp = static_cast<port::Stamp>(stamp);
    out.session = *session;
    return out;
}

Result<bool> has(port::Store& store, Position const& position) {
    auto const limit = store.feed_limit();
    if (!limit) return std::unexpected(limit.error());
    if (*limit < position.next) return false;
    if (position.row == 0) return position.next == 0;
    auto const project = store.project_of(position.session);
    if (!project) return std::unexpected(project.error());
    if (!*project) return false;
    auto const page = store.feed(port::Projects::all(), position.row - 1, 1);
    if (!page) return std::unexpected(page.error());
    if (page->gone) return false;
    // The rows of a deleted session and of a removed part of a journal are not listed.
    if (page->rows.empty() || page->rows.front().n != position.row) return true;
    port::FeedRow const& row = page->rows.front();
    if (row.session != position.session) return false;
    auto const stamp = stamp_in(row);
    return stamp == position.stamp || stamp == port::Stamp::none ||
           position.stamp == port::Stamp::none;
}

Result<Position> end_of_feed(port::Store& store) {
    auto const head = store.feed_head();
    if (!head) return std::unexpected(head.error());
    auto const page =
        store.feed(port::Projects::all(), *head - std::min<std::uint64_t>(*head, 1), 1);
    if (!page) return std::unexpected(page.error());
    Position out;
    out.history = page->history;
    for (port::FeedRow const& row : page->rows)
        if (row.n <= *head) pass(out, row);
    out.next = *head;
    return out;
}

Result<Changes> read_changes(port::Store& store, Position const& after, std::size_t bytes_max) {
    auto const page = store.feed(port::Projects::all(), after.next, feed_bytes);
    if (!page) return std::unexpected(page.error());
    Changes out;
    // A position that an earlier release stored has no history: that of the store is taken.
    bool const fell_back = after.history != 0 && page->history != after.history;
    out.gone = page->gone || fell_back;
    if (out.gone) return out;
    Collector collector(store);
    out.position = after;
    out.position.history = page->history;
    bool whole = true;
    for (port::FeedRow const& row : page->rows) {
        whole = collector.bytes < bytes_max;
        if (!whole) break;
        if (auto added = collector.add(row); !added) return std::unexpected(added.error());
        pass(out.position, row);
    }
    if (whole) out.position.next = page->next;
    out.more = !whole || page->more;
    out.batch = std::move(collector.batch);
    out.batch.position = out.position.text();
    return out;
}

Result<Everything> read_everything(port::Store& store, std::uint64_t after, std::size_t bytes_max) {
    auto const rows = store.all_sessions(after, sessions_at_once);
    if (!rows) return std::unexpected(rows.error());
    Everything out;
    out.session = after;
    Collector collector(store);
    for (port::SessionRow const& row : *rows) {
        if (collector.bytes >= bytes_max) break;
        out.session = row.id.number();
        if (row.status == "deleted") continue;
        if (auto added = collector.add_all(row.id); !added) return std::unexpected(added.error());
    }
    out.more = !rows->empty();
    out.batch = std::move(collector.batch);
    return out;
}

Result<void> rebuild(port::Store& store, port::Index& index) {
    auto const end = end_of_feed(store);
    if (!end) return std::unexpected(end.error());
    if (auto opened = index.open(); !opened) return std::unexpected(opened.error());
    if (auto begun = index.begin_rebuild(); !begun) return begun;
    for (Everything read{.more = true}; read.more;) {
        auto next = read_everything(store, read.session);
        if (!next) return std::unexpected(next.error());
        read = *std::move(next);
        if (!read.more) read.batch.position = end->text();
        if (auto applied = index.apply(read.batch); !applied) return applied;
    }
    return index.flush();
}

}  // namespace dormouse::index
