#include "json/json.h"
#include "runner/lane/redact.h"
#include "runner/lane/redact_survey.h"
#include "runner/lane/rows.h"
#include "runner/read/reading.h"
#include "session/fold.h"
#include "wire/names.h"
#include "wire/redact.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace dormouse::runner {

using namespace dormouse::session;

namespace {

constexpr std::size_t redact_page_bytes = std::size_t{1} << 20;
constexpr std::size_t rewritten_bytes_max = std::size_t{64} << 20;
constexpr std::uint32_t deliveries_page = 1'000;

using Records = std::vector<wire::RecordPtr>;

// Calls `use(frame, records)` for each frame, until it fails.
template <class Use>
Result<void> each_frame(port::JournalStore& store, SessionId session, Seq head, Use use) {
    for (Seq next = 1; next <= head;) {
        auto const frames = store.page(session, next, redact_page_bytes);
        if (!frames) return std::unexpected(frames.error());
        if (frames->empty()) break;
        for (port::Frame const& frame : *frames) {
            auto records = wire::unpack(session, frame.first, frame.bytes);
            if (!records) return std::unexpected(std::move(records.error()));
            if (auto used = use(frame, *records); !used) return used;
        }
        next = frames->back().first + frames->back().count;
    }
    return {};
}

// The automatic title, as the fold gives it before and after the redaction.
struct Titles {
    std::string before = {}, after = {};

    [[nodiscard]] bool changed() const { return before != after; }
    void begin(State const& base) { before = after = base.auto_title; }
    void take(Event const& was, Event const& now) {
        add(was, before);
        add(now, after);
    }

private:
    static void add(Event const& event, std::string& title) {
        if (auto const* e = std::get_if<Redacted>(&event.body); e && e->title) title = *e->title;
        if (!title.empty()) return;
        if (auto const* e = std::get_if<Forked>(&event.body)) title = title_in(e->messages);
        auto const* const e = std::get_if<InputReceived>(&event.body);
        if (e && e->source == InputSource::prompt && !e->answers) title = title_in(e->parts);
    }
};

class Planner {
public:
    Planner(port::Store& store, State const& state, RedactionAsk const& ask, Actor const& by,
            Time now)
        : store_(store), state_(state), ask_(ask), by_(by), survey_(state, ask) {
        survey_.target.placeholder = wire::redaction_placeholder(by, now);
    }

    Result<RedactionPlan> plan() {
        auto const first = store_.page(state_.id, 1, 1);
        if (!first) return std::unexpected(first.error());
        auto const base = read_base(state_.id, *first);
        if (!base) return std::unexpected(base.error());
        if (*base) titles_.begin(**base);
        auto done = survey();
        if (!done) return std::unexpected(std::move(done.error()));
        if (survey_.earlier) return done_before();
        done = check();
        if (done) done = rewrite();
        if (done) done = find_deliveries();
        if (!done) return std::unexpected(std::move(done.error()));
        return finish();
    }

private:
    Result<void> survey() {
        do {
            survey_.begin_pass();
            auto done = each_frame(store_, state_.id, state_.head, [&](auto const&, auto& all) {
                for (wire::RecordPtr const& record : all) survey_.take(record);
                return Result<void>{};
            });
            if (!done) return done;
        } while (survey_.again());
        return {};
    }

    [[nodiscard]] RedactionPlan plan_of(RedactionReport report) const {
        RedactionPlan out{std::move(report)};
        out.project = state_.project;
        out.elsewhere = survey_.elsewhere();
        out.in_forks = survey_.in_forks();
        return out;
    }

    [[nodiscard]] RedactionPlan done_before() const {
        Event const& event = survey_.earlier->event;
        return plan_of({state_.id, std::get<Redacted>(event.body), event.seq, event.at});
    }

    [[nodiscard]] std::string name() const {
        if (!ask_.item.empty()) return ask_.item;
        return ask_.message != 0 ? numbered_id("msg_", state_.id, ask_.message)
                                 : wire::call_text(ask_.call);
    }

    std::unexpected<Error> busy(std::string const& why) const {
        std::string text = why;
        text.append(" (").append(name()).append(" in ").append(state_.id.text()).append(")");
        return fail(Code::session_busy, std::move(text));
    }

    Result<void> check() {
        if (!survey_.found()) {
            bool const gone = (ask_.message != 0 && ask_.message <= state_.base.through) ||
                              (ask_.call != 0 && ask_.call <= state_.base.call);
            if (gone) return fail(Code::history_gone, name() + " was removed by retention.");
            return fail(Code::not_found, name() + " was not found in " + state_.id.text() + ".");
        }
        auto const removed = [&](QueuedInput const& input) {
            return survey_.target.messages.contains(input.seq);
        };
        bool const open = state_.turn && survey_.turns.contains(state_.turn->no);
        if (open || std::ranges::any_of(state_.queue, removed))
            return fail(Code::session_busy,
                        "The turn of " + name() + " is not over: wait for its end, or cancel it.");
        if (survey_.unread && state_.turn)
            return busy("The turn in progress may read the mail: wait for its end, or cancel it.");
        for (TaskNo const no : survey_.target.tasks) {
            if (!state_.tasks.contains(no)) continue;
            std::string const id = task_id(state_.id, no);
            std::string text = "The session still has the task " + id;
            text +=
                ", whose text this is: when it has ended, clear it first (dormouse tasks --clear ";
            text += id + ").";
            return fail(Code::wrong_state, std::move(text));
        }
        if (auto delivered = check_posts(); !delivered) return delivered;
        return check_rules();
    }

