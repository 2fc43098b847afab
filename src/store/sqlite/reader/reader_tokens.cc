// Tokens, devices and the audit.
#include "port/stored_row.h"
#include "store/sqlite/reader/reader.h"
#include "store/sqlite/reader/reader_transaction.h"

namespace dormouse::store::sqlite {

using port::digest_of;

Result<std::vector<port::TokenRow>> Reader::tokens() {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto rows = query(Read::tokens);
    return read_all<port::TokenRow>(
        rows, [this](Query const& row) { return checked(port::read_token(row)); });
}

Result<std::vector<port::DataKeyRow>> Reader::data_keys() {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto rows = query(Read::data_keys);
    return read_all<port::DataKeyRow>(rows,
                                      [](Query const& row) { return port::read_data_key(row); });
}

Result<std::vector<port::DeviceRow>> Reader::devices() {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto rows = query(Read::devices);
    return read_all<port::DeviceRow>(rows, [](Query const& row) { return port::read_device(row); });
}

Result<std::vector<port::AuditRow>> Reader::audit(std::uint64_t after, std::uint32_t limit) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto rows = query(Read::audit);
    rows.bind(static_cast<std::int64_t>(after)).bind(std::int64_t{limit});
    return read_all<port::AuditRow>(rows, [](Query const& row) {
        auto const n = static_cast<std::uint64_t>(row.integer(0));
        return port::AuditRow{n, std::string(row.text(1)),
                              digest_of(row.text(2)).value_or(Sha256{})};
    });
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
