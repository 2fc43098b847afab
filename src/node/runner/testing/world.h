#pragma once
// A single-threaded world with virtual time for the tests of this layer: nothing happens until a
// test runs it.

#include "json/json.h"
#include "port/effects.h"
#include "port/nodes.h"
#include "port/world.h"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::runner::testing {

class TestLoop final : public port::Loop {
public:
    void post(port::Fn<void()> work) override { posted_.push_back(std::move(work)); }
    void after(Duration delay, port::Fn<void()> work) override {
        timers_.emplace(std::pair(now + delay, ++timers_ever_), std::move(work));
    }

    // Runs everything that was posted, and what that posts.
    void run() {
        while (!posted_.empty()) {
            auto const work = std::make_unique<port::Fn<void()>>(std::move(posted_.front()));
            posted_.pop_front();
            (*work)();
        }
    }
    // The same, and runs the timers due within `time`.
    void advance(Duration time) {
        Duration const until = now + time;
        run();
        while (!timers_.empty() && timers_.begin()->first.first <= until) {
            now = std::max(now, timers_.begin()->first.first);
            auto work = std::move(timers_.begin()->second);
            timers_.erase(timers_.begin());
            work();
            run();
        }
        now = until;
    }

    Duration now{1'000'000};

private:
    std::deque<port::Fn<void()>> posted_;
    std::map<std::pair<Duration, std::uint64_t>, port::Fn<void()>> timers_;
    std::uint64_t timers_ever_ = 0;
};

class TestClock final : public port::Clock {
public:
    explicit TestClock(TestLoop const& loop) : loop_(loop) {}
    [[nodiscard]] Time now() const override {
        return from_ms(1'800'000'000'000) + loop_.now + step;
    }
    [[nodiscard]] Duration monotonic() const override { return loop_.now; }

    Duration step{};  // how far wall time was moved

private:
    TestLoop const& loop_;
};

class TestEntropy final : public port::Entropy {
public:
    [[nodiscard]] Random random() override { return sha256("random " + std::to_string(++drawn_)); }

private:
    std::uint64_t drawn_ = 0;
};

enum class Fault { none, lost, hidden };  // hidden: durable, but reported as failed

// A journal that answers when the test says so, or fails. `Store` is constructed from a shared
// `Disk` that outlives it.
// `Shared`: other journals write to the same disk.
template <class Store, class Disk, bool Shared = false>
class TestJournal final : public port::Journal {
public:
    explicit TestJournal(TestLoop& loop) : loop_(loop) {}

    void commit(std::vector<port::Append> appends,
                port::Fn<void(std::vector<port::AppendResult>)> done) override {
        commits.push_back(appends.size());
        ++in_flight;
        most_in_flight = std::max(most_in_flight, in_flight);
        for (port::Append const& append : appends) sent.push_back(append);
        auto work = [this, appends = std::move(appends), done = std::move(done)]() mutable {
            auto results = finish(appends);
            --in_flight;
            if (auto const once = std::exchange(before_answer, {})) once();
            done(std::move(results));
        };
        if (hold) return held_.push_back(std::move(work));
        loop_.post(std::move(work));
    }
    void write(port::Fn<Result<void>(port::Store&)> work,
               port::Fn<void(Result<void>)> done) override {
        loop_.post([this, work = std::move(work), done = std::move(done)]() mutable {
            done(work(*store));
        });
    }
    void read(port::ReadKey /*key*/, port::Fn<void(port::Store&)> work,
              port::Fn<void()> done) override {
        ++reads;
        loop_.post([this, work = std::move(work), done = std::move(done)]() mutable {
            if (before_read) before_read();
            work(*store);
            if (hold_reads) return held_reads_.push_back(std::move(done));
            done();
        });
    }

    // Delivers the held answers, each as it was when the store was asked, and later ones at once.
    void release_reads() {
        hold_reads = false;
        for (auto& done : std::exchange(held_reads_, {})) done();
        loop_.run();
    }

