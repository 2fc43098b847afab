#pragma once
// Data keys in memory, and randomness that repeats, for tests.

#include "base/crypto/sha256.h"
#include "port/data_keys.h"
#include "port/world.h"
#include "store/sealed/sealer.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::store {

class MemoryKeys final : public port::DataKeyStore {
public:
    [[nodiscard]] Result<std::vector<port::DataKeyRow>> data_keys() override {
        std::vector<port::DataKeyRow> out;
        for (auto const& [id, row] : rows) out.push_back(row);
        return out;
    }
    [[nodiscard]] Result<void> put_data_keys(std::span<port::DataKeyRow const> some) override {
        for (port::DataKeyRow const& row : some) rows[row.id] = row;
        return {};
    }

    std::map<std::string, port::DataKeyRow> rows;
};

// Another value at each call, in all objects.
class CountingEntropy final : public port::Entropy {
public:
    [[nodiscard]] Random random() override {
        static std::uint64_t count = 0;
        return sha256(std::to_string(++count));
    }
};

inline std::string const key_a = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
inline std::string const key_b = "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=";

inline Result<std::unique_ptr<Sealer>> make_sealer(port::DataKeyStore& keys,
                                                   std::string const& masters, bool empty = true) {
    auto made = Sealer::make(MasterKeys::parse(masters).value(), keys,
                             std::make_unique<CountingEntropy>(), empty);
    if (!made) return made;
    if (auto ready = (*made)->prepare(); !ready) return std::unexpected(ready.error());
    return made;
}

}  // namespace dormouse::store
