#pragma once
// The part of a shared store that most tests of one process do not use: this process is asked
// first, and takes every message.

#include "port/shared_store.h"

namespace dormouse::runtime {

class AgreeingStore : public port::SharedStore {
public:
    [[nodiscard]] Result<port::NumberBlock> take_numbers() override { return port::NumberBlock{}; }
    [[nodiscard]] Result<std::string> agree(std::string const& /*name*/,
                                            std::string const& proposed) override {
        return proposed;
    }
    [[nodiscard]] Result<std::vector<port::SharedValue>> values(
        std::string const& /*prefix*/) override {
        return std::vector<port::SharedValue>();
    }
    [[nodiscard]] Result<bool> exchange(port::SharedValue const& /*next*/) override { return true; }
    [[nodiscard]] Result<std::vector<port::OutboxKey>> claim(std::span<port::OutboxKey const> keys,
                                                             Time /*now*/,
                                                             Time /*until*/) override {
        return std::vector(keys.begin(), keys.end());
    }
    [[nodiscard]] Result<std::vector<port::OutboxKey>> renew(
        std::span<port::OutboxClaim const> claims, Time /*until*/) override {
        std::vector<port::OutboxKey> out;
        for (port::OutboxClaim const& claim : claims) out.push_back(claim.key);
        return out;
    }
    [[nodiscard]] Result<bool> delivered_since(std::string const& /*target*/,
                                               Time /*since*/) override {
        return false;
    }
    [[nodiscard]] Result<std::vector<std::string>> receive(Duration /*limit*/) override {
        return std::vector<std::string>();
    }
    void end_wait() override {}
    [[nodiscard]] Result<void> publish(std::span<std::string const> /*texts*/) override {
        return {};
    }
    [[nodiscard]] std::string failure() const override { return {}; }
};

}  // namespace dormouse::runtime
