// Changes that are no appends: messages, deliveries, tokens, devices, rules and the audit.
#include "store/postgres/schema/layout.h"
#include "store/postgres/statements.h"
#include "store/postgres/writer/rewriting.h"
#include "store/postgres/writer/rows.h"
#include "store/postgres/writer/writer.h"

namespace dormouse::store::postgres {
namespace {

// The audit's lines of a change: one or none.
std::vector<std::string> lines(std::string const& line) {
    return line.empty() ? std::vector<std::string>() : std::vector{line};
}

void add_update(RowArray& out, port::OutboxUpdate const& update) {
    auto const& key = update.key;
    std::optional<std::int64_t> attempts;
    std::optional<std::int64_t> next_at;
    if (update.attempt) attempts = update.attempt->attempts;
    if (update.attempt) next_at = to_ms(update.attempt->next_at);
    out.row().integer(update.gone ? 1 : 0).integer(number_of(key.from));
    out.integer(signed_of(key.seq)).integer(key.n);
    out.integer(static_cast<std::int64_t>(update.state)).integer(to_ms(update.next_at));
    out.integer(update.attempts).integer(update.last_status).text(update.last_error);
    out.integer(maybe_ms(update.delivered)).integer(attempts).integer(next_at);
}

void add_sent(RowArray& out, port::OutboxKey const& key, port::SentRow const& row, bool closed) {
    out.row().integer(closed ? 1 : 0).integer(number_of(key.from)).integer(row.call);
    out.integer(row.generation).text(row.target).text(row.reference).bytes(row.body);
}

Result<void> done(Result<std::int64_t> const& status) {
    if (!status) return std::unexpected(status.error());
    return {};
}

}  // namespace

Result<void> Writer::update_messages(std::span<port::OutboxUpdate const> updates) {
    auto rows = array("outcome_1");
    auto messages = array("sent_1");
    for (auto const& update : updates) {
        add_update(rows, update);
        if (update.gone) continue;
        if (update.sent) add_sent(messages, update.key, *update.sent, false);
        if (update.closed) add_sent(messages, update.key, *update.closed, true);
    }
    Call call{sql(Write::messages), fenced_parameters()};
    call.parameters.rows(rows).rows(messages);
    return done(change(call));
}

Result<void> Writer::drop_delivered(Time until) {
    Call call{sql(Write::drop_delivered), fenced_parameters()};
    call.parameters.integer(to_ms(until));
    return done(change(call));
}

Result<void> Writer::drop_given_up(Time until, std::uint32_t limit) {
    Call call{sql(Write::drop_given_up), fenced_parameters()};
    call.parameters.integer(to_ms(until)).integer(limit);
    return done(change(call));
}

Result<void> Writer::trim_audit(std::uint64_t through, std::string const& line) {
    Call call{sql(Write::trim_audit), fenced_parameters()};
    call.parameters.integer(signed_of(through)).texts(std::vector{line});
    return done(change(call));
}

Result<void> Writer::keep(port::KeptRow const& row) {
    Call call{sql(Write::keep), fenced_parameters()};
    auto& to = call.parameters;
    to.bytes(bytes_of(row.delivery.key)).bytes(bytes_of(row.delivery.digest));
    to.text(row.delivery_id).integer(to_ms(row.at)).text(row.source).text(row.project);
    to.text(row.reference).bytes(row.body);
    auto const status = change(call);
    if (status && *status != 0) return fail(Code::conflict, "this delivery is known");
    return done(status);
}

Result<void> Writer::drop_kept(std::span<Bits128 const> keys) {
    std::vector<std::string> values;
    for (auto const& key : keys) values.emplace_back(bytes_of(key));
    Call call{sql(Write::drop_kept), fenced_parameters()};
    call.parameters.byte_arrays(values);
    return done(change(call));
}

Result<void> Writer::drop_old_kept(Time until) {
    Call call{sql(Write::drop_old_kept)};
    call.parameters.integer(to_ms(until));
    auto const done = repeatable({&call, 1});
    if (!done) return std::unexpected(done.error());
    return {};
}

Result<void> Writer::change_tokens(port::TokenChange const& asked) {
    Call call{sql(Write::change_tokens), fenced_parameters()};
    auto& to = call.parameters;
    port::TokenRow const none;
    auto const& row = asked.put ? *asked.put : none;
    to.text(asked.drop).text(asked.put ? std::optional<std::string_view>(row.id) : std::nullopt);
    to.text(row.kind).text(row.name).text(row.role).text(lines_of(row.projects));
    to.text(lines_of(row.agents)).bytes(bytes_of(row.secret)).integer(to_ms(row.created));
    to.integer(maybe_ms(row.expires)).texts(lines(asked.audit));
    auto const status = change(call);
    if (status && *status != 0) return fail(Code::conflict, "unknown token " + asked.drop);
    return done(status);
}

Result<void> Writer::change_devices(port::DeviceChange const& asked) {
    Call call{sql(Write::change_devices), fenced_parameters()};
    auto& to = call.parameters;
    port::DeviceRow const none;
    auto const& row = asked.put ? *asked.put : none;
    to.text(asked.drop).text(asked.put ? std::optional<std::string_view>(row.id) : std::nullopt);
    to.text(row.token).text(row.person).text(row.role).text(row.label).text(row.endpoint);
    to.text(row.p256dh).text(row.auth).integer(to_ms(row.created)).texts(lines(asked.audit));
    auto const status = change(call);
    if (status && *status == 1) return fail(Code::conflict, "unknown device " + asked.drop);
    if (status && *status == 2) return fail(Code::conflict, "unknown token " + row.token);
    return done(status);
}

Result<void> Writer::drop_rule(port::RuleDrop const& asked) {
    Call call{sql(Write::drop_rule), fenced_parameters()};
    call.parameters.text(asked.id).texts(lines(asked.audit));
    auto const status = change(call);
    if (status && *status != 0) return fail(Code::conflict, "unknown rule " + asked.id);
    return done(status);
}

Result<std::uint64_t> Writer::rewrite(port::Rewriter& rewriter) {
    if (fenced_) return std::unexpected(fence().error);
    auto const connection = reconnect();
    if (!connection) return std::unexpected(connection.error().error);
    auto const fencing = [this] {
        return Call{"SELECT 1 FROM fence_1($1, $2, $3, $4)", fenced_parameters()};
    };
    auto const changed = Rewriting(**connection, rewriter, fencing, options_.call_wait).all();
    if (changed) return *changed;
    return std::unexpected(changed.error().state == "DM001" ? fence().error
                                                            : changed.error().error);
}

Result<bool> Writer::drop_old_versions() {
    auto const connection = reconnect();
    if (!connection) return std::unexpected(connection.error().error);
    return postgres::drop_old_versions(**connection);
}

}  // namespace dormouse::store::postgres
