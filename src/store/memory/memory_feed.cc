// The feed, artifacts, and data for webhooks, tokens and the audit.
#include "store/memory/memory_rows.h"

#include <algorithm>

namespace dormouse::store {

Result<std::optional<std::string>> MemoryStore::artifact(SessionId id, Seq seq) {
    std::scoped_lock const lock(disk_->mutex);
    auto const* const session = find(id);
    if (session == nullptr || !session->artifacts.contains(seq)) return std::nullopt;
    return *session->artifacts.at(seq);
}

Result<std::optional<std::string>> MemoryStore::artifact_piece(SessionId id, Seq seq,
                                                               std::uint64_t offset,
                                                               std::size_t count) {
    std::scoped_lock const lock(disk_->mutex);
    auto const* const session = find(id);
    if (session == nullptr || !session->artifacts.contains(seq)) return std::nullopt;
    std::string const& bytes = *session->artifacts.at(seq);
    return offset < bytes.size() ? bytes.substr(offset, count) : std::string();
}

// Returns nullopt for a row of another project or of a deleted or forgotten session.
std::optional<port::FeedRow> MemoryStore::feed_row(MemoryDisk::Fed const& fed,
                                                   port::Projects const& projects) const {
    auto const* const found = find(fed.session);
    if (found == nullptr) return std::nullopt;
    auto const& session = *found;
    if (!projects.has(session.row.project)) return std::nullopt;
    if (fed.deleted)
        return port::FeedRow{fed.n, fed.session,        session.row.project, {fed.first, 1, ""},
                             true,  session.row.updated};
    auto const frame = session.frames.find(fed.first);
    if (frame == session.frames.end()) return std::nullopt;
    return port::FeedRow{fed.n, fed.session, session.row.project, frame->second};
}

Result<port::FeedPage> MemoryStore::feed(port::Projects const& projects, std::uint64_t after,
                                         std::size_t max_bytes) {
    std::scoped_lock const lock(disk_->mutex);
    port::FeedPage page;
    page.history = disk_->falls + 1;  // 0 is a store that does not fall back
    auto const& feed = disk_->feed;
    page.gone = after > 0 && !feed.empty() && after + 1 < feed.front().n;
    page.next = after;
    if (page.gone) return page;
    auto entry = std::ranges::upper_bound(feed, after, {}, &MemoryDisk::Fed::n);
    std::size_t bytes = 0;
    for (; entry != feed.end() && (bytes < max_bytes || page.rows.empty()); ++entry) {
        page.next = entry->n;
        auto row = feed_row(*entry, projects);
        if (!row) continue;
        bytes += row->frame.bytes.size();
        page.rows.push_back(std::move(*row));
    }
    page.more = entry != feed.end();
    return page;
}

Result<std::uint64_t> MemoryStore::feed_head() {
    std::scoped_lock const lock(disk_->mutex);
    return disk_->feed_head;
}

Result<std::vector<port::SentRow>> MemoryStore::sent(SessionId id, CallNo call,
                                                     Generation generation,
                                                     std::string const& target) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::SentRow> out;
    auto const* const session = find(id);
    if (session == nullptr) return out;
    for (port::SentRow const& row : session->sent) {
        bool const meant = row.call == call && row.generation == generation && row.target == target;
        if (meant && out.size() < 100) out.push_back(row);
    }
    std::ranges::sort(out, {}, &port::SentRow::reference);
    return out;
}

Result<std::optional<std::string>> MemoryStore::secret(SessionId id, CallNo call,
                                                       Generation generation) {
    std::scoped_lock const lock(disk_->mutex);
    auto const* const session = find(id);
    if (session == nullptr || !session->secrets.contains({call, generation})) return std::nullopt;
    return session->secrets.at({call, generation});
}

Result<std::optional<Bits128>> MemoryStore::delivered(Bits128 const& key) {
    std::scoped_lock const lock(disk_->mutex);
    if (auto const found = disk_->delivered.find(key); found != disk_->delivered.end())
        return found->second;
    auto const kept = disk_->kept.find(key);
    if (kept == disk_->kept.end()) return std::nullopt;
    return kept->second.delivery.digest;
}

Result<std::optional<port::KeptRow>> MemoryStore::kept_delivery(Bits128 const& key) {
    std::scoped_lock const lock(disk_->mutex);
    auto const kept = disk_->kept.find(key);
    if (kept == disk_->kept.end()) return std::nullopt;
    return kept->second;
}

Result<std::vector<port::KeptRow>> MemoryStore::kept(std::optional<port::KeptPlace> const& after,
                                                     std::uint32_t limit, std::size_t max_bytes) {
    std::scoped_lock const lock(disk_->mutex);
    std::map<std::pair<Time, Bits128>, port::KeptRow const*> in_order;
    for (auto const& [key, row] : disk_->kept) in_order.emplace(std::pair(row.at, key), &row);
    auto at = after ? in_order.upper_bound({after->at, after->key}) : in_order.begin();
    std::vector<port::KeptRow> rows;
    for (std::size_t bytes = 0; at != in_order.end() && rows.size() < limit; ++at) {
        if (bytes >= max_bytes) break;
        bytes += at->second->body.size();
        rows.push_back(*at->second);
    }
    return rows;
}

Result<void> MemoryStore::keep(port::KeptRow const& row) {
    std::scoped_lock const lock(disk_->mutex);
    Bits128 const& key = row.delivery.key;
    if (disk_->delivered.contains(key) || !disk_->kept.emplace(key, row).second)
        return fail(Code::conflict, "this delivery is known");
    return {};
}

