// Data for webhooks: their secrets, and the deliveries that were accepted.
#include "store/sqlite/reader/reader.h"
#include "store/sqlite/reader/reader_transaction.h"
#include "store/sqlite/schema/layout.h"

#include <limits>

namespace dormouse::store::sqlite {
using port::bits_of;

Result<std::optional<std::string>> Reader::secret(SessionId session, CallNo call,
                                                  Generation generation) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto const known = find(session);
    if (!known) return std::unexpected(known.error());
    if (!*known) return std::nullopt;
    auto one = query(Read::secret);
    one.bind(static_cast<std::int64_t>(session.number()));
    one.bind(std::int64_t{call}).bind(std::int64_t{generation});
    auto const row = one.next();
    if (!row) return std::unexpected(row.error());
    if (!*row) return std::nullopt;
    return std::string(one.text(0));
}

Result<std::vector<port::SentRow>> Reader::sent(SessionId session, CallNo call,
                                                Generation generation, std::string const& target) {
    auto rows = query(Read::sent);
    rows.bind(static_cast<std::int64_t>(session.number())).bind(std::int64_t{call});
    rows.bind(std::int64_t{generation}).bind(target);
    return read_all<port::SentRow>(rows, [&](Query const& row) {
        return Result<port::SentRow>({.call = call,
                                      .generation = generation,
                                      .target = target,
                                      .reference = std::string(row.text(0)),
                                      .body = std::string(row.text(1))});
    });
}

Result<std::optional<Bits128>> Reader::delivered(Bits128 const& key) {
    std::string_view const bytes(reinterpret_cast<char const*>(key.data()), key.size());
    for (auto const name : {Read::delivered, Read::kept_one}) {
        auto one = query(name);
        one.bind_bytes(bytes);
        auto const row = one.next();
        if (!row) return std::unexpected(row.error());
        if (*row) return bits_of(one.text(0));
    }
    return std::nullopt;
}

Result<std::optional<port::KeptRow>> Reader::kept_delivery(Bits128 const& key) {
    auto one = query(Read::kept_delivery);
    one.bind_bytes({reinterpret_cast<char const*>(key.data()), key.size()});
    auto const row = one.next();
    if (!row) return std::unexpected(row.error());
    if (!*row) return std::nullopt;
    return port::read_kept(one);
}

Result<std::vector<port::KeptRow>> Reader::kept(std::optional<port::KeptPlace> const& after,
                                                std::uint32_t limit, std::size_t max_bytes) {
    auto rows = query(Read::kept);
    rows.bind(after ? to_ms(after->at) : std::numeric_limits<std::int64_t>::min());
    rows.bind_bytes(after ? port::bytes_of(after->key) : std::string_view())
        .bind(std::int64_t{limit});
    std::vector<port::KeptRow> found;
    for (std::size_t bytes = 0; bytes < max_bytes;) {
        auto const row = rows.next();
        if (!row) return std::unexpected(row.error());
        if (!*row) break;
        found.push_back(port::read_kept(rows));
        bytes += found.back().body.size();
    }
    return found;
}

Result<std::vector<port::OutboxRow>> Reader::list_messages(port::OutboxFilter const& filter) {
    constexpr auto last = std::numeric_limits<std::int64_t>::max();
    auto const& before = filter.before;
    bool const fits = before && before->from.number() < number_end && before->seq < seq_end;
    auto rows = query(Read::list_messages);
    rows.bind(fits ? key_of(before->from.number(), before->seq) : last);
    rows.bind(fits ? std::int64_t{before->n} : last).bind(filter.project);
    rows.bind(filter.state ? static_cast<std::int64_t>(*filter.state) : std::int64_t{-1});
    rows.bind(std::int64_t{filter.limit});
    return read_all<port::OutboxRow>(rows, [this](Query const& row) { return outbox_row(row); });
}

Result<std::optional<std::string>> Reader::project_of(SessionId session) {
    Transaction const transaction(*this);
    if (!transaction.begun()) return std::unexpected(transaction.begun().error());
    auto const known = find(session);
    if (!known) return std::unexpected(known.error());
    if (!*known) return std::nullopt;
    return (*known)->project;
}

}  // namespace dormouse::store::sqlite
