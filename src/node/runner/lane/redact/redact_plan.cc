#include "base/check.h"
#include "json/json.h"
#include "runner/lane/redact/redact.h"
#include "runner/lane/redact/redact_survey.h"
#include "runner/lane/rows.h"
#include "runner/read/reading.h"
#include "session/fold/fold.h"
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

// The title and labels that lists show, as the fold gives them before and after the redaction.
struct Shown {
    struct Side {
        std::string auto_title, title;
        Json labels;

        void begin(State const& base) {
            auto_title = base.auto_title;
            title = base.title;
            labels = base.labels;
        }
        void take(Event const& event) {
            if (auto const* e = std::get_if<SessionCreated>(&event.body)) {
                title = e->title;
                labels = e->labels;
            } else if (auto const* changed = std::get_if<SessionChanged>(&event.body)) {
                title = changed->title.value_or(title);
                labels = changed->labels.value_or(labels);
            } else if (auto const* gone = std::get_if<Redacted>(&event.body)) {
                if (gone->title) auto_title = *gone->title;
                if (gone->set_title) title = *gone->set_title;
                if (gone->labels) labels = *gone->labels;
            }
            if (auto_title.empty()) auto_title = automatic(event);
        }
    };
    Side before = {}, after = {};

    static std::string automatic(Event const& event) {
        if (auto const* e = std::get_if<Forked>(&event.body)) return title_in(e->messages);
        auto const* const e = std::get_if<InputReceived>(&event.body);
        bool const prompt = e && e->source == InputSource::prompt && !e->answers;
        return prompt ? title_in(e->parts) : "";
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
        auto done = survey();
        if (!done) return std::unexpected(std::move(done.error()));
        if (survey_.earlier) return done_before();
        done = check();
        if (done) done = rewrite();
        if (done) done = check_changes();
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
        if (std::string what = survey_.what(); !what.empty()) return what;
        if (ask_.turn != 0) return numbered_id("trn_", state_.id, ask_.turn);
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
                              (ask_.call != 0 && ask_.call <= state_.base.call) ||
                              (ask_.turn != 0 && ask_.turn <= state_.base.turn);
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
        if (auto ended = check_tasks(); !ended) return ended;
        if (auto delivered = check_posts(); !delivered) return delivered;
        return check_rules();
    }

    // Refuses if a task is active: its result would restore the content.
    Result<void> check_tasks() {
        for (TaskNo const no : survey_.target.tasks) {
            auto const task = state_.tasks.find(no);
            if (task == state_.tasks.end()) continue;
            std::string const id = task_id(state_.id, no);
            if (task->second.active()) {
                std::string why =
                    "The task " + id + " has not ended: wait for its end, or cancel it";
                why += " (dormouse tasks --cancel " + id + ").";
                return fail(Code::session_busy, std::move(why));
            }
            what_.tasks.push_back(no);
        }
        if (!what_.tasks.empty()) what_.text = survey_.target.placeholder;
        return {};
    }

    // Refuses a redaction that would remove nothing.
    Result<void> check_changes() {
        if (what_.events != 0 || what_.title) return {};
        return fail(Code::not_found,
                    state_.id.text() + " has nothing of that kind (" + name() + ").");
    }

    // Refuses if content is not yet delivered to another session: its delivery would restore it.
    Result<void> check_posts() {
        for (auto const& [seq, count] : survey_.outbox) {
            for (std::uint32_t n = 0; n < count; ++n) {
                auto const row = store_.outbox_message({state_.id, seq, n});
                if (!row) return std::unexpected(row.error());
                if (*row) return busy("It is not yet delivered to another session: try again.");
            }
        }
        return {};
    }

