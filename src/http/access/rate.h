#pragma once
// How often something may be done in one second, by a key. Memory is bounded: in a second with more
// keys than it keeps, those that came later share one count.

#include "port/world.h"

#include <cstdint>
#include <string>
#include <unordered_map>

namespace dormouse::server {

class Rate {
public:
    // More calls than one server settles in a second: those that are honest never share a count.
    static constexpr std::size_t keys_most = 50'000;

    Rate(port::Clock const& clock, std::uint32_t per_second)
        : clock_(clock), per_second_(per_second) {}

    // So many were counted in this second. Counts nothing.
    [[nodiscard]] std::uint32_t count(std::string const& key) const {
        if (clock_.monotonic().count() / 1000 != second_) return 0;
        bool const known = counts_.size() < keys_most || counts_.contains(key);
        auto const found = counts_.find(known ? key : std::string());
        return found == counts_.end() ? 0 : found->second;
    }
    [[nodiscard]] bool spent(std::string const& key) const { return count(key) >= per_second_; }

    // Counts one more; false: that is too many in this second.
    [[nodiscard]] bool take(std::string const& key) {
        std::int64_t const second = clock_.monotonic().count() / 1000;
        if (second != second_) counts_.clear();
        second_ = second;
        bool const known = counts_.size() < keys_most || counts_.contains(key);
        return ++counts_[known ? key : std::string()] <= per_second_;
    }

private:
    port::Clock const& clock_;
    std::uint32_t const per_second_;
    std::int64_t second_ = 0;
    std::unordered_map<std::string, std::uint32_t> counts_;
};

}  // namespace dormouse::server
