#pragma once
// Handlers for the tasks of a session. Used by routes.cc.

#include "http/resources/shared.h"

namespace dormouse::http {

// task.cc
void list_tasks(Api& api, ExchangePtr const& x);
void start_task(Api& api, ExchangePtr const& x);
// task_tree.cc
void list_task_tree(Api& api, ExchangePtr const& x, SessionId session);
void post_report(Api& api, ExchangePtr const& x);
void resume_task(Api& api, ExchangePtr const& x);
void cancel_task(Api& api, ExchangePtr const& x);
void delete_task(Api& api, ExchangePtr const& x);
void get_task_output(Api& api, ExchangePtr const& x);

}  // namespace dormouse::http