Result<void> MemoryStore::drop_kept(std::span<Bits128 const> keys) {
    std::scoped_lock const lock(disk_->mutex);
    for (Bits128 const& key : keys) disk_->kept.erase(key);
    return {};
}

Result<void> MemoryStore::drop_old_kept(Time until) {
    std::scoped_lock const lock(disk_->mutex);
    std::erase_if(disk_->kept, [&](auto const& entry) { return entry.second.at < until; });
    return {};
}

void MemoryStore::add_to_audit(std::string const& line) {
    auto& audit = disk_->audit;
    auto const n = audit.empty() ? 1 : audit.back().n + 1;
    audit.push_back({n, line, port::chained(n == 1 ? Sha256{} : audit.back().hash, n, line)});
}

Result<void> MemoryStore::trim_audit(std::uint64_t through, std::string const& line) {
    std::scoped_lock const lock(disk_->mutex);
    add_to_audit(line);
    std::erase_if(disk_->audit, [&](port::AuditRow const& row) { return row.n <= through; });
    return {};
}

Result<void> MemoryStore::change_tokens(port::TokenChange const& change) {
    std::scoped_lock const lock(disk_->mutex);
    if (!change.drop.empty() && disk_->tokens.erase(change.drop) == 0)
        return fail(Code::conflict, "unknown token " + change.drop);
    if (!change.drop.empty())
        std::erase_if(disk_->devices,
                      [&](auto const& entry) { return entry.second.token == change.drop; });
    if (change.put) disk_->tokens.insert_or_assign(change.put->id, *change.put);
    if (!change.audit.empty()) add_to_audit(change.audit);
    return {};
}

Result<std::vector<port::TokenRow>> MemoryStore::tokens() {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::TokenRow> rows;
    for (auto const& [id, row] : disk_->tokens) rows.push_back(row);
    return rows;
}

Result<void> MemoryStore::change_devices(port::DeviceChange const& change) {
    std::scoped_lock const lock(disk_->mutex);
    if (change.put && !disk_->tokens.contains(change.put->token))
        return fail(Code::conflict, "unknown token " + change.put->token);
    if (!change.drop.empty() && disk_->devices.erase(change.drop) == 0)
        return fail(Code::conflict, "unknown device " + change.drop);
    if (change.put) {
        std::erase_if(disk_->devices, [&](auto const& entry) {
            return entry.second.endpoint == change.put->endpoint;
        });
        disk_->devices.insert_or_assign(change.put->id, *change.put);
    }
    if (!change.audit.empty()) add_to_audit(change.audit);
    return {};
}

Result<std::vector<port::DeviceRow>> MemoryStore::devices() {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::DeviceRow> rows;
    for (auto const& [id, row] : disk_->devices) rows.push_back(row);
    return rows;
}

Result<void> MemoryStore::drop_rule(port::RuleDrop const& drop) {
    std::scoped_lock const lock(disk_->mutex);
    if (disk_->rules.erase(drop.id) == 0) return fail(Code::conflict, "unknown rule " + drop.id);
    if (!drop.audit.empty()) add_to_audit(drop.audit);
    return {};
}

Result<std::vector<port::RuleRow>> MemoryStore::rules() {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::RuleRow> rows;
    for (auto const& [id, row] : disk_->rules) rows.push_back(row);
    return rows;
}

// The rules that an append makes, those that it used, and those of the session that it deletes.
void MemoryStore::write_rules(port::Append const& append) {
    for (port::RuleRow const& row : append.rules) disk_->rules.insert_or_assign(row.id, row);
    for (port::RuleUse const& use : append.rule_uses) {
        auto const found = disk_->rules.find(use.id);
        if (found == disk_->rules.end()) continue;
        ++found->second.uses;
        found->second.used = use.at;
    }
    if (!append.erase) return;
    std::erase_if(disk_->rules,
                  [&](auto const& entry) { return entry.second.session == append.session; });
}

void MemoryStore::write_day_sums(port::Append const& append) {
    for (port::DayRow const& row : append.day_sums)
        disk_->day_sums[{row.day, row.name}] += row.amount;
    if (append.day_sums.empty()) return;
    auto const first = std::pair(append.day_sums.front().day - port::days_kept, std::string());
    disk_->day_sums.erase(disk_->day_sums.begin(), disk_->day_sums.lower_bound(first));
}

Result<std::vector<std::int64_t>> MemoryStore::day_sums(std::int64_t day,
                                                        std::span<std::string const> names) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<std::int64_t> out;
    for (std::string const& name : names) {
        auto const found = disk_->day_sums.find({day, name});
        out.push_back(found == disk_->day_sums.end() ? 0 : found->second);
    }
    return out;
}

Result<std::int64_t> MemoryStore::day_mark(std::int64_t day, std::string const& suffix) {
    std::scoped_lock const lock(disk_->mutex);
    auto const& sums = disk_->day_sums;
    std::int64_t mark = 0;
    for (auto at = sums.lower_bound({day, ""}); at != sums.end() && at->first.first == day; ++at)
        if (at->first.second.ends_with(suffix)) mark += at->second % port::mark_modulus;
    return mark;
}

Result<std::vector<port::AuditRow>> MemoryStore::audit(std::uint64_t after, std::uint32_t limit) {
    std::scoped_lock const lock(disk_->mutex);
    std::vector<port::AuditRow> rows;
    for (port::AuditRow const& row : disk_->audit) {
        if (row.n > after && rows.size() < limit) rows.push_back(row);
    }
    return rows;
}

}  // namespace dormouse::store
