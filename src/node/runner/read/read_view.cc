#include "runner/read/read_view.h"

#include "base/check.h"
#include "runner/lane/memory_short.h"
#include "runner/read/reading.h"

#include <algorithm>
#include <iterator>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

using Records = std::vector<wire::RecordPtr>;

constexpr Seq first_read_back = 4'096;  // events; usually a thousand messages

Result<wire::RecordPtr> read_one(port::JournalStore& store, SessionId session, Seq seq) {
    auto records = read_records(store, session, seq, seq);
    if (!records) return std::unexpected(std::move(records.error()));
    if (records->empty())
        return fail(Code::internal,
                    "Event " + std::to_string(seq) + " of " + session.text() + " is missing.");
    return records->front();
}

// Prepends as many older records as there are. REQUIRES: there are older ones.
Result<void> read_back(port::JournalStore& store, wire::JournalEnd const& end, Records& records) {
    CHECK(records.empty() || records.front()->event.seq > end.base + 1);
    Seq const to = records.empty() ? end.head : records.front()->event.seq - 1;
    Seq const count = std::max<Seq>(first_read_back, records.size());
    Seq const from = to > end.base + count ? to - count + 1 : end.base + 1;
    auto older = read_records(store, end.session, from, to);
    if (!older) return std::unexpected(std::move(older.error()));
    older->insert(older->end(), std::make_move_iterator(records.begin()),
                  std::make_move_iterator(records.end()));
    records = *std::move(older);
    return {};
}

// Returns true if the records have no gaps and reach the head.
bool is_whole(wire::JournalEnd const& end, Records const& records) {
    return !records.empty() && records.back()->event.seq == end.head &&
           end.head - records.front()->event.seq + 1 == records.size();
}

// Reads the whole journal, which is short or has no place at which the view may begin.
Result<ModelView> view_of_all(port::JournalStore& store, wire::JournalEnd const& end, Seq view_seq,
                              Records records) {
    Seq const to = records.empty() ? end.head : records.front()->event.seq - 1;
    auto older = read_records(store, end.session, 1, to);
    if (!older) return std::unexpected(std::move(older.error()));
    older->insert(older->end(), records.begin(), records.end());
    return wire::model_view(wire::history_of(end.session, *older), view_seq);
}

Result<ModelView> view_of(port::JournalStore& store, wire::JournalEnd const& end, Seq view_seq) {
    auto const input = [&](Seq seq) { return read_one(store, end.session, seq); };
    Records records;
    while (records.empty() || records.front()->event.seq > end.base + 1) {
        std::size_t const before = records.size();
        auto const read = read_back(store, end, records);
        if (!read) return std::unexpected(read.error());
        // Retention may have cut the journal since: nothing older is left.
        if (records.size() == before || !is_whole(end, records)) break;
        auto view = wire::view_of_newest(end, records, view_seq, input);
        if (!view) return std::unexpected(std::move(view.error()));
        if (*view) return **std::move(view);
    }
    return view_of_all(store, end, view_seq, std::move(records));
}

}  // namespace

Result<ModelView> read_view(port::JournalStore& store, wire::JournalEnd const& end, Seq view_seq) {
    return unless_memory_is_short([&] { return view_of(store, end, view_seq); });
}

}  // namespace dormouse::runner