    // What is on its way to another session would bring it back.
    Result<void> check_posts() {
        for (auto const& [seq, count] : survey_.posts) {
            for (std::uint32_t n = 0; n < count; ++n) {
                auto const row = store_.post({state_.id, seq, n});
                if (!row) return std::unexpected(row.error());
                if (*row) return busy("It is not yet delivered to another session: try again.");
            }
        }
        for (Seq const seq : survey_.received) {
            auto const row = store_.post({state_.id, seq, quarantined_n});
            if (!row) return std::unexpected(row.error());
            if (!*row) continue;
            return fail(Code::wrong_state, "The mail " + name() +
                                               " is quarantined: release it first, and wait for "
                                               "the end of the turn that reads it.");
        }
        return {};
    }

    // A rule answers later calls, so that only a person removes it.
    Result<void> check_rules() {
        if (survey_.rules.empty()) return {};
        auto const rules = store_.rules();
        if (!rules) return std::unexpected(rules.error());
        for (std::string const& id : survey_.rules) {
            if (std::ranges::find(*rules, id, &port::RuleRow::id) == rules->end()) continue;
            return fail(Code::wrong_state, "The standing rule " + id +
                                               " holds arguments of the call: revoke it first.");
        }
        return {};
    }

    Result<void> rewrite() {
        return each_frame(store_, state_.id, state_.head,
                          [&](port::Frame const& frame, Records const& records) {
                              return rewrite(frame, records);
                          });
    }

    Result<void> rewrite(port::Frame const& frame, Records const& records) {
        Records changed = records;
        bool any = false;
        for (wire::RecordPtr& record : changed) {
            auto event = wire::redacted(record->event, survey_.target);
            titles_.take(record->event, event ? *event : record->event);
            if (!event) continue;
            any = true;
            ++what_.events;
            what_.bytes += record->data.size();
            record = wire::record(state_.id, *std::move(event));
        }
        if (!any) return {};
        if (frame.first <= state_.base.through)
            return fail(Code::wrong_state,
                        name() +
                            " stands where retention removed the history before it: delete "
                            "the session to remove it.");
        frames_.push_back({frame.first, frame.count, wire::pack(state_.id, changed)});
        bytes_ += frames_.back().bytes.size();
        if (bytes_ > rewritten_bytes_max)
            return fail(Code::too_large,
                        "The message stands among too many bytes of events: "
                        "delete the session to remove it.");
        return {};
    }

    // Webhooks and notifications of the turn, and those that have its title.
    Result<void> find_deliveries() {
        std::string title = titles_.changed() ? json::quote(titles_.before) : "\"\"";
        title = title.substr(1, title.size() - 2);
        port::OutboxFilter filter{.project = state_.project, .limit = deliveries_page};
        filter.before = port::OutboxKey{state_.id, state_.head + 1, 0};
        for (;;) {
            auto const rows = store_.list_messages(filter);
            if (!rows) return std::unexpected(rows.error());
            for (port::OutboxRow const& row : *rows) {
                if (row.key.from != state_.id) return {};
                bool const titled = !title.empty() && row.body.contains(title);
                if (!titled && !survey_.of_turn.contains(row.key.seq)) continue;
                posts_.push_back({row.key.from, row.key.seq, row.key.n});
            }
            if (rows->size() < deliveries_page) return {};
            filter.before = rows->back().key;
        }
    }

    RedactionPlan finish() {
        what_.message = survey_.named();
        what_.call = ask_.call;
        what_.reason = survey_.reason();
        if (titles_.changed()) what_.title = titles_.after;
        what_.artifacts = static_cast<std::uint32_t>(survey_.target.artifacts.size());
        what_.artifact_bytes = survey_.artifact_bytes;
        what_.deliveries = static_cast<std::uint32_t>(posts_.size());
        what_.by = by_;
        RedactionPlan out = plan_of({state_.id, what_});
        Redact& command = out.command.emplace();
        command.base = state_.base.through;
        command.redacted = state_.redacted;
        command.what = what_;
        command.frames = std::make_shared<std::vector<Redact::Rewritten> const>(std::move(frames_));
        command.artifacts.assign(survey_.target.artifacts.begin(), survey_.target.artifacts.end());
        command.posts = std::move(posts_);
        command.calls.assign(survey_.target.calls.begin(), survey_.target.calls.end());
        return out;
    }

    port::Store& store_;
    State const& state_;
    RedactionAsk const& ask_;
    Actor const& by_;
    Survey survey_;
    Titles titles_;
    Redacted what_ = {};
    std::vector<Redact::Rewritten> frames_;
    std::vector<OutboxKey> posts_;
    std::size_t bytes_ = 0;
};

}  // namespace

Result<RedactionPlan> plan_redaction(port::Store& store, SessionId session, RedactionAsk const& ask,
                                     Actor const& by, Time now) {
    auto const read = read_session(store, session);
    if (!read) return std::unexpected(read.error());
    if (read->state.lifecycle == Lifecycle::deleted)
        return fail(Code::session_gone, "The session was deleted, and its content with it.");
    if (read->state.lifecycle == Lifecycle::none)
        return fail(Code::not_found, "This id was not found.");
    return Planner(store, read->state, ask, by, now).plan();
}

}  // namespace dormouse::runner
