#pragma once
// Encrypts and decrypts the rows of a store: which of their members are contents, and in what form
// a store holds them. A value that a store keeps as text stays a text.

#include "port/store_rows.h"
#include "store/sealed/sealer.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::store {

class Contents {
public:
    // `sealer` outlives it.
    explicit Contents(Sealer& sealer) : sealer_(sealer) {}

    // REQUIRES for all that encrypt: Sealer::prepare() succeeded.
    [[nodiscard]] port::Append sealed(port::Append const& append);
    [[nodiscard]] port::OutboxUpdate sealed(port::OutboxUpdate update);
    [[nodiscard]] port::KeptRow sealed(port::KeptRow row);
    [[nodiscard]] port::DeviceRow sealed(port::DeviceRow row);
    [[nodiscard]] std::string sealed_frame(SessionId session, port::Frame const& frame);
    [[nodiscard]] std::string sealed_artifact(SessionId session, Seq seq, std::string_view bytes);

    // Decrypt in place. Errors: internal; `detail` names what is damaged.
    [[nodiscard]] Result<void> open(SessionId session, port::Frame& frame);
    [[nodiscard]] Result<void> open(SessionId session, std::vector<port::Frame>& frames);
    [[nodiscard]] Result<void> open(port::Loaded& loaded);
    [[nodiscard]] Result<void> open(port::OutboxRow& row);
    [[nodiscard]] Result<void> open(SessionId session, port::SentRow& row);
    [[nodiscard]] Result<void> open(port::KeptRow& row);
    [[nodiscard]] Result<void> open(port::DeviceRow& row);
    [[nodiscard]] Result<void> open(port::RuleRow& row);
    [[nodiscard]] Result<void> open_secret(SessionId session, CallNo call, Generation generation,
                                           std::string& secret);
    // A damaged title harms no list: a text says so in its place.
    void open(port::SessionRow& row);
    // A damaged row has no events: `count` is 0.
    void open(port::FeedRow& row);
    // nullopt: damaged.
    [[nodiscard]] std::optional<std::string> opened_artifact(SessionId session, Seq seq,
                                                             std::string_view stored);
    // Opens some whole pieces, from number `first` on. REQUIRES: is_sealed_artifact(stored).
    [[nodiscard]] std::optional<std::string> opened_pieces(SessionId session, Seq seq,
                                                           std::string_view stored,
                                                           std::uint64_t first);
    [[nodiscard]] bool is_sealed_frame(std::string_view stored);
    [[nodiscard]] bool is_sealed_artifact(std::string_view stored);

    // Artifacts are encrypted in pieces, so that a part can be read.
    static constexpr std::size_t piece_bytes = std::size_t{64} << 10;
    static constexpr std::size_t sealed_piece_bytes = piece_bytes + 1 + Sealer::overhead;

    [[nodiscard]] static std::unexpected<Error> damaged(std::string const& what);

private:
    void seal_title(port::SessionRow& row);
    void seal(port::OutboxRow& row);
    void seal(SessionId session, port::SentRow& row);

    Sealer& sealer_;
};

}  // namespace dormouse::store
