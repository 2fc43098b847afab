#pragma once
// A runner in a world that a test controls, also after a restart.

#include "runner/runner.h"
#include "runner/testing/catalogue.h"
#include "runner/testing/observer.h"
#include "runner/testing/world.h"
#include "session/testing/given.h"

#include <gtest/gtest.h>

namespace dormouse::runner::testing {

template <class Journal> class RunnerTestOn : public ::testing::Test {
protected:
    explicit RunnerTestOn(bool checks = false) : checks(checks) { open(); }

    void open(std::size_t resident_max = 4'096) {
        runner.reset();
        journal.reopen();
        Options options;
        options.numbers.first = journal.store->next_session_number();
        options.rules = journal.store->rules().value();
        options.resident_max = resident_max;
        options.resident_bytes = resident_bytes;
        options.completed_after = completed_after;
        options.audit_after = audit_after;
        runner = std::make_unique<Runner>(
            Runner::Services{loop, clock, entropy, journal, nodes, effects, effects, nullptr,
                             checks ? &catalogue : nullptr},
            options, observer);
    }
    // A new process with the same data; what the old one ran is lost.
    void restart(std::size_t resident_max = 4'096) {
        loop.run();
        effects.requests.clear();
        effects.ran.clear();
        effects.starts = 0;
        open(resident_max);
    }

    static session::Create demo(std::string project = "default") {
        return {{}, std::move(project), "demo", {}, {}, {}, {}, {}, {}};
    }
    static Asker ann(std::string key = {}, std::string digest = "d") {
        return {{session::ActorType::token, "ann"}, std::move(key), std::move(digest)};
    }
    // Creates a session; the result is added to `created` or `answers`.
    void ask_for_session(session::Create create, Asker asker) {
        runner->create(std::move(create), std::move(asker), [this](Result<Created> made) {
            answers.push_back(made ? answer_of(made->answer)
                                   : answer_of(std::unexpected(made.error())));
            if (made) created.push_back(made->session);
        });
    }
    SessionId new_session() {
        ask_for_session(demo(), ann());
        loop.run();
        return created.back();
    }
    std::string ask(SessionId session, session::Command::Body body) {
        runner->command(session, std::move(body), ann(), [this](Result<session::Answer> answer) {
            answers.push_back(answer_of(answer));
        });
        loop.run();
        return answers.back();
    }
    static session::Prompt prompt(std::string const& text) {
        session::Prompt out;
        out.parts = session::testing::Given::parts(text);
        return out;
    }
    // A session with a call that waits for its result until `timeout`.
    SessionId waiting_session(Duration timeout) {
        SessionId const session = new_session();
        (void)ask(session, prompt("please"));
        effects.reply({session::testing::job()});
        loop.run();
        session::PauseTerms pause;
        pause.timeout = timeout;
        effects.finish(pause);
        loop.run();
        return session;
    }
    [[nodiscard]] session::State stored(SessionId session) {
        auto read = read_session(*journal.store, session);
        return read ? std::move(read->state) : session::State();
    }
    static std::string answer_of(Result<session::Answer> const& answer) {
        return session::testing::answer_of(session::Decision{{}, answer, {}});
    }

    TestLoop loop;
    TestClock clock{loop};
    TestEntropy entropy;
    Journal journal{loop};
    TestNodes<Journal> nodes{loop, journal};
    TestEffects effects;
    TestCatalogue catalogue;
    TestObserver observer;
    bool const checks;  // the catalogue checks values of submissions
    std::unique_ptr<Runner> runner;
    std::size_t resident_bytes = std::size_t{256} << 20;  // of the next open(), as those below
    std::optional<Duration> completed_after;
    std::optional<Duration> audit_after;
    std::vector<SessionId> created;
    std::vector<std::string> answers;
};

}  // namespace dormouse::runner::testing
