#include "runner/transfer/import.h"

#include "base/check.h"
#include "json/json.h"
#include "runner/transfer/live.h"
#include "runner/transfer/place.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace dormouse::runner {

namespace {

class Import {
public:
    using Put = std::function<Result<Placed>(Placing)>;
    // Gives ids to the sessions that the first line names. Empty: they keep theirs.
    using Name = std::function<Result<NewIds>(TransferHead const&)>;
    Import(TransferSource const& next, Name name, Put put,
           std::function<void(ImportedSession const&)> const& each)
        : next_(next), name_(std::move(name)), put_(std::move(put)), each_(each) {}

    [[nodiscard]] Result<ImportReport> run(std::uint64_t second = 2) {
        CHECK(!open_ && !ended_);  // once
        auto first = next_();
        if (!first) return std::unexpected(std::move(first.error()));
        if (!*first || (*first)->too_long)
            return fail(Code::bad_value, "not an export: its first line is no export header");
        auto head = read_head((*first)->text);
        if (!head) return std::unexpected(std::move(head.error()));
        if (name_) {
            auto named = name_(*head);
            if (!named) return std::unexpected(std::move(named.error()));
            ids_ = *std::move(named);
        }
        for (number_ = second;; ++number_) {
            auto line = next_();
            if (!line) return std::unexpected(std::move(line.error()));
            if (!*line) break;
            auto done = take(**line);
            if (!done) return std::unexpected(std::move(done.error()));
            if (ended_) return report_;
        }
        if (open_) refuse("the file ends before the session does");
        report_.cut_off = true;
        return report_;
    }

private:
    [[nodiscard]] Result<void> take(TransferLine const& line) {
        if (line.too_long) {
            spoil("it is longer than " + std::to_string(transfer_line_bytes_max) + " bytes");
            return {};
        }
        auto const checked = json::check(line.text);
        json::View const view = checked ? json::View(*checked) : json::View();
        std::string const type = view["type"].string_or("");
        if (type == "session") {
            if (open_) refuse("its last line is missing");
            begin(view["id"].string_or(""), line.text);
        } else if (type == "session_end" && open_) {
            return finish(view);
        } else if (type == "end" && !open_) {
            ended_ = true;
        } else if (open_) {
            add(line.text);
        } else if (!skipping_) {
            each_({{}, {}, "line " + std::to_string(number_) + " belongs to no session"});
            ++report_.refused;
            skipping_ = true;
        }
        return {};
    }

    void begin(std::string const& id, std::string const& line) {
        CHECK(!open_);
        auto const was = SessionId::parse(id);
        open_ = true;
        skipping_ = false;
        spoilt_.clear();
        digest_ = {};
        digest_.add(line);
        lines_ = 1;
        bytes_ = 0;
        was_ = was.value_or(SessionId());
        session_ = {};
        auto const found = ids_.find(was_);
        session_.id = found == ids_.end() ? was_ : found->second;
        if (!was || was->number() == 0) spoil("it names no session");
        if (name_ && found == ids_.end()) spoil("the first line does not name it");
    }

    void add(std::string const& line) {
        CHECK(open_);
        ++lines_;
        digest_.add(line);
        bytes_ += line.size();
        if (bytes_ > transfer_session_bytes_max)
            return spoil("the session is larger than " +
                         std::to_string(transfer_session_bytes_max) + " bytes");
        if (!spoilt_.empty()) return;
        if (auto done = read_row(line, ids_, session_); !done) spoil(done.error().detail);
    }

    void spoil(std::string const& why) {
        if (!spoilt_.empty()) return;
        spoilt_ = "line " + std::to_string(number_) + ": " + why;
        session_ = {.id = session_.id};
    }

    [[nodiscard]] Result<void> finish(json::View end) {
        CHECK(open_);
        if (spoilt_.empty() && end["lines"].integer_or(0) != static_cast<std::int64_t>(lines_))
            spoil("the session has another number of lines");
        if (spoilt_.empty() && end["digest"].string_or("") != digest_.text())
            spoil("the digest of the session's lines differs: they were changed");
        if (!spoilt_.empty()) {
            refuse(spoilt_);
            return {};
        }
        open_ = false;
        SessionId const now = session_.id;
        auto placing = Placing::prepare(std::exchange(session_, {}), was_);
        auto placed = placing ? put_(*std::move(placing))
                              : Result<Placed>(std::unexpected(std::move(placing.error())));
        if (!placed && !concerns_session(placed.error().code))
            return std::unexpected(std::move(placed.error()));
        ImportedSession out{was_, now};
        if (!placed) {
            out.error = placed.error().detail;
            ++report_.refused;
        } else {
            out.before = placed->before;
            out.holds = placed->holds;
            ++(placed->before ? report_.before : report_.imported);
            if (placed->holds && !placed->before) ++report_.holding;
        }
        each_(out);
        return {};
    }

    void refuse(std::string const& why) {
        CHECK(open_);
        open_ = false;
        skipping_ = true;
        ++report_.refused;
        each_({was_, session_.id, why});
    }

    TransferSource const& next_;
    Name name_;
    Put put_;
    std::function<void(ImportedSession const&)> const& each_;
    NewIds ids_;
    ImportReport report_;
    std::uint64_t number_ = 1;  // of the line
    bool ended_ = false;
    // State of the session that is being read:
    bool open_ = false;
    bool skipping_ = false;  // lines outside of sessions were reported
    SessionId was_;
    Portable session_;
    LineDigest digest_;
    std::uint64_t lines_ = 0;
    std::size_t bytes_ = 0;
    std::string spoilt_;  // why it cannot be imported; empty: so far it can
};

// Sessions that were imported before keep the ids which they got then.
Result<NewIds> new_ids(port::Store& store, TransferHead const& head) {
    NewIds out;
    std::uint64_t number = store.next_session_number();
    for (SessionId const& id : head.sessions) {
        auto const known = store.find_created(import_key(id));
        if (!known) return std::unexpected(known.error());
        out[id] = *known ? **known : SessionId::make(number++, id.bytes);
    }
    for (SessionId const& id : head.reserved)
        if (!out.contains(id)) out[id] = SessionId::make(number++, id.bytes);
    return out;
}

}  // namespace

Result<ImportReport> import_sessions(port::Store& store, TransferSource const& next,
                                     ImportOptions const& options, ImportGuard const& guard,
                                     std::function<void(ImportedSession const&)> const& each) {
    Import::Name name;
    if (options.new_ids) name = [&store](TransferHead const& head) { return new_ids(store, head); };
    auto put = [&](Placing placing) { return place(store, std::move(placing), options, guard); };
    return Import(next, std::move(name), put, each).run();
}

Result<std::vector<Arrival>> read_sessions(TransferSource const& next, std::uint64_t second) {
    std::vector<Arrival> out;
    auto put = [&out](Placing placing) -> Result<Placed> {
        out.push_back(
            {{placing.was(), placing.id()}, std::make_shared<Placing>(std::move(placing))});
        return Placed{};
    };
    auto each = [&out](ImportedSession const& session) {
        if (!session.error.empty()) out.push_back({session, nullptr});
    };
    auto const report = Import(next, {}, put, each).run(second);
    if (!report) return std::unexpected(report.error());
    if (report->cut_off) return fail(Code::bad_value, "its last line is missing");
    return out;
}

}  // namespace dormouse::runner
