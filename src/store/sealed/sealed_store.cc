#include "store/sealed/sealed_store.h"

#include "store/sealed/places.h"

#include <algorithm>
#include <utility>

namespace dormouse::store {

namespace {

// Decrypts what a read returned.
template <class T, class Open> Result<T> opened(Result<T> read, Open open) {
    if (!read) return read;
    if (Result<void> done = open(*read); !done) return std::unexpected(std::move(done.error()));
    return read;
}

template <class Row, class Open>
Result<std::vector<Row>> each_opened(Result<std::vector<Row>> read, Open open) {
    return opened(std::move(read), [&](std::vector<Row>& rows) -> Result<void> {
        for (Row& row : rows)
            if (Result<void> done = open(row); !done) return done;
        return {};
    });
}

}  // namespace

// The functions that only a store of several processes has.
class SealedStore::Shared final : public port::SharedStore {
public:
    Shared(port::SharedStore& store, Sealer& sealer, Contents& contents)
        : store_(store), sealer_(sealer), contents_(contents) {}

    Result<port::HeartbeatReply> beat(Self const& self) override { return store_.beat(self); }
    Result<bool> remove(port::NodeRow const& seen) override { return store_.remove(seen); }
    Result<std::vector<std::string>> receive(Duration limit) override {
        return store_.receive(limit);
    }
    void end_wait() override { store_.end_wait(); }
    Result<void> publish(std::span<std::string const> texts) override {
        return store_.publish(texts);
    }
    std::string failure() const override { return store_.failure(); }
    Result<Epoch> join() override { return store_.join(); }
    Result<port::NumberBlock> take_numbers() override { return store_.take_numbers(); }
    Result<std::string> agree(std::string const& name, std::string const& proposed) override {
        return store_.agree(name, proposed);
    }
    Result<std::vector<port::SharedValue>> values(std::string const& prefix) override {
        auto found = store_.values(prefix);
        if (found)
            for (port::SharedValue& one : *found)
                one.value = sealer_.open(one.mark, places::value(one.name)).value_or("");
        return found;
    }
    Result<bool> exchange(port::SharedValue const& next) override {
        if (auto ready = sealer_.prepare(); !ready)
            return std::unexpected(std::move(ready.error()));
        return store_.exchange(
            {next.name, sealer_.seal(next.value, places::value(next.name)), next.mark});
    }
    Result<std::vector<port::OutboxKey>> claim(std::span<port::OutboxKey const> keys, Time now,
                                               Time until) override {
        return store_.claim(keys, now, until);
    }
    Result<std::vector<port::OutboxKey>> renew(std::span<port::OutboxClaim const> claims,
                                               Time until) override {
        return store_.renew(claims, until);
    }
    Result<bool> delivered_since(std::string const& target, Time since) override {
        return store_.delivered_since(target, since);
    }
    Result<port::FeedPage> others(std::uint64_t after, std::size_t max_bytes) override {
        auto page = store_.others(after, max_bytes);
        if (page)
            for (port::FeedRow& row : page->rows) contents_.open(row);
        return page;
    }

private:
    port::SharedStore& store_;
    Sealer& sealer_;
    Contents& contents_;
};

SealedStore::SealedStore(std::shared_ptr<port::Store> store, port::SharedStore* shared,
                         std::unique_ptr<Sealer> sealer)
    : store_(std::move(store)),
      sealer_(std::move(sealer)),
      contents_(*sealer_),
      shared_(shared ? std::make_unique<Shared>(*shared, *sealer_, contents_) : nullptr) {}

SealedStore::~SealedStore() = default;

port::SharedStore* SealedStore::shared_store() const { return shared_.get(); }

std::vector<port::AppendResult> SealedStore::commit(std::span<port::Append const> appends) {
    if (auto const ready = sealer_->prepare(); !ready)
        return {appends.size(), port::AppendResult(std::unexpect, ready.error())};
    std::vector<port::Append> out;
    out.reserve(appends.size());
    for (port::Append const& append : appends) out.push_back(contents_.sealed(append));
    return store_->commit(out);
}

Result<void> SealedStore::update_messages(std::span<port::OutboxUpdate const> updates) {
    if (auto ready = sealer_->prepare(); !ready) return ready;
    std::vector<port::OutboxUpdate> out;
    for (port::OutboxUpdate const& update : updates) out.push_back(contents_.sealed(update));
    return store_->update_messages(out);
}

Result<void> SealedStore::keep(port::KeptRow const& row) {
    if (auto ready = sealer_->prepare(); !ready) return ready;
    return store_->keep(contents_.sealed(row));
}

Result<void> SealedStore::change_devices(port::DeviceChange const& change) {
    if (auto ready = sealer_->prepare(); !ready) return ready;
    auto out = change;
    if (out.put) out.put = contents_.sealed(*std::move(out.put));
    return store_->change_devices(out);
}

Result<port::Loaded> SealedStore::load(SessionId session) {
    return opened(store_->load(session),
                  [this](port::Loaded& loaded) { return contents_.open(loaded); });
}

std::vector<Result<port::Loaded>> SealedStore::load_each(std::span<SessionId const> sessions) {
    auto out = port::load_each(*store_, sessions);
    for (Result<port::Loaded>& one : out)
        one =
            opened(std::move(one), [this](port::Loaded& loaded) { return contents_.open(loaded); });
    return out;
}

Result<std::vector<port::Frame>> SealedStore::page(SessionId session, Seq from,
                                                   std::size_t max_bytes) {
    return opened(store_->page(session, from, max_bytes), [&](std::vector<port::Frame>& frames) {
        return contents_.open(session, frames);
    });
}

Result<port::Stamp> SealedStore::stored_stamp(SessionId session, port::Frame const& frame) {
    auto const stored = store_->page(session, frame.first, 1);
    if (!stored) return std::unexpected(stored.error());
    if (stored->empty() || stored->front().first != frame.first) return port::Stamp::none;
    return port::stamp_of(session, stored->front());
}

Result<std::optional<std::string>> SealedStore::artifact(SessionId session, Seq seq) {
    auto stored = store_->artifact(session, seq);
    if (!stored || !*stored) return stored;
    auto bytes = contents_.opened_artifact(session, seq, **stored);
    if (!bytes)
        return Contents::damaged("the artifact of " + session.text() + ", event " +
                                 std::to_string(seq));
    return bytes;
}

Result<std::optional<std::string>> SealedStore::artifact_piece(SessionId session, Seq seq,
                                                               std::uint64_t offset,
                                                               std::size_t count) {
    constexpr std::uint64_t piece = Contents::piece_bytes, sealed = Contents::sealed_piece_bytes;
    auto head = store_->artifact_piece(session, seq, 0, 1 + Sealer::overhead);
    if (!head || !*head) return head;
    if (!contents_.is_sealed_artifact(**head) && sealer_->mixed())
        return store_->artifact_piece(session, seq, offset, count);
    auto const first = offset / piece;
    auto const pieces = (offset % piece + count + piece - 1) / piece;
    auto stored = store_->artifact_piece(session, seq, first * sealed, pieces * sealed);
    if (!stored || !*stored || (*stored)->empty()) return stored;
    auto const bytes = contents_.opened_pieces(session, seq, **stored, first);
    if (!bytes)
        return Contents::damaged("the artifact of " + session.text() + ", event " +
                                 std::to_string(seq));
    auto const begin = std::min<std::size_t>(offset - first * piece, bytes->size());
    return bytes->substr(begin, count);
}

namespace {

Result<std::vector<port::SessionRow>> titled(Contents& contents,
                                             Result<std::vector<port::SessionRow>> rows) {
    if (rows)
        for (port::SessionRow& row : *rows) contents.open(row);
    return rows;
}

}  // namespace

Result<std::vector<port::SessionRow>> SealedStore::sessions(std::string const& project,
                                                            std::uint64_t before,
                                                            std::uint32_t limit) {
    return titled(contents_, store_->sessions(project, before, limit));
}

Result<std::vector<port::SessionRow>> SealedStore::aliases(std::string const& project,
                                                           std::string const& alias,
                                                           std::uint32_t limit) {
    return titled(contents_, store_->aliases(project, alias, limit));
}

Result<std::vector<port::SessionRow>> SealedStore::all_sessions(std::uint64_t after,
                                                                std::uint32_t limit) {
    return titled(contents_, store_->all_sessions(after, limit));
}

Result<std::vector<port::OutboxRow>> SealedStore::due_messages(std::string const& kind, Time until,
                                                               std::uint32_t limit) {
    return each_opened(store_->due_messages(kind, until, limit),
                       [this](port::OutboxRow& row) { return contents_.open(row); });
}

Result<std::optional<port::OutboxRow>> SealedStore::outbox_message(port::OutboxKey const& key) {
    return opened(store_->outbox_message(key), [this](std::optional<port::OutboxRow>& row) {
        return row ? contents_.open(*row) : Result<void>();
    });
}

Result<std::vector<port::OutboxRow>> SealedStore::list_messages(port::OutboxFilter const& filter) {
    return each_opened(store_->list_messages(filter),
                       [this](port::OutboxRow& row) { return contents_.open(row); });
}

Result<std::optional<std::string>> SealedStore::secret(SessionId session, CallNo call,
                                                       Generation generation) {
    return opened(store_->secret(session, call, generation),
                  [&](std::optional<std::string>& secret) {
                      return secret ? contents_.open_secret(session, call, generation, *secret)
                                    : Result<void>();
                  });
}

Result<std::vector<port::SentRow>> SealedStore::sent(SessionId session, CallNo call,
                                                     Generation generation,
                                                     std::string const& target) {
    return each_opened(store_->sent(session, call, generation, target),
                       [&](port::SentRow& row) { return contents_.open(session, row); });
}

Result<std::optional<port::KeptRow>> SealedStore::kept_delivery(Bits128 const& key) {
    auto row = store_->kept_delivery(key);
    if (row && *row)
        if (auto opened = contents_.open(**row); !opened) return std::unexpected(opened.error());
    return row;
}

Result<std::vector<port::KeptRow>> SealedStore::kept(std::optional<port::KeptPlace> const& after,
                                                     std::uint32_t limit, std::size_t max_bytes) {
    return each_opened(store_->kept(after, limit, max_bytes),
                       [this](port::KeptRow& row) { return contents_.open(row); });
}

Result<std::vector<port::DeviceRow>> SealedStore::devices() {
    return each_opened(store_->devices(),
                       [this](port::DeviceRow& row) { return contents_.open(row); });
}

Result<std::vector<port::RuleRow>> SealedStore::rules() {
    return each_opened(store_->rules(), [this](port::RuleRow& row) { return contents_.open(row); });
}

Result<port::FeedPage> SealedStore::feed(port::Projects const& projects, std::uint64_t after,
                                         std::size_t max_bytes) {
    auto page = store_->feed(projects, after, max_bytes);
    if (page)
        for (port::FeedRow& row : page->rows) contents_.open(row);
    return page;
}

}  // namespace dormouse::store
