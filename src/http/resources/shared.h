#pragma once
// Shared by handlers: reads of sessions, numbers of a query, bodies read off the loop, waits.

#include "http/objects/body.h"
#include "http/resources/api.h"
#include "runner/read/read_history.h"

namespace dormouse::http {

inline constexpr std::string_view bring_gate_back =
    "put the gate back into the configuration and reload it (dormouse reload); or cancel the call";

[[nodiscard]] inline Error not_found() { return {Code::not_found, "This id was not found."}; }

[[nodiscard]] inline Error history_gone() {
    return {Code::history_gone, "This part of the session's history was removed by retention."};
}
// Returns the error for a session that was deleted after it was created or found by its key.
[[nodiscard]] inline Error gone_since(Error error) {
    if (error.code != Code::not_found) return error;
    return {Code::session_gone, "This session was deleted."};
}
// Returns the error for what is not in the history: history_gone if retention deleted it, else
// not_found.
[[nodiscard]] inline Error missing(session::State const& state, PendingId const& pending) {
    return pending.call <= state.base.call ? history_gone() : not_found();
}
[[nodiscard]] inline Error missing(session::State const& state, Seq seq) {
    return seq <= state.base.through ? history_gone() : not_found();
}

// Reads state and history of a session at one moment, both durable.
using runner::Snapshot;
void read_history(Api& api, SessionId session, port::Fn<void(Result<Snapshot>)> done);
// Reads the part of the history that one pending call needs: the step that made it, its progress,
// and the step that used its outcome.
void read_pending(Api& api, PendingId const& pending, port::Fn<void(Result<Snapshot>)> done);
// Reads the history from an event on.
void read_history_from(Api& api, SessionId session, Seq from,
                       port::Fn<void(Result<Snapshot>)> done);

// Reads `limit` (1-200) and other numbers of a query; keeps the first error.
struct Query {
    HttpRequest const& request;
    std::optional<Error> error = {};

    [[nodiscard]] std::uint64_t number(std::string_view name, std::uint64_t by_default,
                                       std::uint64_t least, std::uint64_t most);
    // `wait`: seconds, 0 to 50.
    [[nodiscard]] Duration wait();
};

// Calls `read` on the body of `x`, on a worker thread when it is large, and continues with its
// value. Answers the request if `read` fails. `read` may use only what does not change in `x`.
template <class T>
void read_aside(Api& api, ExchangePtr const& x, port::Fn<Result<T>()> read,
                port::Fn<void(T)> then) {
    auto const result = std::make_shared<std::optional<Result<T>>>();
    api.run_for_body(
        x, [result, read = std::move(read)]() mutable { result->emplace(read()); },
        [x, result, then = std::move(then)]() mutable {
            if (!**result) return x->fail((*result)->error());
            then(std::move(***result));
        });
}

// Calls `done` after the first append of the session for which `ready` returns true, when `time` is
// over, or when the client has gone; at once if `ready` is already true. `ready` sees durable
// state. Frees the body of `x` if it waits, as wait_for_change() does.
void wait_until(Api& api, std::shared_ptr<runner::Lane> lane, Duration time, ExchangePtr x,
                std::function<bool(session::State const&)> ready, port::Fn<void()> done);

// Calls `done` at the next change of a pending call of the session (of the project if there is no
// session), at `until`, or when the client has gone.
void wait_for_change(Api& api, port::Projects const& projects, std::optional<SessionId> session,
                     Time until, ExchangePtr x, port::Fn<void()> done);

// input.cc: reads the parts of a message from `text` or `parts` of a body.
struct Input {
    Json parts;
    std::string text;
    std::vector<session::InputFile> files = {};
    bool only_text = true;
};
[[nodiscard]] std::optional<Input> read_input(Body& body);
// Reads the files of `body`, which are the member `files`, and their parts. nullopt: there are
// none, or `body` has the error.
[[nodiscard]] std::optional<Input> read_files(Body& body);
// Reads an image or a file with its bytes: the members mime, name, alt and data. nullopt: `fields`
// has the error.
[[nodiscard]] std::optional<session::Artifact> read_file(Body& fields, std::string const& type);

}  // namespace dormouse::http
