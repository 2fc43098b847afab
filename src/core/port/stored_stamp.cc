#include "port/stored_stamp.h"

namespace dormouse::port {

Result<Stamp> stored_stamp(JournalStore& store, SessionId session, Frame const& frame) {
    if (auto* const other = dynamic_cast<OtherForm*>(&store))
        return other->stored_stamp(session, frame);
    return stamp_of(session, frame);
}

}  // namespace dormouse::port
