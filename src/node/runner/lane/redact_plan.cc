#include "json/json.h"
#include "runner/lane/redact.h"
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

std::unexpected<Error> not_alone(std::string const& why) {
    return fail(Code::wrong_state, why + ": delete the session to remove it.");
}

// Why the message cannot be removed for itself; nullopt: it can.
struct Obstacle {
    std::optional<std::string> operator()(InputReceived const& e) const {
        if (e.task != 0 || e.source == InputSource::task)
            return "The message belongs to a task, and another session holds it, too";
        if (e.source == InputSource::mail) return "The message is a mail";
        return std::nullopt;
    }
    std::optional<std::string> operator()(ModelReplied const&) const { return std::nullopt; }
    std::optional<std::string> operator()(AgentAsked const& e) const {
        return e.spec->ask == 0 ? std::nullopt : std::optional(of_agent);
    }
    std::optional<std::string> operator()(AgentUpdate const&) const { return of_agent; }
    std::optional<std::string> operator()(MailReceived const&) const {
        return "The message is a mail";
    }
    std::optional<std::string> operator()(MailBounced const&) const {
        return "The message is a mail";
    }
    template <class Other> std::optional<std::string> operator()(Other const&) const {
        return std::string();  // no message
    }
    std::string of_agent = "The message was reported by an external agent, which keeps it";
};

// Reads the journal once and finds what belongs to the message or the call.
class Survey {
public:
    Survey(SessionId session, RedactionAsk const& ask) : session_(session), ask_(ask) {
        target.message = ask.message;
        if (ask.call != 0) target.calls.insert(ask.call);
    }

    Result<void> take(wire::RecordPtr const& record) {
        Event const& event = record->event;
        if (auto const* e = std::get_if<Redacted>(&event.body)) {
            bool const same = e->message == ask_.message && e->call == ask_.call;
            if (same && !earlier) earlier = record;
        }
        if (auto const* e = std::get_if<ArtifactEmitted>(&event.body)) note(event.seq, *e);
        if (auto const* e = std::get_if<InputReceived>(&event.body)) note_title(event.seq, *e);
        if (auto const* e = std::get_if<TaskStarted>(&event.body); e && in_target(e->call))
            return not_alone("The call started a task, and another session holds its content, too");
        if (auto found = find(event); !found) return found;
        if (auto const* e = std::get_if<Submitted>(&event.body);
            e && e->what->rule && in_target(e->receipt.pending.call))
            rules.push_back(numbered_id("rul_", session_, event.seq));
        if (turn != 0 && event.turn == turn) of_turn.insert(event.seq);
        if (wire::redacted(event, target)) {
            of_turn.insert(event.seq);
            name_artifacts(*record);
        }
        return {};
    }

    [[nodiscard]] bool found() const { return turn != 0; }

    wire::RedactionTarget target = {};
    wire::RecordPtr earlier = {};         // the redacted event of the same ask
    TurnNo turn = 0;                      // of the message or call; 0: not found
    std::set<Seq> of_turn = {};           // its events
    std::vector<std::string> rules = {};  // standing rules that people made with its approvals
    std::uint64_t artifact_bytes = 0;
    // The automatic title: whether it was there before the journal begins, else the prompt that
    // gave it (0: none did).
    bool titled_before = false;
    Seq titled_by = 0;
    std::string title = {};
    bool prompts = false;  // the message is a prompt that can give the title

private:
    [[nodiscard]] bool in_target(CallNo call) const {
        return call != 0 && target.calls.contains(call);
    }

    void note(Seq seq, ArtifactEmitted const& e) {
        if (e.digest == wire::no_digest) return;  // removed earlier
        artifacts_.emplace(seq, e.bytes);
        if (in_target(e.call)) remove_artifact(seq);
    }

    void note_title(Seq seq, InputReceived const& e) {
        bool const titles = e.source == InputSource::prompt && !e.answers;
        if (seq == ask_.message) prompts = titles;
        if (!titles || titled_by != 0) return;
        title = title_in(e.parts);
        if (!title.empty()) titled_by = seq;
    }

    Result<void> find(Event const& event) {
        if (ask_.message != 0 && event.seq == ask_.message) return find_message(event);
        if (auto const* e = std::get_if<ModelReplied>(&event.body)) {
            bool const has =
                ask_.call >= e->first_call && ask_.call - e->first_call < e->calls.size();
            if (ask_.call != 0 && has) turn = event.turn;
        }
        if (auto const* e = std::get_if<AgentAsked>(&event.body); e && in_target(e->pending.call)) {
            if (auto const why = Obstacle{}(*e)) return not_alone(*why);
            turn = event.turn;
        }
        return {};
    }

    Result<void> find_message(Event const& event) {
        if (auto const why = std::visit(Obstacle{}, event.body)) {
            if (why->empty()) return {};
            return not_alone(*why);
        }
        turn = event.turn;
        if (auto const* e = std::get_if<InputReceived>(&event.body)) {
            turn = e->turn;
            target.answer = e->answers;
        }
        if (auto const* e = std::get_if<ModelReplied>(&event.body)) {
            for (std::size_t i = 0; i < e->calls.size(); ++i)
                target.calls.insert(e->first_call + static_cast<CallNo>(i));
        }
        if (auto const* e = std::get_if<AgentAsked>(&event.body))
            target.calls.insert(e->pending.call);
        return {};
    }

