#pragma once
// The implementation of Runtime: a node whose loop runs on a thread of its own, and callback
// threads. Operations are posted to the loop and answer from there.

#include <dormouse/runtime.h>

#include "runtime/callbacks.h"
#include "runtime/engine/entrance.h"
#include "runtime/node.h"
#include "runtime/reply.h"

#include <atomic>
#include <mutex>
#include <thread>

namespace dormouse {

namespace runtime {
// Scopes the program's key to one caller and one kind of request. `content` is everything that a
// repeated request must have in common with the first.
[[nodiscard]] runner::Asker asker(std::string const& by, std::string_view what,
                                  std::string const& key, std::string_view content);
}  // namespace runtime

class Runtime::Engine {
public:
    [[nodiscard]] static Result<std::unique_ptr<Engine>> open(Settings settings);
    ~Engine();

    // See Runtime::close().
    bool close(Duration limit);

    // Any thread: `begin` runs on the loop and answers the reply once.
    template <class T> using Begin = port::Fn<void(runtime::Reply<T>)>;
    template <class T> [[nodiscard]] Result<T> block(Begin<T> begin);
    template <class T> void run(Begin<T> begin, Completion<T> done);

    // On the loop.
    void create(NewSession const& session, runtime::Reply<SessionId> reply);
    void ask(Question const& question, runtime::Reply<PendingId> reply);
    void prompt(SessionId session, std::string const& text, PromptOptions const& options,
                runtime::Reply<Accepted> reply);
    void submit(runtime::Entering what, runtime::Reply<Submitted> reply);
    void call(PendingId pending, runtime::Reply<CallView> reply);
    void submit_all(std::vector<runtime::Entering> offers,
                    runtime::Reply<std::vector<Result<Submitted>>> reply);
    void progress(PendingId pending, Json payload, std::string key, std::string const& by,
                  runtime::Reply<void> reply);
    void cancel(PendingId pending, CancelOptions options, runtime::Reply<Submitted> reply);
    void cancel(SessionId session, CancelOptions options, runtime::Reply<void> reply);
    void read_view(SessionId session, runtime::Reply<SessionView> reply);
    void wait_idle(SessionId session, Duration limit, runtime::Reply<SessionView> reply);
    void messages(SessionId session, runtime::Reply<std::vector<Message>> reply);
    void events(SessionId session, Seq after, runtime::Reply<std::vector<Event>> reply);
    void follow(SessionId session, Seq after, std::function<void(Event const&)> observer,
                std::function<void(std::string const&)> on_text, runtime::Reply<Following> reply);
    void follow_all(SessionId session, Seq after, std::function<void(Event const&)> observer,
                    runtime::Reply<Following> reply);
    void waiting(WaitingFilter const& filter, runtime::Reply<WaitingCalls> reply);
    void waiting_of_session(WaitingFilter const& filter, runtime::Reply<WaitingCalls> reply);
    void artifact(SessionId session, Seq seq, runtime::Reply<Artifact> reply);
    void release(runtime::Reply<void> reply);
    void move(SessionId session, session::Move::To to, std::string const& by,
              runtime::Reply<void> reply);

    // Outlives everything attached to it.
    [[nodiscard]] runtime::Node& node() { return node_; }
    // The directory, or ":memory:".
    [[nodiscard]] std::string const& store() const { return settings_.store; }

private:
    struct Follow;     // a reader of one session
    struct Family;     // a reader of one session and its descendants
    struct Resting;    // waits for a session to become idle
    struct Gathering;  // a list read from several sessions, one at a time
    Engine(Settings settings, runtime::OpenedStore store);

    void begin_to_end(Duration limit, port::Fn<void()> done);
    void offer(session::Submit command, std::string by,
               std::shared_ptr<runtime::Reply<Submitted>> const& reply);
    void refuse_closed(PendingId pending, Error error, std::function<void(Error)> reply);
    [[nodiscard]] Result<void> assemble();
    void add(agent::Tool tool);
    [[nodiscard]] agent::ToolResult run_tool(agent::Tool const& tool, agent::ToolCall const& call,
                                             std::stop_token stop);
    void add_task_tools();
    [[nodiscard]] Result<void> assemble_agents();
    [[nodiscard]] Result<void> assemble_turns();
    void allow(Operation operation, PendingId pending, std::string by, port::Fn<void()> then,
               port::Fn<void(Error)> refuse);
    void authorize(Operation operation, std::string by, PendingCall shown, port::Fn<void()> then,
                   port::Fn<void(Error)> refuse);
    void let_go();
    void pump(std::shared_ptr<Follow> const& follow);
    void hand_over(std::shared_ptr<Follow> const& follow, std::vector<Event> events);
    void text(SessionId session, port::Delta const& delta);
    void join(std::shared_ptr<Family> const& family, SessionId session, Seq after,
              runtime::Reply<void> joined);
    void join_child(std::shared_ptr<Family> const& family, SessionId child, Duration wait);
    void hand_over_output(std::shared_ptr<Follow> const& follow);
    void gather(std::shared_ptr<Gathering> const& gathering);

    Settings const settings_;
    // Shared with callbacks that may come while this is being destroyed.
    std::shared_ptr<std::atomic<bool>> const over_ = std::make_shared<std::atomic<bool>>(false);
    std::shared_ptr<runtime::Blocked> const blocked_ = std::make_shared<runtime::Blocked>();
    runtime::CallbacksOwner callbacks_;
    std::mutex closing_;
    runtime::NodeServices services_;
    runtime::Node node_;
    std::map<SessionId, std::vector<std::weak_ptr<Follow>>> listeners_;  // readers of streamed text
    std::vector<std::weak_ptr<Follow>> follows_;
    std::vector<std::weak_ptr<Resting>> resting_;
    std::thread thread_;  // last member: started after everything it uses
};

template <class T> Result<T> Runtime::Engine::block(Begin<T> begin) {
    if (*over_) return std::unexpected(runtime::ended());
    auto const wait = std::make_shared<runtime::Blocked::Wait<T>>();
    runtime::Reply<T> reply([blocked = blocked_, wait](Result<T> result) {
        blocked->answer(*wait, std::move(result));
    });
    callbacks_->post([begin = std::move(begin), reply = std::move(reply)]() mutable {
        begin(std::move(reply));
    });
    io::ToolThreads::Waiting const as_tool(node_.threads);
    io::ToolThreads::Waiting const as_callback(callbacks_->threads());
    return blocked_->wait(*wait);
}

template <class T> void Runtime::Engine::run(Begin<T> begin, Completion<T> done) {
    auto const then = std::make_shared<Completion<T>>(std::move(done));
    runtime::Reply<T> reply([callbacks = callbacks_.share(), then](Result<T> result) {
        callbacks->run([callbacks, then, result = std::move(result)]() mutable {
            callbacks->notes().guard("a completion", [&] { (*then)(std::move(result)); });
        });
    });
    if (*over_) return reply(std::unexpected(runtime::ended()));
    callbacks_->post([begin = std::move(begin), reply = std::move(reply)]() mutable {
        begin(std::move(reply));
    });
}

}  // namespace dormouse
