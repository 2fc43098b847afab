#include "runner/transfer/import.h"

#include "json/json.h"
#include "runner/transfer/place.h"

#include <utility>

namespace dormouse::runner {

namespace {

bool concerns_session(Code code) {
    return code == Code::bad_value || code == Code::newer_format || code == Code::conflict ||
           code == Code::alias_taken || code == Code::too_large || code == Code::wrong_state;
}

class Import {
public:
    Import(port::Store& store, TransferSource const& next, ImportOptions const& options,
           ImportGuard const& guard, std::function<void(ImportedSession const&)> const& each)
        : store_(store), next_(next), options_(options), guard_(guard), each_(each) {}

    [[nodiscard]] Result<ImportReport> run() {
        auto first = next_();
        if (!first) return std::unexpected(std::move(first.error()));
        if (!*first || (*first)->too_long)
            return fail(Code::bad_value, "this is no export: its first line does not say so");
        auto head = read_head((*first)->text);
        if (!head) return std::unexpected(std::move(head.error()));
        if (auto named = name_all(*head); !named) return std::unexpected(std::move(named.error()));
        for (number_ = 2;; ++number_) {
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
    // With new ids, sessions that were imported before keep those which they got then.
    [[nodiscard]] Result<void> name_all(TransferHead const& head) {
        if (!options_.new_ids) return {};
        std::uint64_t number = store_.next_session_number();
        for (SessionId const& id : head.sessions) {
            auto const known = store_.find_created(import_key(id));
            if (!known) return std::unexpected(known.error());
            ids_[id] = *known ? **known : SessionId::make(number++, id.bytes);
        }
        for (SessionId const& id : head.reserved)
            if (!ids_.contains(id)) ids_[id] = SessionId::make(number++, id.bytes);
        return {};
    }

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
        if (options_.new_ids && found == ids_.end()) spoil("the first line does not name it");
    }

    void add(std::string const& line) {
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
        auto placed = place(store_, std::exchange(session_, {}), was_, options_, guard_);
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
        open_ = false;
        skipping_ = true;
        ++report_.refused;
        each_({was_, session_.id, why});
    }

    port::Store& store_;
    TransferSource const& next_;
    ImportOptions const& options_;
    ImportGuard const& guard_;
    std::function<void(ImportedSession const&)> const& each_;
    NewIds ids_;
    ImportReport report_;
    std::uint64_t number_ = 1;  // of the line
    bool ended_ = false;
    // Of the session that is being read:
    bool open_ = false;
    bool skipping_ = false;  // lines outside of sessions were reported
    SessionId was_;
    Portable session_;
    LineDigest digest_;
    std::uint64_t lines_ = 0;
    std::size_t bytes_ = 0;
    std::string spoilt_;  // why it cannot be imported; empty: so far it can
};

}  // namespace

Result<ImportReport> import_sessions(port::Store& store, TransferSource const& next,
                                     ImportOptions const& options, ImportGuard const& guard,
                                     std::function<void(ImportedSession const&)> const& each) {
    return Import(store, next, options, guard, each).run();
}

}  // namespace dormouse::runner
