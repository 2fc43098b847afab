#include "backup/copy/copier.h"

#include "backup/files.h"
#include "base/text/text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <new>
#include <span>
#include <utility>

namespace dormouse::backup {

namespace {

// Key files that belong to the database. They are written once, when they are created.
constexpr std::array<char const*, 3> key_files{"token", "callback.key", "push.key"};
constexpr std::uint64_t key_file_bytes_max = std::uint64_t{1} << 20;
constexpr Duration retry_min{1'000};
constexpr Duration retry_max{30'000};
constexpr Duration end_limit{5'000};  // for what is left when the server stops
constexpr std::size_t generations_max = 10'000;

// Returns an id that sorts by time, and is never the same for two processes.
std::string generation_id(Time now, port::Entropy& entropy) {
    std::string const ms = std::to_string(std::max<std::int64_t>(0, to_ms(now)));
    std::size_t const digits = 14;
    Random const random = entropy.random();
    return std::string(digits - std::min(digits, ms.size()), '0') + ms + "-" +
           hex(std::span(random).first(4));
}

}  // namespace

Copier::Copier(store::sqlite::Changes& changes, port::Clock const& clock, port::Entropy& entropy,
               Options options)
    : changes_(changes),
      clock_(clock),
      entropy_(entropy),
      options_(std::move(options)),
      owner_(options_.directory, options_.target, entropy) {
    status_.target = options_.target;
}

Copier::~Copier() { end(); }

void Copier::start() {
    if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
}

void Copier::end() {
    {
        std::scoped_lock const lock(mutex_);
        ending_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
}

port::CopyStatus Copier::status() const {
    std::scoped_lock const lock(mutex_);
    return status_;
}

bool Copier::ending() const {
    std::scoped_lock const lock(mutex_);
    return ending_;
}

void Copier::wait(Duration limit) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, limit, [this] { return ending_ || status_.asked > status_.answered; });
}

std::uint64_t Copier::copy_now() {
    std::uint64_t number = 0;
    {
        std::scoped_lock const lock(mutex_);
        number = ++status_.asked;
    }
    wake_.notify_all();
    return number;
}

void Copier::run() {
    Duration retry = retry_min;
    bool well = false;
    for (bool more = true; more;) {
        more = !ending();  // the last round begins after the end of all writes
        auto const begun = std::chrono::steady_clock::now();
        auto const before = status();
        auto const done = copy_or_fail();
        well = done.has_value();
        note(done, before,
             std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now() - begun));
        if (more) wait(done ? options_.interval : retry);
        retry = done ? retry_min : std::min(retry * 2, retry_max);
    }
    // Without it, the next process begins a generation.
    if (well) std::ignore = leave_resumption();
    changes_.close();
    depot_.reset();
}

Result<void> Copier::leave_resumption() const try {
    bool const usable = whole_ && !pending_ && generation_.complete && !record_.overflows();
    if (!usable) return {};
    return save_resumption(options_.directory, {.key_id = options_.sealing.key_id(),
                                                .start = owner_.start(),
                                                .generation = generation_,
                                                .newest = newest_,
                                                .record = record_});
} catch (std::bad_alloc const&) {
    return fail(Code::internal, "not enough memory for the record of the copy");
}

void Copier::note(Result<void> const& done, port::CopyStatus const& before, Duration took) {
    std::scoped_lock const lock(mutex_);
    status_.answered = before.asked;
    if (done) {
        status_.why.clear();
        status_.failing_since.reset();
        if (status_.objects != before.objects) status_.took = took;
        return;
    }
    status_.why = done.error().detail;
    ++status_.failures;
    if (!status_.failing_since) status_.failing_since = clock_.now();
}

// A cut that failed for lack of memory may have lost pages of the set.
Result<void> Copier::copy_or_fail() {
    try {
        return copy_once();
    } catch (std::bad_alloc const&) {
        changes_.change_all();
        record_.clear();
        return fail(Code::overloaded, "There is not enough memory for a piece of the copy.");
    }
}

Result<void> Copier::copy_once() {
    if (auto ready = open(); !ready) return ready;
    if (generation_.id.empty()) {
        if (auto resumed = resume(); !resumed) return resumed;
    }
    bool const old = clock_.now() >= generation_.begun + options_.base_every;
    if (generation_.id.empty() || (old && !pending_ && generation_.complete)) {
        if (auto begun = begin_generation(); !begun) return begun;
    }
    return copy_pieces();
}

Result<void> Copier::open() {
    if (!depot_) {
        auto opened = options_.depot();
        if (!opened) return std::unexpected(std::move(opened.error()));
        if (auto taken = owner_.take(**opened, clock_.now()); !taken) return taken;
        depot_ = *std::move(opened);
    }
    if (tracking_) return {};
    if (auto opened = changes_.open(options_.directory); !opened) return opened;
    tracking_ = true;
    return {};
}

Result<CopyIndex> Copier::read_index() {
    auto const text = depot_->get(copy_index_name, copy_index_max);
    if (text) return read_copy_index(*text, options_.sealing);
    if (text.error().code != Code::not_found) return std::unexpected(text.error());
    return CopyIndex{.key_id = options_.sealing.key_id()};
}

// The file stays until its use is decided: a depot may be gone for a while.
Result<void> Copier::resume() {
    auto left = load_resumption(options_.directory);
    bool const ours = left && left->key_id == options_.sealing.key_id() && !left->start.empty() &&
                      left->start == owner_.previous();
    if (ours) {
        auto index = read_index();
        if (!index) return std::unexpected(std::move(index.error()));
        auto const known =
            std::ranges::find(index->generations, left->generation.id, &Generation::id);
        bool const listed = known != index->generations.end() && known->complete && !known->leaving;
        auto const same = listed ? ends_as(*left) : Result<bool>(false);
        if (!same) return std::unexpected(same.error());
        if (*same) {
            index_ = *std::move(index);
            generation_ = std::move(left->generation);
            newest_ = left->newest;
            record_ = std::move(left->record);
            comparing_ = whole_ = true;
        }
    }
    drop_resumption(options_.directory);
    return {};
}

Result<bool> Copier::ends_as(Resumption const& left) {
    auto const is_missing = [](auto const& object) {
        return !object && object.error().code == Code::not_found;
    };
    auto const name = newest_name(left.generation.id);
    auto const stored = depot_->get(name, copy_index_max);
    if (is_missing(stored)) return false;
    if (!stored) return std::unexpected(stored.error());
    auto const text = options_.sealing.open(*stored, name);
    auto const newest = text ? read_newest(*text, name) : Result<Newest>(fail(Code::internal, ""));
    bool const same =
        newest && newest->sequence == left.newest.sequence && newest->digest == left.newest.digest;
    if (!same) return false;
    auto const last = piece_name(left.generation.id, newest->sequence);
    auto const piece = depot_->get(last, piece_bytes_max);
    if (is_missing(piece)) return false;
    if (!piece) return std::unexpected(piece.error());
    auto const bytes = options_.sealing.open(*piece, last);
    return bytes && sha256(*bytes) == left.newest.digest;
}

Result<void> Copier::begin_generation() {
    auto read = read_index();
    if (!read) return std::unexpected(std::move(read.error()));
    CopyIndex index = *std::move(read);
    if (index.generations.size() >= generations_max)
        return fail(Code::store_full, "the copy has too many generations: choose another place");
    Time const now = clock_.now();
    Generation fresh{.id = generation_id(now, entropy_), .begun = now};
    index.generations.push_back(fresh);
    index_ = std::move(index);
    if (auto written = write_index(); !written) return written;
    generation_ = std::move(fresh);
    newest_ = {};
    record_.clear();
    comparing_ = whole_ = false;
    changes_.change_all();
    std::scoped_lock const lock(mutex_);
    ++status_.bases;
    return {};
}

Result<void> Copier::write_index() {
    if (auto own = owner_.check(*depot_); !own) return own;
    return depot_->put(copy_index_name, copy_index_text(index_, options_.release));
}

// Copies until a piece has everything that has changed: then the copy is one state of the database.
Result<void> Copier::copy_pieces() {
    auto const begun = std::chrono::steady_clock::now();
    for (;;) {
        if (ending() && std::chrono::steady_clock::now() - begun > end_limit)
            return fail(Code::draining, "The server stopped before the copy was complete.");
        bool const earlier = pending_.has_value();  // its cut is of an earlier attempt
        if (!earlier) {
            Time const now = clock_.now();
            auto const made = make_piece();
            if (!made) return std::unexpected(made.error());
            if (!*made) return completed(now);
        }
        bool const complete = pending_->complete;
        Time const time = pending_->time;
        if (auto put = put_piece(); !put) return put;
        if (!complete) continue;
        if (auto done = completed(time); !done || !earlier) return done;
    }
}

Result<std::vector<KeyFile>> Copier::changed_files() {
    std::vector<KeyFile> out;
    for (char const* const name : key_files) {
        auto bytes = read_file(options_.directory / name, key_file_bytes_max);
        if (!bytes && bytes.error().code == Code::not_found) continue;
        if (!bytes) return std::unexpected(std::move(bytes.error()));
        auto const known = record_.files.find(name);
        if (known == record_.files.end() || known->second != sha256(*bytes))
            out.push_back({name, *std::move(bytes)});
    }
    return out;
}

// While pages are compared: the next ones that differ.
Result<store::sqlite::Cut> Copier::next_cut() {
    for (;;) {
        auto cut = changes_.cut(piece_pages);
        if (!cut || !comparing_) return cut;
        record_.drop_known(*cut);
        comparing_ = !cut->complete;
        if (!cut->pages.empty() || cut->complete) return cut;
        if (ending()) return fail(Code::draining, "The server stopped before it had compared all.");
    }
}

Result<bool> Copier::make_piece() {
    Piece piece{.generation = generation_.id,
                .sequence = newest_.sequence + 1,
                .previous = newest_.digest,
                .release = options_.release,
                .time = clock_.now()};
    auto files = changed_files();
    if (!files) return std::unexpected(std::move(files.error()));
    piece.files = *std::move(files);
    auto cut = next_cut();
    if (!cut) return std::unexpected(std::move(cut.error()));
    if (cut->pages.empty() && piece.files.empty() && whole_) return false;
    if (record_.page_bytes() != 0 && record_.page_bytes() != cut->page_bytes) {
        if (auto begun = begin_generation(); !begun) return std::unexpected(begun.error());
        return make_piece();
    }
    piece.cut = *std::move(cut);
    record_.add(piece.cut);
    std::string const bytes = piece_bytes(piece);
    piece.cut.content = std::string();
    std::string const name = piece_name(piece.generation, piece.sequence);
    pending_ = Pending{.name = name,
                       .bytes = options_.sealing.seal(bytes, name, entropy_),
                       .newest = {piece.sequence, sha256(bytes)},
                       .time = piece.time,
                       .feed = piece.cut.feed,
                       .complete = piece.cut.complete};
    for (KeyFile const& file : piece.files) record_.files[file.name] = sha256(file.content);
    return true;
}

// After an error the same bytes are written again, because they may have been written.
Result<void> Copier::put_piece() {
    if (auto own = owner_.check(*depot_); !own) return own;
    if (auto put = depot_->put(pending_->name, pending_->bytes); !put) return put;
    auto const name = newest_name(generation_.id);
    auto const newest = options_.sealing.seal(newest_text(pending_->newest), name, entropy_);
    if (auto put = depot_->put(name, newest); !put) return put;
    newest_ = pending_->newest;
    whole_ = pending_->complete;
    std::scoped_lock const lock(mutex_);
    ++status_.objects;
    status_.bytes += pending_->bytes.size();
    if (pending_->complete) status_.feed = pending_->feed;
    if (pending_->complete && !generation_.complete) generation_.complete = pending_->time;
    pending_.reset();
    return {};
}

// The copy is the state of `time`.
Result<void> Copier::completed(Time time) {
    auto const own = std::ranges::find(index_.generations, generation_.id, &Generation::id);
    bool const first = own != index_.generations.end() && !own->complete;
    if (first) {
        own->complete = generation_.complete;
        if (auto written = write_index(); !written) {
            own->complete.reset();
            return written;
        }
    }
    {
        std::scoped_lock const lock(mutex_);
        status_.copied_at = time;
    }
    return first ? remove_old() : Result<void>();
}

// A generation is needed until the next one has been complete for the time to keep. One that never
// became complete is of a process that ended.
Result<void> Copier::remove_old() {
    Time const until = clock_.now() - options_.keep;
    auto const needed = [&](Generation const& one) {
        if (one.id == generation_.id) return true;
        return one.complete && std::ranges::none_of(index_.generations, [&](Generation const& x) {
                   return x.complete && *x.complete > *one.complete && *x.complete <= until;
               });
    };
    bool any = false;
    for (Generation& one : index_.generations) {
        one.leaving = one.leaving || !needed(one);
        any = any || one.leaving;
    }
    if (!any) return {};
    if (auto written = write_index(); !written) return written;
    auto const all = index_.generations;
    for (Generation const& one : all) {
        if (!one.leaving) continue;
        if (auto removed = remove_generation(one.id); !removed) return removed;
        std::erase_if(index_.generations, [&](Generation const& x) { return x.id == one.id; });
    }
    return write_index();
}

Result<void> Copier::remove_generation(std::string const& id) {
    auto const name = newest_name(id);
    auto const stored = depot_->get(name, copy_index_max);
    if (!stored && stored.error().code != Code::not_found) return std::unexpected(stored.error());
    auto const text = stored ? options_.sealing.open(*stored, name) : std::nullopt;
    auto const newest = text ? read_newest(*text, name) : Result<Newest>(Newest{});
    // One more may have been written by a process that ended.
    std::uint64_t const last = (newest ? newest->sequence : 0) + 1;
    for (std::uint64_t sequence = 1; sequence <= last; ++sequence) {
        if (ending()) return fail(Code::draining, "The server is stopping.");
        if (auto removed = depot_->remove(piece_name(id, sequence)); !removed) return removed;
    }
    return depot_->remove(name);
}

}  // namespace dormouse::backup
