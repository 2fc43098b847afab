#pragma once
// Handlers for the server: health, metrics, catalogue, doctor, retention, repair. Used by
// routes.cc.

#include "http/resources/shared.h"
#include "port/measure.h"

namespace dormouse::http {

// server.cc
void get_health(Api& api, ExchangePtr const& x);
void get_ready(Api& api, ExchangePtr const& x);
void get_agents(Api& api, ExchangePtr const& x);
void get_tools(Api& api, ExchangePtr const& x);
void get_openapi(Api& api, ExchangePtr const& x);
void get_metrics(Api& api, ExchangePtr const& x);
void get_explain(Api& api, ExchangePtr const& x);
// doctor.cc
void get_doctor(Api& api, ExchangePtr const& x);
// retention.cc
void post_retention(Api& api, ExchangePtr const& x);
// retention_messages.cc
void post_retention_messages(Api& api, ExchangePtr const& x);
// audit.cc
void get_audit(Api& api, ExchangePtr const& x);
// nodes.cc
void get_nodes(Api& api, ExchangePtr const& x);
void get_starts(Api& api, ExchangePtr const& x);
void get_config(Api& api, ExchangePtr const& x);
// release.cc
void post_release(Api& api, ExchangePtr const& x);
// import_sessions.cc
void post_import(Api& api, ExchangePtr const& x);
// copy_now.cc
void post_copy(Api& api, ExchangePtr const& x);
// reload.cc
void post_reload(Api& api, ExchangePtr const& x);
// repair.cc
void post_repair(Api& api, ExchangePtr const& x);

// server.cc: what GET /metrics shows.
void collect_metrics(Services& services, port::Fn<void(std::vector<port::MeasureFamily>)> done);
// server.cc: answers with the metrics in Prometheus' text format.
void answer_metrics(Services& services, std::shared_ptr<Responder> responder);

}  // namespace dormouse::http
