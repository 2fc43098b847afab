#include "app/commands/archived_forks.h"

#include "app/commands/archived.h"
#include "runner/lane/redact/redact_copies.h"
#include "runner/transfer/place.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace dormouse::app {

Result<std::unique_ptr<store::MemoryStore>> archived_store(std::string_view lines) {
    auto arrival = read_archived(lines);
    if (!arrival) return std::unexpected(std::move(arrival.error()));
    auto out = std::make_unique<store::MemoryStore>();
    runner::ImportGuard const guard{[] { return Result<void>(); },
                                    [](Epoch) { return Result<void>(); }};
    auto const placed = runner::place(*out, std::move(*arrival->placing), {}, guard);
    if (!placed) return std::unexpected(placed.error());
    return out;
}

namespace {

// All states of each session, in the order in which the sessions were made.
using StatesBySession = std::multimap<std::uint64_t, archive::Place>;

struct ForkSearch {
    std::size_t ask = 0;
    runner::CopySearch search;
};

class ForkFinder {
public:
    ForkFinder(archive::Archive const& all, SessionId root, session::Actor by, Time now)
        : root_(root), by_(std::move(by)), now_(now) {
        for (archive::File const& file : all.files())
            for (archive::Entry const& entry : file.index.sessions)
                places_.emplace(entry.id.number(), archive::Place{&file, &entry});
    }

    // Adds content to search for. Called for each state of the session.
    [[nodiscard]] Result<void> add(std::size_t i, runner::RedactionAsk const& ask) {
        runner::CopySearch search{.root = root_};
        if (auto named = name(search, ask); !named) return named;
        if (auto added = add_tree(search); !added) return added;
        searches_.push_back({i, std::move(search)});
        return {};
    }

    [[nodiscard]] Result<ArchivedForks> run() {
        if (searches_.empty()) return ArchivedForks();
        for (auto const& [number, place] : places_) {
            if (place.entry->id == root_) continue;
            if (auto done = look(place); !done) return std::unexpected(std::move(done.error()));
        }
        ArchivedForks out;
        for (auto& [ask, search] : searches_)
            for (runner::RedactionCopy const& copy : search.found) {
                bool const known = std::ranges::any_of(out, [&](ArchivedFork const& one) {
                    return one.ask == ask && one.copy == copy;
                });
                if (!known) out.push_back({ask, copy, search.ancestors.contains(copy.session)});
            }
        return out;
    }

private:
    using Store = std::unique_ptr<store::MemoryStore>;

    [[nodiscard]] std::vector<archive::Place> states_of(SessionId session) const {
        std::vector<archive::Place> out;
        auto const [begin, end] = places_.equal_range(session.number());
        for (auto at = begin; at != end; ++at)
            if (at->second.entry->id == session) out.push_back(at->second);
        return out;
    }
    [[nodiscard]] static Result<Store> read(archive::Place const& place) {
        auto const lines = archive::Archive::read(place);
        if (!lines) return std::unexpected(lines.error());
        return archived_store(*lines);
    }

    [[nodiscard]] Result<void> name(runner::CopySearch& search, runner::RedactionAsk const& ask) {
        auto const states = states_of(root_);
        for (archive::Place const& place : states) {
            auto const store = read(place);
            if (!store) return std::unexpected(store.error());
            auto plan = runner::plan_redaction(**store, root_, ask, by_, now_);
            if (!plan) return std::unexpected(std::move(plan.error()));
            for (runner::ForkName& one : plan->in_forks) search.names.push_back(std::move(one));
            if (is_inherited(ask)) search.set = plan->report.what.what;
        }
        if (!states.empty()) return {};
        if (is_inherited(ask)) {
            bool const title = ask.set == wire::SessionProperty::title;
            search.set = title ? "title" : ask.label.empty() ? "labels" : "label " + ask.label;
        } else if (ask.message != 0) {
            search.names.push_back({numbered_id("msg_", root_, ask.message)});
        } else if (ask.item.starts_with("msg_")) {
            search.names.push_back({ask.item});
        } else if (ask.call != 0 || ask.turn != 0 || ask.item.starts_with("prt_")) {
            search.call = ask.call;
            search.turn = ask.turn;
            search.part = ask.item;
        } else {
            return fail(Code::wrong_state,
                        "session " + root_.text() +
                            " is not in the archive: only messages, calls, turns, --title, "
                            "--labels and --label are found in its forks");
        }
        return {};
    }
    [[nodiscard]] static bool is_inherited(runner::RedactionAsk const& ask) {
        return ask.set == wire::SessionProperty::title || ask.set == wire::SessionProperty::labels;
    }

    // The session and those that it was made from.
    [[nodiscard]] Result<void> add_tree(runner::CopySearch& search) {
        for (std::optional<SessionId> at = root_; at && search.tree.insert(*at).second;) {
            if (*at != root_) search.ancestors.insert(*at);
            auto const states = states_of(*at);
            if (states.empty()) break;
            auto const store = read(states.front());
            if (!store) return std::unexpected(store.error());
            auto const from = runner::forked_from(**store, *at);
            if (!from) return std::unexpected(from.error());
            at = *from;
        }
        return {};
    }

    // Sessions are only decoded if they can have it.
    [[nodiscard]] bool may_have(SessionId session, std::string_view lines) const {
        return lines.contains("forked") ||
               std::ranges::any_of(searches_, [&](ForkSearch const& one) {
                   auto const& [ask, search] = one;
                   bool const own =
                       std::ranges::any_of(search.names, [&](runner::ForkName const& name) {
                           auto const origin = parse_numbered("msg_", name.message);
                           return origin && origin->session == session;
                       });
                   return own || (!search.set.empty() && search.tree.contains(session));
               });
    }

    [[nodiscard]] Result<void> look(archive::Place const& place) {
        auto const lines = archive::Archive::read(place);
        if (!lines) return std::unexpected(lines.error());
        SessionId const session = place.entry->id;
        if (!may_have(session, *lines)) return {};
        auto const store = archived_store(*lines);
        if (!store) return std::unexpected(store.error());
        for (auto& [ask, search] : searches_)
            if (auto done = runner::search_session(**store, session, search); !done) return done;
        return {};
    }

    SessionId root_;
    session::Actor by_;
    Time now_;
    StatesBySession places_ = {};
    std::vector<ForkSearch> searches_ = {};
};

}  // namespace

Result<ArchivedForks> find_archived_forks(archive::Archive const& all, SessionId session,
                                          RedactionAsks const& asks, session::Actor const& by,
                                          Time now) {
    ForkFinder finder(all, session, by, now);
    for (std::size_t i = 0; i < asks.size(); ++i) {
        if (!asks[i].forks) continue;
        if (auto added = finder.add(i, asks[i]); !added)
            return std::unexpected(std::move(added.error()));
    }
    return finder.run();
}

}  // namespace dormouse::app