    // Completes the oldest held commit.
    void release() {
        auto work = std::move(held_.front());
        held_.pop_front();
        work();
        loop_.run();
    }
    [[nodiscard]] std::size_t held() const { return held_.size(); }
    // The process dies: held commits are never made, and their callers get no answer.
    void drop_held() { held_.clear(); }

    // Reopens the store as a new process does.
    void reopen() { store = opened(); }
    [[nodiscard]] std::unique_ptr<Store> opened() {
        if constexpr (Shared) {
            return std::make_unique<Store>(disk, 100'000, true);
        } else {
            return std::make_unique<Store>(disk);
        }
    }

    std::shared_ptr<Disk> disk = std::make_shared<Disk>();
    std::unique_ptr<Store> store = opened();
    static constexpr bool shared = Shared;
    bool hold = false;
    std::function<void()> before_answer = {};  // called once, after the next commit
    std::function<void()> before_read = {};    // called before each read
    bool hold_reads = false;                   // answers wait for release_reads()
    Fault fault = Fault::none;                 // of the next commit that completes
    Code fault_code = Code::store_unavailable;
    std::vector<std::size_t> commits;  // number of appends in each
    std::vector<port::Append> sent;
    int in_flight = 0;
    int most_in_flight = 0;
    int reads = 0;

private:
    std::vector<port::AppendResult> finish(std::vector<port::Append> const& appends) {
        Fault const what = std::exchange(fault, Fault::none);
        std::vector<port::AppendResult> results(appends.size());
        if (what != Fault::lost) results = store->commit(appends);
        if (what == Fault::none) return results;
        for (port::AppendResult& result : results) result = fail(fault_code, "planted");
        return results;
    }

    TestLoop& loop_;
    std::deque<port::Fn<void()>> held_;
    std::vector<port::Fn<void()>> held_reads_;
};

// The processes that use a journal's store. If it is shared: those that the disk names.
template <class Journal> class TestNodes final : public port::Nodes {
public:
    TestNodes(TestLoop& loop, Journal& journal) : loop_(loop), journal_(journal) {}

    [[nodiscard]] Epoch epoch() const override { return journal_.store->epoch(); }
    [[nodiscard]] std::string const& name() const override { return named; }
    [[nodiscard]] bool alone() const override { return !Journal::shared; }
    [[nodiscard]] bool gone(Epoch epoch) const override {
        if constexpr (Journal::shared) {
            return !journal_.store->nodes().contains(epoch);
        } else {
            return epoch < this->epoch();
        }
    }
    [[nodiscard]] bool works(Epoch epoch) const override {
        if constexpr (Journal::shared) {
            return journal_.store->nodes().contains(epoch);
        } else {
            return epoch == this->epoch();
        }
    }
    [[nodiscard]] bool may_start() const override { return beats && !holds; }
    [[nodiscard]] bool has_share(std::uint64_t /*number*/) const override { return share; }
    [[nodiscard]] bool leads() const override { return first; }
    [[nodiscard]] bool held() const override { return holds; }
    void rejoin(port::Fn<void()> done) override {
        ++rejoined;
        if constexpr (Journal::shared) journal_.store->join();
        loop_.post(std::move(done));
    }

    std::string named = {};
    bool beats = true;  // the others know that this process lives
    bool share = true;
    bool first = true;
    bool holds = false;
    int rejoined = 0;

private:
    TestLoop& loop_;
    Journal& journal_;
};

// Started effects that wait for the test to answer.
class TestEffects final : public port::Effects, public port::AgentTerms {
public:
    struct Request {
        port::ModelRequest request;
        port::Fn<void(port::Delta)> delta;
        port::Outcome done;
    };
    struct Ran {
        SessionId session;
        session::EffectId id;
        session::RunTool run;
        port::Outcome done;
    };
    struct Gated {
        session::AskGate ask;
        port::Outcome done;
    };

    struct Polled {
        session::EffectId id;
        session::PollTool poll;
        port::Outcome done;
    };

