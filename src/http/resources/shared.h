#pragma once
// What handlers share: readings of sessions, numbers of a query, bodies read beside the loop,
// waits.

#include "http/objects/body.h"
#include "http/resources/api.h"
#include "runner/read_history.h"

namespace dormouse::server {

inline constexpr std::string_view bring_gate_back =
    "put the gate back into the configuration and restart the server; or cancel the call";

[[nodiscard]] inline Error not_found() {
    return {Code::not_found, "There is nothing with this id."};
}

[[nodiscard]] inline Error history_gone() {
    return {Code::history_gone, "This part of the session's history was removed by retention."};
}
// Why a session that was just made, or found by the key that made it, is not shown: it was deleted
// in between.
[[nodiscard]] inline Error gone_since(Error error) {
    if (error.code != Code::not_found) return error;
    return {Code::session_gone, "This session was deleted."};
}
// What is not in its session's history: because retention took it, or it never was.
[[nodiscard]] inline Error missing(session::State const& state, PendingId const& pending) {
    return pending.call <= state.base.call ? history_gone() : not_found();
}
[[nodiscard]] inline Error missing(session::State const& state, Seq seq) {
    return seq <= state.base.through ? history_gone() : not_found();
}

// State and history of a session at one moment, both durable.
using runner::Snapshot;
void read_history(Api& api, SessionId session, port::Fn<void(Result<Snapshot>)> done);
// The same with the part of the history that one pending call needs: what made it, what was said of
// it, and who used its outcome.
void read_pending(Api& api, PendingId const& pending, port::Fn<void(Result<Snapshot>)> done);
// With what happened from an event on.
void read_history_from(Api& api, SessionId session, Seq from,
                       port::Fn<void(Result<Snapshot>)> done);

// `limit` (1-200, else `usual`) and other numbers of a query; the first bad one is the error.
struct Query {
    HttpRequest const& request;
    std::optional<Error> error = {};

    [[nodiscard]] std::uint64_t number(std::string_view name, std::uint64_t usual,
                                       std::uint64_t least, std::uint64_t most);
    // `wait`: seconds, 0 to 50.
    [[nodiscard]] Duration wait();
};

// Reads what the body of `x` says, beside the loop when it is large, and goes on with that. What
// cannot be taken has been answered. `read` uses of `x` what does not change.
template <class T>
void read_aside(Api& api, ExchangePtr const& x, port::Fn<Result<T>()> read,
                port::Fn<void(T)> then) {
    auto const said = std::make_shared<std::optional<Result<T>>>();
    api.aside(
        x, [said, read = std::move(read)]() mutable { said->emplace(read()); },
        [x, said, then = std::move(then)]() mutable {
            if (!**said) return x->fail((*said)->error());
            then(std::move(***said));
        });
}

// Calls `done` as soon as `ready` says so after an append of the session, or when `time` is up, or
// when the client has gone; at once if it is so already. `ready` sees durable state.
void wait_until(Api& api, std::shared_ptr<runner::Lane> lane, Duration time, ExchangePtr x,
                std::function<bool(session::State const&)> ready, port::Fn<void()> done);

// Calls `done` with the next change of a pending call of the session, or of the project without
// one; or when it is `until`; or when the client has gone.
void wait_for_change(Api& api, std::string const& project, std::optional<SessionId> session,
                     Time until, ExchangePtr x, port::Fn<void()> done);

// input.cc: the parts of a message from `text` or `parts` of a body.
struct Input {
    Json parts;
    std::string text;
    std::vector<session::InputFile> files = {};
    bool only_text = true;
};
[[nodiscard]] std::optional<Input> read_input(Body& body);
// Why something is cancelled; empty: nobody says.
[[nodiscard]] std::string cancel_reason(Body& body);
// An image or a file with its bytes: the members mime, name, alt and data. nullopt: `fields` says
// why not.
[[nodiscard]] std::optional<session::Artifact> read_file(Body& fields, std::string const& type);

}  // namespace dormouse::server
