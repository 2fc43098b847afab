// What a driver asks the list of its program's sessions: whether one that was said to be unknown is
// there after all, and which one is ours when nobody wrote down its id.
#include "acp/driver.h"
#include "acp/prompt.h"

#include <algorithm>
#include <utility>

namespace dormouse::acp {

using namespace dormouse::session;

namespace {

constexpr std::size_t pages_max = 50;
constexpr std::size_t entries_max = 10'000;
constexpr std::size_t seen_max = 8;     // sessions whose past is looked at
constexpr Duration clock_slack{2'000};  // of programs that tell whole seconds

}  // namespace

// A list that is refused, repeats itself or does not end is as good as what came of it in time.
void Driver::read_list(port::Fn<void(Entries)> then) {
    auto const listing = std::make_shared<Listing>();
    listing->then = std::move(then);
    loop_.after(settings_.list_limit, [weak = weak_from_this(), listing] {
        auto const self = weak.lock();
        if (!self || self->phase_ == Phase::gone || std::exchange(listing->over, true)) return;
        listing->then(std::move(listing->entries));
    });
    read_page(listing, "");
}

void Driver::read_page(std::shared_ptr<Listing> const& listing, std::string const& cursor) {
    dialect_->list(cwd_, cursor, [this, listing, cursor](Dialect::Answer<Listed> page) {
        bool const gone = !page && page.error().why == Refusal::Why::gone;
        if (gone || listing->over) return;
        std::string next;
        if (page) {
            std::ranges::move(page->sessions, std::back_inserter(listing->entries));
            next = std::move(page->next);
        }
        bool const more = !next.empty() && next != cursor && ++listing->pages < pages_max &&
                          listing->entries.size() < entries_max;
        if (more) return read_page(listing, next);
        listing->over = true;
        listing->then(std::move(listing->entries));
    });
}

// It is tried once more before the session is given up and a new one told its past: by the other
// way, if there is one.
void Driver::look_for(std::string const& known, bool with_past) {
    read_list([this, known, with_past](Entries const& entries) {
        bool const listed = std::ranges::any_of(
            entries, [&](Listed::Entry const& entry) { return entry.session == known; });
        if (!listed) return open_new(true);
        bool const other = with_past ? can_.resume : can_.load;
        take_up(known, other ? !with_past : with_past, true);
    });
}

// The process before this one may have had a session and prompted it, and been killed before that
// was durable. It is ours if its past holds our marker, which names this session; those of other
// folders, and those that nobody has touched since the turn began, are not looked at. When several
// hold it, or there are too many to look at, it could be another's copy, and none is taken.
void Driver::find_mine() {
    auto const search = std::make_shared<Search>();
    AskModel const& ask = prompt_->request.ask;
    search->marker = marker_of(session_, ask.turn, ask.step);
    search->attempt = ask.attempt;
    Time const since = prompt_->request.program->began - clock_slack;
    read_list([this, search, since](Entries const& entries) {
        for (Listed::Entry const& entry : entries) {
            bool const may_be = !entry.session.empty() && entry.folder == cwd_ && entry.updated &&
                                *entry.updated >= since;
            bool const is_new =
                std::ranges::find(search->to_see, entry.session) == search->to_see.end();
            if (may_be && is_new) search->to_see.push_back(entry.session);
        }
        if (search->to_see.size() > seen_max) search->to_see.clear();
        limit_search(search);
        see_next(search);
    });
}

// One that never shows another's session does not hold ours up.
void Driver::limit_search(std::shared_ptr<Search> const& search) {
    loop_.after(settings_.list_limit, [weak = weak_from_this(), search] {
        auto const self = weak.lock();
        if (!self || self->phase_ == Phase::gone || search->over) return;
        search->to_see.clear();
        search->mine.clear();
        self->see_next(search);
    });
}

void Driver::see_next(std::shared_ptr<Search> const& search) {
    search->over = search->to_see.empty();
    replaying_ = !search->over;
    replay_.clear();
    if (search->over)
        return search->mine.size() == 1 ? take_up(search->mine.front(), true, false)
                                        : open_new(false);
    std::string const name = std::move(search->to_see.front());
    search->to_see.pop_front();
    // Without our tools: it may be another's.
    dialect_->take_up(name, {cwd_, {}}, true,
                      [this, search, name](Dialect::Answer<Opened> const& opened) {
                          bool const gone = !opened && opened.error().why == Refusal::Why::gone;
                          if (!gone && !search->over) seen(search, name, opened.has_value());
                      });
}

void Driver::seen(std::shared_ptr<Search> const& search, std::string const& name, bool shown) {
    replaying_ = false;
    if (shown && holds_marker(replay_, search->marker, search->attempt))
        search->mine.push_back(name);
    replay_.clear();
    if (!shown || !can_.close) return see_next(search);
    dialect_->close_session(name, [this, search](Dialect::Answer<void> const& closed) {
        bool const gone = !closed && closed.error().why == Refusal::Why::gone;
        if (!gone && !search->over) see_next(search);
    });
}

}  // namespace dormouse::acp
