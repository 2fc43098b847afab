#pragma once
// Handlers for pending calls: outcomes, lists, claims, capability URLs. Used by routes.cc.

#include "http/resources/shared.h"

namespace dormouse::http {

// outcomes.cc
void post_result(Api& api, ExchangePtr const& x);
void post_error(Api& api, ExchangePtr const& x);
void post_decision(Api& api, ExchangePtr const& x);
void post_progress(Api& api, ExchangePtr const& x);
void post_claim(Api& api, ExchangePtr const& x);
void post_reassign(Api& api, ExchangePtr const& x);
void delete_pending(Api& api, ExchangePtr const& x);
void post_capability(Api& api, ExchangePtr const& x);
// ask.cc
void post_pending(Api& api, ExchangePtr const& x);
// pending.cc
void list_pending(Api& api, ExchangePtr const& x);
void get_pending(Api& api, ExchangePtr const& x);
void get_capability(Api& api, ExchangePtr const& x);
// callback_url.cc
void post_callback_url(Api& api, ExchangePtr const& x);
// batch.cc
void post_results(Api& api, ExchangePtr const& x);

// Returns the receipt as capabilities see it: {status, digest, at}.
[[nodiscard]] std::string brief_receipt(session::Receipt const& receipt);
// reassign.cc: why nobody of this name can answer calls; nullopt: it is a person, or "role:…".
[[nodiscard]] std::optional<Error> wrong_answerer(std::string_view name,
                                                  std::string const& pointer);
// outcomes.cc: submits an outcome; `done` receives the reply, which may be a problem.
void submit_to(Api& api, ExchangePtr const& x, session::Submit command,
               port::Fn<void(HttpReply)> done);
// outcomes.cc: fails the request with the error and the receipt that the caller may see.
void fail_with_receipt(Api& api, ExchangePtr const& x, PendingId const& pending, Error error);
// Reads `result` or `error` of the object at `pointer` into `what` and returns its pendingID.
[[nodiscard]] std::string read_outcome(Body& body, std::string const& pointer, bool is_error,
                                       session::Submission& what);

}  // namespace dormouse::http