    void remove_artifact(Seq seq) {
        if (target.artifacts.insert(seq).second) artifact_bytes += artifacts_.at(seq);
    }

    void name_artifacts(wire::Record const& record) {
        for (auto const& [seq, bytes] : artifacts_) {
            std::string const id = '"' + numbered_id("art_", session_, seq) + '"';
            if (record.data.contains(id)) remove_artifact(seq);
        }
    }

    SessionId const session_;
    RedactionAsk const& ask_;
    std::map<Seq, std::uint64_t> artifacts_;  // event → bytes
};

class Planner {
public:
    Planner(port::Store& store, State const& state, RedactionAsk const& ask, Actor const& by,
            Time now)
        : store_(store), state_(state), ask_(ask), by_(by), survey_(state.id, ask) {
        survey_.target.placeholder = wire::redaction_placeholder(by, now);
    }

    Result<RedactionPlan> plan() {
        auto const first = store_.page(state_.id, 1, 1);
        if (!first) return std::unexpected(first.error());
        auto const base = read_base(state_.id, *first);
        if (!base) return std::unexpected(base.error());
        survey_.titled_before = *base && !(*base)->auto_title.empty();
        auto done = each_frame(store_, state_.id, state_.head, [&](auto const&, auto const& all) {
            for (wire::RecordPtr const& record : all)
                if (auto taken = survey_.take(record); !taken) return taken;
            return Result<void>{};
        });
        if (!done) return std::unexpected(std::move(done.error()));
        if (survey_.earlier) return done_before();
        done = check();
        if (done) done = rewrite();
        if (done) done = find_deliveries();
        if (!done) return std::unexpected(std::move(done.error()));
        return finish();
    }

private:
    [[nodiscard]] RedactionPlan done_before() const {
        Event const& event = survey_.earlier->event;
        return {{state_.id, std::get<Redacted>(event.body), event.seq, event.at}};
    }

    [[nodiscard]] std::string name() const {
        return ask_.message != 0 ? numbered_id("msg_", state_.id, ask_.message)
                                 : wire::call_text(ask_.call);
    }

    Result<void> check() {
        if (!survey_.found()) {
            bool const gone = ask_.message != 0 ? ask_.message <= state_.base.through
                                                : ask_.call <= state_.base.call;
            if (gone) return fail(Code::history_gone, name() + " was removed by retention.");
            return fail(Code::not_found, name() + " was not found in " + state_.id.text() + ".");
        }
        bool const queued =
            std::ranges::find(state_.queue, ask_.message, &QueuedInput::seq) != state_.queue.end();
        if (queued || (state_.turn && state_.turn->no == survey_.turn))
            return fail(Code::session_busy,
                        "The turn of " + name() + " is not over: wait for its end, or cancel it.");
        return check_rules();
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
            if (!event) continue;
            any = true;
            ++what_.events;
            what_.bytes += record->data.size();
            auto const* const input = std::get_if<InputReceived>(&event->body);
            if (input && titles()) what_.title = title_in(input->parts);
            record = wire::record(state_.id, *std::move(event));
        }
        if (!any) return {};
        if (frame.first <= state_.base.through)
            return not_alone("The message stands where retention removed the history before it");
        frames_.push_back({frame.first, frame.count, wire::pack(state_.id, changed)});
        bytes_ += frames_.back().bytes.size();
        if (bytes_ > rewritten_bytes_max)
            return fail(Code::too_large,
                        "The message stands among too many bytes of events: "
                        "delete the session to remove it.");
        return {};
    }

    // Whether the text that takes the message's place is the automatic title from now on.
    [[nodiscard]] bool titles() const {
        bool const first = survey_.titled_by == 0 || ask_.message <= survey_.titled_by;
        return survey_.prompts && !survey_.titled_before && first;
    }

    // Webhooks and notifications of the turn, and those that have its title.
    Result<void> find_deliveries() {
        std::string title = json::quote(survey_.title);
        title = title.substr(1, title.size() - 2);
        port::OutboxFilter filter{.project = state_.project, .limit = deliveries_page};
        filter.before = port::OutboxKey{state_.id, state_.head + 1, 0};
        for (;;) {
            auto const rows = store_.list_messages(filter);
            if (!rows) return std::unexpected(rows.error());
            for (port::OutboxRow const& row : *rows) {
                if (row.key.from != state_.id) return {};
                bool const titled = !title.empty() && titles() && row.body.contains(title);
                if (!titled && !survey_.of_turn.contains(row.key.seq)) continue;
                posts_.push_back({row.key.from, row.key.seq, row.key.n});
            }
            if (rows->size() < deliveries_page) return {};
            filter.before = rows->back().key;
        }
    }

    RedactionPlan finish() {
        what_.message = ask_.message;
        what_.call = ask_.call;
        what_.reason = ask_.reason;
        what_.artifacts = static_cast<std::uint32_t>(survey_.target.artifacts.size());
        what_.artifact_bytes = survey_.artifact_bytes;
        what_.deliveries = static_cast<std::uint32_t>(posts_.size());
        what_.by = by_;
        RedactionPlan out{{state_.id, what_}};
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
