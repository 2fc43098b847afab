#include "store/sqlite/schema/layout.h"

#include "store/sqlite/schema/short_form.h"

#include <cstdlib>
#include <string>

namespace dormouse::store::sqlite {
port::NewestFrame newest_frame(SessionId session, std::int64_t key, std::int64_t n,
                               std::int64_t sum, std::string_view bytes) {
    auto const count = static_cast<std::uint32_t>(std::abs(n));
    Seq const head = seq_of(key) + count - 1;
    if (!is_short_sum(sum)) return {head, port::Stamp{static_cast<std::uint64_t>(sum)}};
    return {head, port::stamp_of(session, {seq_of(key), count, long_form(session, bytes)})};
}

}  // namespace dormouse::store::sqlite
