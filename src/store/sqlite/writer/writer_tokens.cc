// Tokens, devices and the audit.
#include "port/stored_row.h"
#include "store/sqlite/writer/writer.h"

namespace dormouse::store::sqlite {

using port::bytes_of;
using port::lines_of;

Result<void> Writer::write_audit(std::string const& line) {
    AuditPlace const next{auditing_.n + 1, port::chained(auditing_.hash, auditing_.n + 1, line)};
    auto add = query(Write::add_audit);
    auto done = add.bind(static_cast<std::int64_t>(next.n))
                    .bind(line)
                    .bind_bytes(bytes_of(next.hash))
                    .run();
    if (done) auditing_ = next;
    return done;
}

// Adds the line first: its hash continues the chain of the newest line, which stays.
Result<void> Writer::trim_audit(std::uint64_t through, std::string const& line) {
    return transact([&]() -> Result<void> {
        if (auto added = write_audit(line); !added) return added;
        return query(Write::trim_audit).bind(static_cast<std::int64_t>(through)).run();
    });
}

Result<void> Writer::write_tokens(port::TokenChange const& change) {
    if (!change.drop.empty()) {
        auto drop = query(Write::drop_token);
        auto const there = drop.bind(change.drop).next();
        if (!there) return std::unexpected(there.error());
        if (!*there) return fail(Code::conflict, "unknown token " + change.drop);
        if (auto done = drop.run(); !done) return done;
        auto devices = query(Write::drop_devices_of_token).bind(change.drop).run();
        if (!devices) return devices;
    }
    if (change.put) {
        auto const& row = *change.put;
        std::string const projects = lines_of(row.projects);
        std::string const agents = lines_of(row.agents);
        std::optional<std::int64_t> expires;
        if (row.expires) expires = to_ms(*row.expires);
        auto put = query(Write::put_token);
        put.bind(row.id).bind(row.kind).bind(row.name).bind(row.role).bind(projects).bind(agents);
        put.bind_bytes(bytes_of(row.secret)).bind(to_ms(row.created)).bind(expires);
        if (auto done = put.run(); !done) return done;
    }
    return change.audit.empty() ? Result<void>{} : write_audit(change.audit);
}

Result<void> Writer::change_tokens(port::TokenChange const& change) {
    return transact([&] { return write_tokens(change); });
}

// A token that was revoked meanwhile gets no device.
Result<void> Writer::write_devices(port::DeviceChange const& change) {
    if (!change.drop.empty()) {
        auto drop = query(Write::drop_device);
        auto const there = drop.bind(change.drop).next();
        if (!there) return std::unexpected(there.error());
        if (!*there) return fail(Code::conflict, "there is no device " + change.drop);
        if (auto done = drop.run(); !done) return done;
    }
    if (change.put) {
        auto const& row = *change.put;
        auto const token = query(Write::find_token).bind(row.token).next();
        if (!token) return std::unexpected(token.error());
        if (!*token) return fail(Code::conflict, "there is no token " + row.token);
        auto put = query(Write::put_device);
        put.bind(row.id).bind(row.token).bind(row.person).bind(row.role).bind(row.label);
        put.bind(row.endpoint).bind(row.p256dh).bind(row.auth).bind(to_ms(row.created));
        if (auto done = put.run(); !done) return done;
    }
    return change.audit.empty() ? Result<void>{} : write_audit(change.audit);
}

Result<void> Writer::change_devices(port::DeviceChange const& change) {
    return transact([&] { return write_devices(change); });
}

Result<void> Writer::put_data_keys(std::span<port::DataKeyRow const> rows) {
    return transact([&]() -> Result<void> {
        for (port::DataKeyRow const& row : rows) {
            auto put = query(Write::put_data_key);
            put.bind(row.id).bind(row.master).bind(std::int64_t{row.mixed ? 1 : 0});
            put.bind_bytes(row.wrapped);
            if (auto done = put.run(); !done) return done;
        }
        return {};
    });
}

}  // namespace dormouse::store::sqlite
