#pragma once
// An observer that calls the functions set by a test, and ignores the rest.

#include "runner/observer.h"

#include <functional>

namespace dormouse::runner::testing {

class TestObserver final : public Observer {
public:
    void delta(SessionId session, session::AskModel const& ask, port::Delta const& delta) override {
        if (on_delta) on_delta(session, ask, delta);
    }
    void appended(Lane const& lane, std::vector<wire::RecordPtr> const& records) override {
        if (on_append) on_append(lane, records);
    }
    void outbox_added() override {}
    void delivered(session::OutboxKey const& key, Result<session::Answer> const& answer) override {
        if (on_delivered) on_delivered(key, answer);
    }
    void swept(std::size_t sessions) override {
        if (on_swept) on_swept(sessions);
    }
    void failed() override {
        if (on_failed) on_failed();
    }

    std::function<void(SessionId, session::AskModel const&, port::Delta const&)> on_delta;
    std::function<void(Lane const&, std::vector<wire::RecordPtr> const&)> on_append;
    std::function<void(session::OutboxKey const&, Result<session::Answer> const&)> on_delivered;
    std::function<void(std::size_t)> on_swept;
    std::function<void()> on_failed;
};

}  // namespace dormouse::runner::testing
