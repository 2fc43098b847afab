#pragma once
// What a store may offer beside port::Store, for whoever sends an artifact out a piece at a time.

#include <dormouse/error.h>
#include <dormouse/id.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace dormouse::port {

class PieceReader {
public:
    virtual ~PieceReader() = default;
    // Up to `count` bytes of an artifact from `offset` on, fewer only at its end; nullopt: there is
    // none. Not compared with its checksum, which is of the whole. Called by the store's reader.
    [[nodiscard]] virtual Result<std::optional<std::string>> artifact_piece(SessionId session,
                                                                            Seq seq,
                                                                            std::uint64_t offset,
                                                                            std::size_t count) = 0;
};

}  // namespace dormouse::port
