#pragma once
// The door to sessions that every face shares (HTTP, the library): outcomes with the digests that
// receipts are compared by, and the checks that the core leaves to whoever knows schemas. On the
// loop.

#include "port/catalogue.h"
#include "port/effects.h"
#include "runner/runner.h"
#include "wire/history.h"

namespace dormouse::door {

// design/02, "Digest for receipts".
[[nodiscard]] session::Submission result(Json output, std::string title = {}, Json metadata = {});
[[nodiscard]] session::Submission error(std::string text);
// `arguments` and `content`: null where there are none.
[[nodiscard]] session::Submission decision(bool approved, std::string reason, Json arguments,
                                           Json content);
// "sha256:" and 64 hex digits; nullopt: it is something else.
[[nodiscard]] std::optional<Sha256> parse_digest(std::string_view text);

// A text of a person as a prompt.
[[nodiscard]] session::Prompt prompt(std::string_view text);

// All records of a session folded for people, and its lane at that moment.
struct Snapshot {
    std::shared_ptr<runner::Lane> lane;
    wire::History history;
};
void read_history(runner::Runner& runner, SessionId session, port::Fn<void(Result<Snapshot>)> done);

struct Context {
    runner::Runner& runner;
    port::Catalogue& catalogue;
    port::Workers* workers = nullptr;  // null: all values are checked on the loop
};

// Checks what is offered against the call as it stands, by its schema and by the tool's own code,
// and offers it. What `context` names lives until `reply`.
// Errors: those of the core; invalid_result and invalid_arguments with extra {"errors": […]};
// reentry_gone when the tool or gate that asked is not registered any more; overloaded when too
// many large values wait to be checked.
void submit(Context context, session::Submit command, runner::Asker asker,
            runner::Runner::Reply reply);

}  // namespace dormouse::door