    // Refuses if a standing rule has arguments: it answers later calls, so a person must remove it.
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
        auto done = each_frame(store_, state_.id, state_.head,
                               [&](port::Frame const& frame, Records const& records) {
                                   return rewrite(frame, records);
                               });
        if (done) set_now();
        return done;
    }

    // Sets the title, labels and alias that the session has from now on.
    void set_now() {
        Shown::Side const& now = shown_.after;
        std::string const& auto_title = shown_.before.auto_title;
        bool const whole = !ask_.at_creation && ask_.set != wire::SessionProperty::none;
        if (auto_title != now.auto_title) what_.title = now.auto_title;
        // The automatic title is removed even if its message stays.
        bool const named = whole && ask_.set == wire::SessionProperty::title && !auto_title.empty();
        if (named) what_.title = survey_.target.placeholder;
        if (named) titles_.insert(auto_title);
        if (shown_.before.title != now.title) what_.set_title = now.title;
        if (!(shown_.before.labels == now.labels)) what_.labels = now.labels;
        if (whole && ask_.set == wire::SessionProperty::alias && !state_.alias.empty())
            what_.alias = std::string();
    }

    Result<void> rewrite(port::Frame const& frame, Records const& records) {
        auto base = wire::base_state(state_.id, frame.bytes);
        if (!base) return std::unexpected(std::move(base.error()));
        if (*base) return rewrite_base(frame, **base, records);
        Records changed = records;
        if (!remove(changed)) return {};
        return keep({frame.first, frame.count, wire::pack(state_.id, changed)});
    }

    // The frame with which a cut journal begins: a state, and records that were still in use.
    Result<void> rewrite_base(port::Frame const& frame, State const& base, Records const& records) {
        CHECK(base.id == state_.id);
        State left = base;
        wire::redact_state(left, survey_.target);
        for (wire::RecordPtr const& record : records) {
            auto const event = wire::redacted(record->event, survey_.target);
            bool const titled =
                !base.auto_title.empty() && Shown::automatic(record->event) == base.auto_title;
            if (event && titled) left.auto_title = Shown::automatic(*event);
        }
        shown_.before.begin(base);
        shown_.after.begin(left);
        for (std::string const& title : {base.title, base.auto_title}) note_title(title, left);
        Records changed = records;
        bool const state_changed = !(left == base);
        if (!remove(changed) && !state_changed) return {};
        if (state_changed) ++what_.events;
        begin_ = {frame.first, frame.count,
                  wire::repack_base(frame.bytes, left, frame.first, changed)};
        for (wire::RecordPtr const& record : changed) {
            auto const* const e = std::get_if<ArtifactEmitted>(&record->event.body);
            bool const stays = e && e->digest != wire::no_digest;
            if (stays && record->event.seq <= state_.base.through)
                begin_artifacts_.push_back(record->event.seq);
        }
        return {};
    }

    void note_title(std::string const& title, State const& left) {
        if (!title.empty() && title != left.title && title != left.auto_title)
            titles_.insert(title);
    }

    // Replaces the records that hold content; returns true if there are any.
    bool remove(Records& records) {
        bool any = false;
        for (wire::RecordPtr& record : records) {
            auto event = wire::redacted(record->event, survey_.target);
            shown_.before.take(record->event);
            shown_.after.take(event ? *event : record->event);
            if (!event) continue;
            any = true;
            ++what_.events;
            what_.bytes += record->data.size();
            note_title(record->event);
            note_quarantined(*event);
            record = wire::record(state_.id, *std::move(event));
        }
        return any;
    }

    void note_title(Event const& was) {
        if (survey_.target.set != wire::SessionProperty::title) return;
        if (auto const* e = std::get_if<SessionCreated>(&was.body)) titles_.insert(e->title);
        auto const* const e = std::get_if<SessionChanged>(&was.body);
        if (e && e->title) titles_.insert(*e->title);
    }

    // Takes note of quarantined mail: its row has a copy of the text.
    void note_quarantined(Event const& event) {
        auto const* const e = std::get_if<MailReceived>(&event.body);
        auto const item = std::ranges::find(state_.inbox, event.seq, &InboxItem::seq);
        if (!e || item == state_.inbox.end() || item->hold != MailHold::quarantined) return;
        quarantined_.push_back({event.seq, item->rewrites, event.at, *e->mail});
        what_.quarantined.push_back(event.seq);
    }

    Result<void> keep(Redact::Rewritten frame) {
        bytes_ += frame.bytes.size();
        frames_.push_back(std::move(frame));
        if (bytes_ > rewritten_bytes_max)
            return fail(Code::too_large,
                        "The message is among too many bytes of events: "
                        "delete the session to remove it.");
        return {};
    }

    // Finds the webhooks and notifications of the turns, and those that contain a removed title.
    Result<void> find_deliveries() {
        if (shown_.before.auto_title != shown_.after.auto_title)
            titles_.insert(shown_.before.auto_title);
        std::vector<std::string> titles;
        for (std::string const& title : titles_) {
            std::string const quoted = json::quote(title);
            if (!title.empty()) titles.push_back(quoted.substr(1, quoted.size() - 2));
        }
        port::OutboxFilter filter{.project = state_.project, .limit = deliveries_page};
        filter.before = port::OutboxKey{state_.id, state_.head + 1, 0};
        for (;;) {
            auto const rows = store_.list_messages(filter);
            if (!rows) return std::unexpected(rows.error());
            for (port::OutboxRow const& row : *rows) {
                if (row.key.from != state_.id) return {};
                bool const titled = std::ranges::any_of(
                    titles, [&](std::string const& title) { return row.body.contains(title); });
                if (!titled && !survey_.of_turn.contains(row.key.seq)) continue;
                outbox_.push_back({row.key.from, row.key.seq, row.key.n});
            }
            if (rows->size() < deliveries_page) return {};
            filter.before = rows->back().key;
        }
    }

    RedactionPlan finish() {
        CHECK(survey_.found() && !survey_.earlier);
        what_.message = survey_.named();
        what_.call = ask_.call;
        what_.turn = ask_.turn;
        what_.what = survey_.what();
        what_.reason = survey_.reason();
        what_.artifacts = static_cast<std::uint32_t>(survey_.target.artifacts.size());
        what_.artifact_bytes = survey_.artifact_bytes;
        what_.deliveries = static_cast<std::uint32_t>(outbox_.size());
        what_.by = by_;
        RedactionPlan out = plan_of({state_.id, what_});
        Redact& command = out.command.emplace();
        command.base = state_.base.through;
        command.redacted = state_.redacted;
        command.what = what_;
        command.head = state_.head;
        command.title = state_.title;
        command.alias = state_.alias;
        command.labels = state_.labels;
        command.frames = std::make_shared<std::vector<Redact::Rewritten> const>(std::move(frames_));
        command.artifacts.assign(survey_.target.artifacts.begin(), survey_.target.artifacts.end());
        command.outbox = std::move(outbox_);
        command.calls.assign(survey_.target.calls.begin(), survey_.target.calls.end());
        for (Redact::Quarantined const& mail : quarantined_) {
            auto const key = quarantine_key(state_.id, mail.seq, mail.rewrites);
            command.outbox.push_back({key.from, key.seq, key.n});
        }
        command.quarantined = std::move(quarantined_);
        command.begin = std::move(begin_);
        command.begin_artifacts = std::move(begin_artifacts_);
        command.begin_call = state_.base.call;
        return out;
    }

    port::Store& store_;
    State const& state_;
    RedactionAsk const& ask_;
    Actor const& by_;
    Survey survey_;
    Shown shown_ = {};
    std::set<std::string> titles_ = {};  // that are removed
    Redacted what_ = {};
    std::vector<Redact::Rewritten> frames_;
    std::optional<Redact::Rewritten> begin_ = {};
    std::vector<Seq> begin_artifacts_ = {};
    std::vector<Redact::Quarantined> quarantined_ = {};
    std::vector<OutboxKey> outbox_;
    std::size_t bytes_ = 0;
};

}  // namespace

Result<RedactionPlan> plan_redaction(port::Store& store, SessionId session, RedactionAsk const& ask,
                                     Actor const& by, Time now) {
    auto const read = read_session(store, session);
    if (!read) return std::unexpected(read.error());
    if (read->state.lifecycle == Lifecycle::deleted)
        return fail(
            Code::session_gone,
            "The session was deleted, and its content with it; archives and backups may have it.");
    if (read->state.lifecycle == Lifecycle::none)
        return fail(Code::not_found, "This id was not found.");
    return Planner(store, read->state, ask, by, now).plan();
}

}  // namespace dormouse::runner
