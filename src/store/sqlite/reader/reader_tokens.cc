// Tokens, devices and the audit.
#include "port/stored_row.h"
#include "store/sqlite/reader/reader.h"
#include "store/sqlite/reader/reader_transaction.h"

namespace dormouse::store::sqlite {

using port::digest_of;
using port::names_of;

Result<std::vector<port::TokenRow>> Reader::tokens() {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    std::vector<port::TokenRow> out;
    auto rows = query(Read::tokens);
    while (true) {
        auto const there = rows.next();
        if (!there) return std::unexpected(there.error());
        if (!*there) return out;
        auto const secret = digest_of(rows.text(6));
        if (!secret) return damaged("token " + std::string(rows.text(0)));
        port::TokenRow row;
        row.id = rows.text(0);
        row.kind = rows.text(1);
        row.name = rows.text(2);
        row.role = rows.text(3);
        row.projects = names_of(rows.text(4));
        row.agents = names_of(rows.text(5));
        row.secret = *secret;
        row.created = from_ms(rows.integer(7));
        if (auto const expires = rows.maybe_integer(8)) row.expires = from_ms(*expires);
        out.push_back(std::move(row));
    }
}

Result<std::vector<port::DataKeyRow>> Reader::data_keys() {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto rows = query(Read::data_keys);
    return read_all<port::DataKeyRow>(rows, [](Query const& row) {
        return Result<port::DataKeyRow>({std::string(row.text(0)), std::string(row.text(1)),
                                         row.integer(2) != 0, std::string(row.text(3))});
    });
}

Result<std::vector<port::DeviceRow>> Reader::devices() {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    std::vector<port::DeviceRow> out;
    auto rows = query(Read::devices);
    while (true) {
        auto const there = rows.next();
        if (!there) return std::unexpected(there.error());
        if (!*there) return out;
        port::DeviceRow row;
        row.id = rows.text(0);
        row.token = rows.text(1);
        row.person = rows.text(2);
        row.role = rows.text(3);
        row.label = rows.text(4);
        row.endpoint = rows.text(5);
        row.p256dh = rows.text(6);
        row.auth = rows.text(7);
        row.created = from_ms(rows.integer(8));
        out.push_back(std::move(row));
    }
}

Result<std::vector<port::AuditRow>> Reader::audit(std::uint64_t after, std::uint32_t limit) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    std::vector<port::AuditRow> out;
    auto rows = query(Read::audit);
    rows.bind(static_cast<std::int64_t>(after)).bind(std::int64_t{limit});
    while (true) {
        auto const there = rows.next();
        if (!there) return std::unexpected(there.error());
        if (!*there) return out;
        auto const n = static_cast<std::uint64_t>(rows.integer(0));
        auto const hash = digest_of(rows.text(2));
        out.push_back({n, std::string(rows.text(1)), hash.value_or(Sha256{})});
    }
}

// The number counts all lines ever written, so that a line lost at the end leaves a gap.
Result<port::AuditRow> Reader::audit_head() {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto const counted = number(Read::audited);
    if (!counted) return std::unexpected(counted.error());
    auto row = query(Read::audit_head);
    auto const there = row.next();
    if (!there) return std::unexpected(there.error());
    if (!*there) return port::AuditRow{.n = *counted};
    auto const n = static_cast<std::uint64_t>(row.integer(0));
    auto const hash = digest_of(row.text(1));
    if (!hash) return damaged("line " + std::to_string(n) + " of the audit");
    return port::AuditRow{std::max(n, *counted), {}, *hash};
}

Result<std::vector<std::uint64_t>> Reader::audit_ends() {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto const counted = number(Read::audited);
    if (!counted) return std::unexpected(counted.error());
    std::vector<std::uint64_t> out;
    if (*counted > 0) out.push_back(*counted);
    return out;
}

Result<bool> Reader::removed_contents_remain() {
    auto const due = number(Read::overwrite_due);
    if (!due) return std::unexpected(due.error());
    return *due > 0;
}

}  // namespace dormouse::store::sqlite