    [[nodiscard]] bool computes(std::string const&) const override { return bool(computed); }
    [[nodiscard]] session::Command::Body compute(port::ModelRequest request) const override {
        return computed(request);
    }
    void ask_model(port::ModelRequest request, port::Fn<void(port::Delta)> delta,
                   port::Outcome done) override {
        ++starts;
        requests.push_back({std::move(request), std::move(delta), std::move(done)});
    }
    void run_tool(SessionId session, session::EffectId id, std::string, session::RunTool run,
                  port::Outcome done) override {
        ++starts;
        ran.push_back({session, id, std::move(run), std::move(done)});
    }
    void ask_gate(SessionId, session::EffectId, std::string, session::AskGate ask,
                  port::Outcome done) override {
        ++starts;
        gated.push_back({std::move(ask), std::move(done)});
    }
    void poll_tool(SessionId, session::EffectId id, std::string, session::PollTool poll,
                   port::Outcome done) override {
        ++starts;
        polled.push_back({id, std::move(poll), std::move(done)});
    }
    // Allows every turn.
    void ask_turn(port::TurnRequest request, port::Outcome done) override {
        done(session::TurnOutcome{request.ask.turn, request.ask.ended});
    }
    void notify_agent(SessionId, std::string const&, session::NotifyAgent const&) override {}
    [[nodiscard]] Epoch holder(std::string const&, Json const& state) const override {
        return static_cast<Epoch>(json::View(state)["holder"].integer_or(0));
    }
    void stop(SessionId, session::EffectId id) override { stopped.push_back(id); }
    void ended(SessionId, std::string const&) override {}
    [[nodiscard]] std::optional<Time> model_until(SessionId, session::EffectId) const override {
        return until;
    }
    [[nodiscard]] bool has_gate(std::string const& gate) const override {
        return !missing_gates.contains(gate);
    }
    [[nodiscard]] std::optional<std::uint64_t> view_tokens(std::string const&) const override {
        return std::nullopt;
    }
    [[nodiscard]] bool is_placed(std::string const& agent) const override {
        return agent == placed;
    }
    [[nodiscard]] std::string refusal(std::string const& agent,
                                      std::string const& /*project*/) const override {
        return agent == "elsewhere" ? "It serves another project." : "";
    }
    [[nodiscard]] session::Budgets budgets(std::string const&) const override { return limits; }
    [[nodiscard]] std::optional<session::TurnTerms> terms(std::string const&) const override {
        return turn_terms;
    }

    // Answers the newest request.
    void reply(std::vector<session::CallSpec> calls = {}) {
        Request one = std::move(requests.back());
        requests.pop_back();
        session::AskModel const& ask = one.request.ask;
        Json const parts = Json::trusted(R"([{"type":"text","text":"well"}])");
        one.done(session::ModelReply{ask.turn,
                                     ask.step,
                                     ask.attempt,
                                     session::FinishReason::stop,
                                     parts,
                                     std::move(calls),
                                     {}});
    }
    // Completes the newest tool run.
    void finish(decltype(session::ToolOutcome::what) what) {
        finish_at(ran.size() - 1, std::move(what));
    }
    // The n-th oldest.
    void finish_at(std::size_t n, decltype(session::ToolOutcome::what) what) {
        Ran one = std::move(ran.at(n));
        ran.erase(ran.begin() + static_cast<std::ptrdiff_t>(n));
        one.done(session::ToolOutcome{one.run.pending, one.run.attempt, std::move(what), {}});
    }

    std::vector<Request> requests;
    std::vector<Ran> ran;
    std::vector<Gated> gated;
    std::vector<Polled> polled;
    std::vector<session::EffectId> stopped;
    std::optional<Time> until;  // deadline of requests to the model
    std::set<std::string> missing_gates;
    std::string placed = {};  // the agent whose sessions continue only on one node
    // Set: the model of every agent computes its replies.
    std::function<session::Command::Body(port::ModelRequest const&)> computed;
    int starts = 0;
    session::Budgets limits;
    std::optional<session::TurnTerms> turn_terms = session::TurnTerms();
};

}  // namespace dormouse::runner::testing
