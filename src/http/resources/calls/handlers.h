#pragma once
// Pending calls: outcomes, lists, claims, capability URLs. The handlers that routes.cc names.

#include "http/resources/shared.h"

namespace dormouse::server {

// outcomes.cc
void post_result(Api& api, ExchangePtr const& x);
void post_error(Api& api, ExchangePtr const& x);
void post_decision(Api& api, ExchangePtr const& x);
void post_progress(Api& api, ExchangePtr const& x);
void post_claim(Api& api, ExchangePtr const& x);
void delete_pending(Api& api, ExchangePtr const& x);
void post_capability(Api& api, ExchangePtr const& x);
// pending.cc
void list_pending(Api& api, ExchangePtr const& x);
void get_pending(Api& api, ExchangePtr const& x);
void get_capability(Api& api, ExchangePtr const& x);
// batch.cc
void post_results(Api& api, ExchangePtr const& x);

// What capabilities get of a receipt: {status, digest, at}.
[[nodiscard]] std::string brief_receipt(session::Receipt const& receipt);
// outcomes.cc: submits an outcome; `done` gets the answer, which may be a problem.
void submit_to(Api& api, ExchangePtr const& x, session::Submit command,
               port::Fn<void(HttpReply)> done);
// Reads `result` or `error` of an object that is at `pointer`, and gives its pendingID.
[[nodiscard]] std::string read_outcome(Body& body, std::string const& pointer, bool is_error,
                                       session::Submission& what);

}  // namespace dormouse::server
