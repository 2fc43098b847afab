// The parameters of append_5(), in the order of its types (tables.cc).
#include "base/check.h"
#include "store/postgres/schema/layout.h"
#include "store/postgres/writer/rows.h"
#include "store/postgres/writer/writer.h"

#include <map>

namespace dormouse::store::postgres {
namespace {

using port::Append;
static_assert(static_cast<int>(port::Drive::none) == 0 &&
              static_cast<int>(port::Drive::keep) == 1 &&
              static_cast<int>(port::Drive::leave) == 2);

using Index = std::int64_t;  // the number of an append in the call, from 1

template <class Member>
std::optional<std::string_view> of_row(Append const& append, Member member) {
    if (!append.row) return std::nullopt;
    return (*append.row).*member;
}

void add_head(RowArray& out, Index i, Append const& append) {
    auto const& row = append.row;
    auto const stamp = port::stamp_of(append.session, append.frame);
    out.row().integer(i).integer(number_of(append.session)).text(append.session.bare());
    out.integer(signed_of(append.after));
    out.integer(append.stamp ? std::optional(stored(*append.stamp)) : std::nullopt);
    out.integer(append.frame.count).integer(stored(stamp));
    out.text(append.erase ? std::string_view("[]") : std::string_view(append.frame.bytes));
    out.text(of_row(append, &port::SessionRow::project));
    out.text(of_row(append, &port::SessionRow::agent));
    out.text(of_row(append, &port::SessionRow::alias));
    out.text(of_row(append, &port::SessionRow::title));
    out.text(of_row(append, &port::SessionRow::status));
    out.integer(row ? std::optional(to_ms(row->created)) : std::nullopt);
    out.integer(row ? std::optional(to_ms(row->updated)) : std::nullopt);
    out.integer(row ? std::optional(static_cast<std::int64_t>(row->turn)) : std::nullopt);
    out.integer(append.claims_alias ? 1 : 0);
    out.bytes(append.create_key ? std::optional(bytes_of(*append.create_key)) : std::nullopt);
    out.integer(append.erase ? 1 : 0).integer(append.wake_changed ? 1 : 0);
    out.integer(maybe_ms(append.wake_at));
    out.integer(append.rows_rebuilt ? std::optional(signed_of(append.rebuilt_after))
                                    : std::nullopt);
    out.integer(signed_of(append.epoch)).integer(static_cast<std::int64_t>(append.drive));
}

// Returns the last row of each key, in the order of the keys.
template <class Row, class Key>
std::vector<Row const*> newest_of_each(std::vector<Row> const& rows, Key key) {
    std::map<decltype(key(rows.front())), Row const*> newest;
    for (auto const& row : rows) newest.insert_or_assign(key(row), &row);
    std::vector<Row const*> out;
    for (auto const& [name, row] : newest) out.push_back(row);
    return out;
}

auto pause_of(auto const& row) { return std::pair(row.call, row.generation); }

void add_pending(RowArray& out, Index i, Append const& append) {
    auto const newest =
        newest_of_each(append.pending, [](port::PendingRow const& row) { return pause_of(row); });
    for (auto const* const row : newest) {
        out.row().integer(i).integer(row->call).integer(row->generation);
        out.integer(static_cast<std::int64_t>(row->status)).text(row->tool);
        out.integer(to_ms(row->created)).integer(maybe_ms(row->timeout));
        out.integer(signed_of(row->paused)).integer(signed_of(row->settled));
        out.text(row->external_ref.empty() ? std::nullopt
                                           : std::optional<std::string_view>(row->external_ref));
    }
}

void add_secrets(RowArray& out, Index i, Append const& append) {
    auto const newest =
        newest_of_each(append.secrets, [](port::SecretRow const& row) { return pause_of(row); });
    for (auto const* const row : newest)
        out.row().integer(i).integer(row->call).integer(row->generation).text(row->secret);
}

void add_outbox(RowArray& out, Index i, Append const& append) {
    for (auto const& row : append.outbox) {
        CHECK(row.key.from == append.session);
        auto const place = key_of(row.key.from.number(), row.key.seq);
        out.row().integer(i).integer(signed_of(row.key.seq)).integer(row.key.n);
        out.integer(static_cast<std::int64_t>(row.state)).integer(to_ms(row.next_at));
        out.text(row.kind).text(row.target);
        out.integer(row.makes ? std::optional(number_of(*row.makes)) : std::nullopt);
        out.integer(to_ms(row.created)).integer(row.attempts).integer(row.last_status);
        out.text(row.last_error).integer(maybe_ms(row.delivered));
        out.integer(checksum(place, row.key.n, row.body)).bytes(row.body);
    }
}

void add_taken(RowArray& out, Index i, Append const& append) {
    for (auto const& key : append.taken)
        out.row()
            .integer(i)
            .integer(number_of(key.from))
            .integer(signed_of(key.seq))
            .integer(key.n);
}

void add_keys(RowArray& out, Index i, Append const& append) {
    for (auto const& row : append.keys)
        out.row().integer(i).bytes(row.key).integer(signed_of(row.seq));
}

void add_delivered(RowArray& out, Index i, Append const& append) {
    for (auto const& row : append.delivered)
        out.row().integer(i).bytes(bytes_of(row.key)).bytes(bytes_of(row.digest));
}

void add_lines(RowArray& out, Index i, Append const& append) {
    for (auto const& line : append.audit) out.row().integer(i).text(line);
}

void add_artifacts(RowArray& out, Index i, Append const& append) {
    for (auto const& row : append.artifacts) {
        auto const place = key_of(append.session.number(), row.seq);
        auto const size = static_cast<std::int64_t>(row.bytes->size());
        out.row().integer(i).integer(signed_of(row.seq));
        out.integer(checksum(place, size, *row.bytes)).bytes(*row.bytes);
    }
}

void add_snapshot(RowArray& out, Index i, Append const& append) {
    if (!append.snapshot) return;
    auto const& row = *append.snapshot;
    auto const place = key_of(append.session.number(), row.seq);
    out.row().integer(i).integer(signed_of(row.seq)).integer(row.format);
    out.integer(checksum(place, row.format, row.state)).bytes(row.state);
}

void add_rules(RowArray& out, Index i, Append const& append) {
    auto const newest =
        newest_of_each(append.rules, [](port::RuleRow const& row) { return row.id; });
    for (auto const* const row : newest) {
        auto const number = row->session ? std::optional(number_of(*row->session)) : std::nullopt;
        out.row().integer(i).text(row->id).integer(number);
        out.integer(checksum(number.value_or(0), 0, row->id + row->body)).bytes(row->body);
    }
}

void add_uses(RowArray& out, Index i, Append const& append) {
    for (auto const& use : append.rule_uses)
        out.row().integer(i).text(use.id).integer(to_ms(use.at));
}

void add_sums(RowArray& out, Index i, Append const& append) {
    for (auto const& row : append.day_sums) {
        out.row().integer(i).integer(row.day).text(row.name);
        out.integer(signed_of(append.epoch)).integer(row.amount);
    }
}

void add_base(RowArray& out, Index i, Append const& append) {
    if (!append.base) return;
    auto const& base = *append.base;
    CHECK(base.frame.first + base.frame.count <= append.frame.first);
    auto const place = key_of(append.session.number(), base.frame.first);
    auto const count = -std::int64_t{base.frame.count};  // negative: the first frame of the journal
    std::vector<std::int64_t> const kept(base.artifacts.begin(), base.artifacts.end());
    out.row().integer(i).integer(signed_of(base.frame.first)).integer(count);
    out.integer(checksum(place, count, base.frame.bytes)).text(base.frame.bytes);
    out.integer(signed_of(base.through)).integer(base.call).bytes(base.keys).integers(kept);
}

enum class Rewritten : std::int64_t { frame, artifact, message, chat };

void add_rewrite(RowArray& out, Index i, Append const& append) {
    if (!append.rewrite) return;
    auto const add = [&](Rewritten what, Seq seq, std::int64_t n) {
        out.row().integer(i).integer(static_cast<std::int64_t>(what)).integer(signed_of(seq));
        out.integer(n);
    };
    std::optional<std::string_view> const none;
    for (port::Frame const& frame : append.rewrite->frames) {
        CHECK(frame.first + frame.count <= append.frame.first);
        auto const stamp = port::stamp_of(append.session, frame);
        add(Rewritten::frame, frame.first, frame.count);
        out.integer(stored(stamp)).text(frame.bytes);
    }
    for (Seq const seq : append.rewrite->artifacts) {
        add(Rewritten::artifact, seq, 0);
        out.integer(0).text(none);
    }
    for (port::OutboxKey const& key : append.rewrite->outbox) {
        add(Rewritten::message, key.seq, key.n);
        out.integer(0).text(none);
    }
    for (CallNo const call : append.rewrite->calls) {
        add(Rewritten::chat, 0, call);
        out.integer(0).text(none);
    }
}

struct Part {
    char const* type;
    void (*add)(RowArray&, Index, Append const&);
};

// In the order of the function's parameters.
constexpr Part parts[] = {
    {"head_1", add_head},           {"pending_1", add_pending}, {"key_1", add_keys},
    {"post_1", add_outbox},         {"taken_1", add_taken},     {"secret_1", add_secrets},
    {"delivered_1", add_delivered}, {"line_1", add_lines},      {"artifact_1", add_artifacts},
    {"snapshot_1", add_snapshot},   {"rule_1", add_rules},      {"use_1", add_uses},
    {"base_1", add_base},           {"sum_1", add_sums},        {"rewrite_1", add_rewrite},
};

}  // namespace

Parameters Writer::encode(std::span<Append const> appends, std::vector<std::size_t> const& round) {
    auto out = fenced_parameters();
    out.integer(signed_of(options_.feed_kept));
    for (auto const& part : parts) {
        auto rows = array(part.type);
        for (std::size_t i = 0; i < round.size(); ++i)
            part.add(rows, static_cast<Index>(i) + 1, appends[round[i]]);
        out.rows(rows);
    }
    return out;
}

}  // namespace dormouse::store::postgres
