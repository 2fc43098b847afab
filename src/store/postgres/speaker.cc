#include "store/postgres/speaker.h"

namespace dormouse::store::postgres {

Result<void> Speaker::publish(std::span<std::string const> texts) {
    auto const connection = session_.connection(wait);
    if (!connection) return std::unexpected(connection.error().error);
    Call call{"SELECT count(pg_notify($1, one)) FROM unnest($2::text[]) AS one"};
    call.parameters.text(session_.address().schema).texts(texts);
    auto const done = (*connection)->run(call, wait);
    if (!done) return std::unexpected(done.error().error);
    return {};
}

}  // namespace dormouse::store::postgres
