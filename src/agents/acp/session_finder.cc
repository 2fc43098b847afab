#include "acp/session_finder.h"

#include <algorithm>
#include <utility>

namespace dormouse::acp {

namespace {

constexpr std::size_t pages_max = 50;
constexpr std::size_t entries_max = 10'000;
constexpr std::size_t candidates_max = 8;
constexpr Duration clock_slack{2'000};  // for agents that report whole seconds

template <class T> bool is_gone(Dialect::Answer<T> const& answer) {
    return !answer && answer.error().why == Refusal::Why::gone;
}

}  // namespace

void SessionFinder::stop() {
    ++run_;
    timer_.stop();
}

// A list that is refused, repeats a page or does not end counts as far as it was read in time.
void SessionFinder::read_list(std::string folder, port::Fn<void(Entries)> then) {
    ++run_;
    folder_ = std::move(folder);
    listed_ = std::move(then);
    entries_.clear();
    pages_ = 0;
    timer_.set(limit_, [this] { end_list(); });
    read_page("");
}

void SessionFinder::read_page(std::string const& cursor) {
    dialect_.list(folder_, cursor, [this, run = run_, cursor](Dialect::Answer<Listed> page) {
        if (run != run_ || is_gone(page)) return;
        std::string next;
        if (page) {
            std::ranges::move(page->sessions, std::back_inserter(entries_));
            next = std::move(page->next);
        }
        bool const more = !next.empty() && next != cursor && ++pages_ < pages_max &&
                          entries_.size() < entries_max;
        more ? read_page(next) : end_list();
    });
}

void SessionFinder::end_list() {
    stop();
    auto then = std::exchange(listed_, nullptr);
    then(std::exchange(entries_, {}));
}

void SessionFinder::check(std::string folder, std::string session, port::Fn<void(bool)> then) {
    read_list(std::move(folder), [session = std::move(session),
                                  then = std::move(then)](Entries const& entries) mutable {
        then(std::ranges::find(entries, session, &Listed::Entry::session) != entries.end());
    });
}

// An earlier process may have made a session, prompted it and been killed before the session's id
// was durable. A session is ours if its replay holds our marker, which names our session. If
// several hold it, or there are too many to search, one could be a copy that belongs to somebody
// else, so none is taken.
void SessionFinder::find(Wanted wanted, port::Fn<void(std::string)> then) {
    wanted_ = std::move(wanted);
    found_ = std::move(then);
    candidates_.clear();
    matches_.clear();
    read_list(wanted_.folder, [this](Entries const& entries) { choose(entries); });
}

void SessionFinder::choose(Entries const& entries) {
    Time const since = wanted_.since - clock_slack;
    for (Listed::Entry const& entry : entries) {
        bool const may_be = !entry.session.empty() && entry.folder == wanted_.folder &&
                            entry.updated && *entry.updated >= since;
        bool const is_new = std::ranges::find(candidates_, entry.session) == candidates_.end();
        if (may_be && is_new) candidates_.push_back(entry.session);
    }
    if (candidates_.size() > candidates_max) candidates_.clear();
    // An agent that never answers does not delay the prompt for ever.
    timer_.set(limit_, [this] {
        matches_.clear();
        end_search();
    });
    probe_next();
}

void SessionFinder::probe_next() {
    if (candidates_.empty()) return end_search();
    std::string session = std::move(candidates_.front());
    candidates_.pop_front();
    replay_.record();
    // Our servers are not passed: the session may belong to somebody else.
    dialect_.take_up(session, {wanted_.folder, {}}, true,
                     [this, run = run_, session](Dialect::Answer<Opened> const& opened) {
                         if (run != run_ || is_gone(opened)) return;
                         probed(session, opened.has_value());
                     });
}

void SessionFinder::probed(std::string const& session, bool replayed) {
    if (replayed && replay_.holds(wanted_.marker, wanted_.attempt)) matches_.push_back(session);
    replay_.clear();
    if (!replayed || !wanted_.closes) return probe_next();
    dialect_.close_session(session, [this, run = run_](Dialect::Answer<void> const& closed) {
        if (run == run_ && !is_gone(closed)) probe_next();
    });
}

void SessionFinder::end_search() {
    stop();
    replay_.clear();
    auto then = std::exchange(found_, nullptr);
    then(matches_.size() == 1 ? matches_.front() : std::string());
}

}  // namespace dormouse::acp
