#include "cli/commands/follow.h"

#include "cli/client/resolve.h"
#include "cli/render/story.h"

#include "base/text/text.h"
#include "base/url.h"

#include <algorithm>
#include <ostream>
#include <utility>

namespace dormouse::cli {
namespace {

// The turn as an object; null: the session has none of that id.
Outcome<Json> turn_of(Client& client, std::string const& session, std::string const& id) {
    auto const target = "/api/sessions/" + session + "/turns?limit=200";
    Json found;
    std::string cursor;
    do {
        auto const reply =
            client.get(target + (cursor.empty() ? "" : "&cursor=" + percent_encode(cursor)));
        if (!reply) return std::unexpected(reply.error());
        json::View const page(reply->body);
        page["items"].elements([&](json::View turn) {
            if (turn["id"].string_or("") == id) found = turn.copy();
        });
        cursor = page["next"].string_or("");
    } while (found.is_null() && !cursor.empty());
    return found;
}

// Follows the turn of an accepted prompt through the event stream.
class Follower {
public:
    Follower(Context const& context, Client& client, Patience const& patience, Following what)
        : context_(context),
          client_(client),
          patience_(patience),
          session_(std::move(what.session)),
          turn_(std::move(what.turn)),
          seq_(what.seq),
          after_(what.after),
          through_sleeps_(what.through_sleeps),
          story_(turn_, context.global.json ? Style{} : context.style) {}

    [[nodiscard]] Outcome<int> follow();

private:
    // Ends a line of streamed text.
    [[nodiscard]] std::string close() {
        return context_.global.json ? std::string() : story_.end_line();
    }
    // Reads the session. If it sleeps or has stopped, notes its newest event; everything up to it
    // is printed first.
    [[nodiscard]] Outcome<void> poll();
    [[nodiscard]] Client::Stream take(SseEvent const& event);
    // Reads the stream until the turn ends or the session sleeps or stops.
    [[nodiscard]] Outcome<void> read();
    [[nodiscard]] Outcome<int> interrupted();
    [[nodiscard]] Outcome<std::optional<int>> asleep();
    [[nodiscard]] Outcome<int> report_end();
    [[nodiscard]] Outcome<int> has_stopped() const;
    // Returns whether the server is a restored copy, which starts nothing until it is released. It
    // is asked once, when all events that the session had are printed: the turn may be among them.
    [[nodiscard]] bool does_hold();
    [[nodiscard]] Outcome<int> report_hold() const;
    // Returns the commands that settle what waits; empty when nothing waits any more.
    [[nodiscard]] Outcome<std::string> what_waits() const;
    [[nodiscard]] Outcome<int> show_turn(int exit) const;

