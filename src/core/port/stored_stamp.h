#pragma once
// Stamps of frames that a store holds in another form than it returns them.

#include "port/store.h"

namespace dormouse::port {

// Implemented by a store that returns other bytes of a frame than it holds. Its stamps are those of
// the bytes that it holds, so stamp_of() of a frame that was read is another one.
class OtherForm {
public:
    virtual ~OtherForm() = default;
    // Returns the stamp of the stored frame in the place of this one. Called by the reader.
    [[nodiscard]] virtual Result<Stamp> stored_stamp(SessionId session, Frame const& frame) = 0;
};

// The stamp, as load() and newest() report them, of a frame that was read from this store.
[[nodiscard]] Result<Stamp> stored_stamp(JournalStore& store, SessionId session,
                                         Frame const& frame);

}  // namespace dormouse::port
