#include "http/resources/read_part.h"

#include "runner/read/read_history.h"

namespace dormouse::http {

void read_pending(Api& api, PendingId const& pending, port::Fn<void(Result<Snapshot>)> done) {
    runner::read_pending(api.services().runner, api.services().journal, pending, std::move(done));
}

void read_history_from(Api& api, SessionId session, Seq from,
                       port::Fn<void(Result<Snapshot>)> done) {
    runner::read_history_from(api.services().runner, session, from, std::move(done));
}

void read_open_calls(Api& api, SessionId session, port::Fn<void(Result<Snapshot>)> done) {
    runner::read_open_calls(api.services().runner, session, std::move(done));
}

}  // namespace dormouse::http