    Context const& context_;
    Client& client_;
    Patience const& patience_;
    std::string session_;
    std::string turn_;
    std::int64_t seq_;    // the newest known event; at first the one that recorded the prompt
    std::int64_t after_;  // the newest printed event
    bool through_sleeps_;
    TurnStory story_;
    std::int64_t idle_at_ = 0;   // event at which the session sleeps or has stopped; 0: it works
    std::int64_t shown_at_ = 0;  // event at which the pending calls were printed
    std::string shown_calls_;    // the commands that were printed for them
    std::string stopped_;        // "error" or "paused": the session continues only on a command
    std::string finish_;
    std::optional<Failure> failed_;
    std::int64_t newest_ = 0;    // event of the session when it was read last
    std::optional<bool> holds_;  // whether the server holds; nullopt: not asked yet
};

Outcome<void> Follower::poll() {
    auto const reply = client_.get("/api/sessions/" + session_);
    if (!reply) return std::unexpected(reply.error());
    json::View const session(reply->body);
    bool const sleeps = session["activity"]["type"].string_or("") == "waiting_async";
    auto const state = session["status"].string_or("");
    stopped_ = state == "error" || state == "paused" ? state : std::string();
    newest_ = session["seq"].integer_or(0);
    idle_at_ = sleeps || !stopped_.empty() ? newest_ : 0;
    return {};
}

Client::Stream Follower::take(SseEvent const& event) {
    auto const checked = json::check(event.data);
    if (!checked) return Client::Stream::go_on;
    json::View const view(*checked);
    auto const line = story_.on_event(event.name, view);
    if (!context_.global.json) context_.out << line.text << std::flush;
    after_ = view["seq"].integer_or(after_);  // a frame that is no event has no seq
    seq_ = std::max(seq_, after_);
    if (line.finish) {
        finish_ = *line.finish;
        return Client::Stream::stop;
    }
    if (does_hold()) return Client::Stream::stop;
    if (line.may_sleep && after_ >= seq_ && after_ > idle_at_) {
        if (auto const polled = poll(); !polled) {
            failed_ = polled.error();
            return Client::Stream::stop;
        }
    }
    bool const is_idle = idle_at_ != 0 && idle_at_ != shown_at_ && after_ >= idle_at_;
    return is_idle ? Client::Stream::stop : Client::Stream::go_on;
}

Outcome<void> Follower::read() {
    auto const read =
        client_.events("/api/sessions/" + session_ + "/events", std::to_string(after_),
                       [this](SseEvent const& event) { return take(event); });
    if (!read) return read;
    if (failed_) return std::unexpected(*failed_);
    return {};
}

Outcome<int> Follower::interrupted() {
    context_.out << close() << std::flush;
    bool const over = patience_.is_over();
    context_.err << (context_.may_ask && !over ? "\n" : "")  // ends the line of the terminal's ^C
                 << (over ? "the time of --wait is over" : "interrupted")
                 << "; the turn continues: dormouse tail " << session_ << context_.flags() << '\n';
    return over ? status::sleeps : status::interrupted;
}

// Prints what waits, once. nullopt: the turn continues, or is followed until it does.
Outcome<std::optional<int>> Follower::asleep() {
    auto const waits = what_waits();
    if (!waits) return std::unexpected(waits.error());
    if (waits->empty()) return std::nullopt;  // settled meanwhile: the turn continues
    if (!context_.global.json && *waits != shown_calls_) context_.out << *waits << std::flush;
    shown_calls_ = *waits;
    shown_at_ = idle_at_;
    if (through_sleeps_) return std::nullopt;
    auto const exit = show_turn(status::sleeps);
    if (!exit) return std::unexpected(exit.error());
    return *exit;
}

Outcome<int> Follower::follow() {
    for (;;) {
        // The prompt may wait behind a turn that sleeps, and no event would arrive: poll() finds
        // that.
        auto step = poll();
        bool const moves = idle_at_ == 0 || after_ < idle_at_ || idle_at_ == shown_at_;
        if (step && moves && !does_hold()) step = read();
        if (!step && step.error().exit == status::interrupted) return interrupted();
        if (!step) {
            if (step.error().exit != status::unread) context_.out << close() << std::flush;
            return std::unexpected(step.error());
        }
        if (!finish_.empty()) return report_end();
        context_.out << close();
        if (holds_.value_or(false)) return report_hold();
        if (!stopped_.empty()) return has_stopped();
        auto const end = asleep();
        if (!end && end.error().exit == status::interrupted) return interrupted();
        if (!end) return std::unexpected(end.error());
        if (*end) return **end;
    }
}

Outcome<int> Follower::show_turn(int exit) const {
    if (!context_.global.json) return exit;
    auto const object = turn_of(client_, session_, turn_);
    if (!object) return std::unexpected(object.error());
    context_.show(*object, "");
    return exit;
}

Outcome<int> Follower::report_end() {
    if (finish_ == "cancelled") return show_turn(status::gone);
    return show_turn(finish_ == "stop" || finish_ == "length" ? status::done : status::failed);
}

Outcome<int> Follower::has_stopped() const {
    bool const failed = stopped_ == "error";
    if (auto const shown = show_turn(status::failed); !shown) return shown;
    auto const why = why_stopped(client_, session_, seq_);
    return failure(failed ? status::failed : status::sleeps,
                   (failed ? "the session is in error" : "the session is paused") +
                       (why.empty() ? "" : ": " + why),
                   (failed ? "Retry it: dormouse retry " : "Resume it: dormouse resume ") +
                       session_ + context_.flags());
}

bool Follower::does_hold() {
    if (!holds_ && after_ >= newest_) holds_ = client_.server_holds();
    return holds_.value_or(false);
}

Outcome<int> Follower::report_hold() const {
    if (auto const shown = show_turn(status::sleeps); !shown) return shown;
    return failure(status::sleeps,
                   "this server is a restored copy, which holds: the turn continues when it is "
                   "released",
                   "Release it: dormouse release" + context_.flags() +
                       ". Then follow the session: "
                       "dormouse tail " +
                       session_ + context_.flags());
}

Outcome<std::string> Follower::what_waits() const {
    auto const reply = client_.get("/async-tool/pending?limit=200&sessionID=" + session_);
    if (!reply) return std::unexpected(reply.error());
    std::string text;
    json::View(reply->body)["items"].elements([&](json::View call) {  // newest first
        text.insert(0, how_to_settle(call, context_.now(), context_.flags(), context_.style));
    });
    return text;
}

}  // namespace

Outcome<int> follow_turn(Context const& context, Client& client, Patience const& patience,
                         Following what) {
    patience.begin();  // what the command does is not part of the wait
    return Follower(context, client, patience, std::move(what)).follow();
}

Outcome<WaitOption> wait_option(std::string const& written) {
    if (written.empty()) return WaitOption{};
    if (written == "true") return WaitOption{.given = true};
    auto const limit = milliseconds("--wait", written);
    if (!limit) return std::unexpected(limit.error());
    return WaitOption{.given = true, .limit = Duration(static_cast<std::int64_t>(*limit))};
}

TurnWait::TurnWait(WaitOption const& option) {
    if (!option.given) return;
    interrupts_.emplace();
    patience_.emplace(*interrupts_, option.limit);
}

Outcome<void> TurnWait::before_session(Client& client, std::string const& session) {
    if (!patience_) return {};
    auto const reply = client.get("/api/sessions/" + session);
    if (!reply) return std::unexpected(reply.error());
    following_.session = session;
    following_.seq = json::View(reply->body)["seq"].integer_or(0);
    following_.after = following_.seq;
    return {};
}

Outcome<void> TurnWait::before_call(Client& client, std::string const& pending) {
    if (!patience_) return {};
    auto const reply = client.get("/async-tool/pending/" + pending);
    if (!reply) return std::unexpected(reply.error());
    json::View const call(reply->body);
    auto const session = call["sessionID"].string_or("");
    auto const turn = call["turnID"].string_or("");
    if (session.empty() || turn.empty()) return {};  // a question without an agent
    auto const object = turn_of(client, session, turn);
    if (!object) return std::unexpected(object.error());
    if (json::View(*object)["status"].string_or("ended") == "ended") return {};
    following_.turn = turn;
    return before_session(client, session);
}

Outcome<int> TurnWait::follow(Context const& context, Client& client, std::string turn) {
    if (!turn.empty()) following_.turn = std::move(turn);
    if (!patience_ || following_.turn.empty() || following_.session.empty()) return status::done;
    return follow_turn(context, client, *patience_, following_);
}

}  // namespace dormouse::cli
