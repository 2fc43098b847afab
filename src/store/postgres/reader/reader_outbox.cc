// Outbox messages, deliveries, tokens, devices, rules and the audit.
#include "store/postgres/reader/read_rows.h"
#include "store/postgres/reader/reader.h"
#include "store/postgres/schema/layout.h"

#include <algorithm>
#include <limits>

namespace dormouse::store::postgres {

using port::bits_of;
using port::digest_of;

namespace {

// Reads the columns POST_COLUMNS.
Result<port::OutboxRow> outbox_row(Row const& row) {
    return checked(port::read_outbox(row, static_cast<Seq>(row.integer(1))));
}

}  // namespace

Result<std::vector<port::OutboxRow>> Reader::due_messages(std::string const& kind, Time until,
                                                          std::uint32_t limit) {
    Call call{sql(Read::due_messages)};
    call.parameters.text(kind).integer(to_ms(until)).integer(limit);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) { return outbox_row({*rows, row}); });
}

Result<std::vector<port::DueMessage>> Reader::due_by_target(Time until, std::string const& after,
                                                            std::uint32_t each,
                                                            std::uint32_t limit) {
    Call call{sql(Read::due_by_target)};
    call.parameters.text(after).integer(to_ms(until)).integer(each).integer(limit);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) -> Result<port::DueMessage> {
        auto const from = session_id(rows->text(row, 0));
        if (!from) return std::unexpected(from.error());
        return port::DueMessage{{*from, static_cast<Seq>(rows->integer(row, 1)),
                                 static_cast<std::uint32_t>(rows->integer(row, 2))},
                                std::string(rows->text(row, 4)),
                                static_cast<std::uint32_t>(rows->integer(row, 3))};
    });
}

Result<std::optional<port::OutboxRow>> Reader::outbox_message(port::OutboxKey const& key) {
    if (key.seq >= seq_end) return std::nullopt;
    Call call{sql(Read::outbox_message)};
    call.parameters.integer(number_of(key.from)).text(key.from.bare());
    call.parameters.integer(static_cast<std::int64_t>(key.seq)).integer(key.n);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    if (rows->size() == 0) return std::nullopt;
    auto row = outbox_row({*rows, 0});
    if (!row) return std::unexpected(std::move(row.error()));
    return std::move(*row);
}

Result<std::vector<port::OutboxRow>> Reader::list_messages(port::OutboxFilter const& filter) {
    constexpr auto last = std::numeric_limits<std::int64_t>::max();
    auto const& before = filter.before;
    bool const fits = before && before->seq < seq_end;
    Call call{sql(Read::list_messages)};
    auto& to = call.parameters;
    to.integer(fits ? number_of(before->from) : last);
    to.integer(fits ? static_cast<std::int64_t>(before->seq) : last);
    to.integer(fits ? std::int64_t{before->n} : last).text(filter.project);
    to.integer(filter.state ? static_cast<std::int64_t>(*filter.state) : std::int64_t{-1});
    to.integer(filter.limit);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) { return outbox_row({*rows, row}); });
}

Result<std::uint64_t> Reader::count_given_up(Time until, std::uint32_t limit) {
    Call call{sql(Read::count_given_up)};
    call.parameters.integer(to_ms(until)).integer(limit);
    return number(call);
}

Result<bool> Reader::delivered_since(std::string const& target, Time since) {
    Call call{sql(Read::delivered_since)};
    call.parameters.integer(to_ms(since)).text(target);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return rows->size() != 0;
}

Result<std::optional<Bits128>> Reader::delivered(Bits128 const& key) {
    Call call{sql(Read::delivered)};
    call.parameters.bytes(std::string_view(reinterpret_cast<char const*>(key.data()), key.size()));
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    if (rows->is_null(0, 0)) return std::nullopt;
    return bits_of(rows->text(0, 0));
}

Result<std::optional<port::KeptRow>> Reader::kept_delivery(Bits128 const& key) {
    Call call{sql(Read::kept_delivery)};
    call.parameters.bytes(std::string_view(reinterpret_cast<char const*>(key.data()), key.size()));
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    if (rows->size() == 0) return std::nullopt;
    return port::read_kept(Row{*rows, 0});
}

namespace {
constexpr std::size_t bodies_max = std::size_t{1} << 40;  // as far as a number of the server goes
}  // namespace

Result<std::vector<port::KeptRow>> Reader::kept(std::optional<port::KeptPlace> const& after,
                                                std::uint32_t limit, std::size_t max_bytes) {
    Call call{sql(Read::kept)};
    call.parameters.integer(after ? to_ms(after->at) : std::numeric_limits<std::int64_t>::min());
    call.parameters.bytes(after ? port::bytes_of(after->key) : std::string_view());
    call.parameters.integer(limit).integer(
        static_cast<std::int64_t>(std::min(max_bytes, bodies_max)));
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) { return port::read_kept(Row{*rows, row}); });
}

Result<std::vector<port::TokenRow>> Reader::tokens() {
    auto const rows = ask(Call{sql(Read::tokens)});
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) { return checked(port::read_token(Row{*rows, row})); });
}

Result<std::optional<port::TokenRow>> Reader::token_of(Sha256 const& digest) {
    Call call{sql(Read::token_of)};
    call.parameters.bytes(std::string(digest.begin(), digest.end()));
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    if (rows->size() == 0) return std::nullopt;
    auto row = checked(port::read_token(Row{*rows, 0}));
    if (!row) return std::unexpected(row.error());
    return *std::move(row);
}

Result<std::vector<port::DeviceRow>> Reader::devices() {
    auto const rows = ask(Call{sql(Read::devices)});
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) { return port::read_device(Row{*rows, row}); });
}

Result<std::vector<port::DataKeyRow>> Reader::data_keys() {
    auto const rows = ask(Call{sql(Read::data_keys)});
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) { return port::read_data_key(Row{*rows, row}); });
}

Result<std::vector<port::RuleRow>> Reader::rules() {
    auto const rows = ask(Call{sql(Read::rules)});
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) { return checked(port::read_rule(Row{*rows, row})); });
}

Result<std::vector<port::AuditRow>> Reader::audit(std::uint64_t after, std::uint32_t limit) {
    Call call{sql(Read::audit)};
    call.parameters.integer(static_cast<std::int64_t>(after)).integer(limit);
    auto const rows = ask(call);
    if (!rows) return std::unexpected(rows.error());
    return read_all(*rows, [&](int row) -> Result<port::AuditRow> {
        auto const n = static_cast<std::uint64_t>(rows->integer(row, 0));
        auto const hash = digest_of(rows->text(row, 2));
        return port::AuditRow{n, std::string(rows->text(row, 1)), hash.value_or(Sha256{})};
    });
}

}  // namespace dormouse::store::postgres
