#pragma once
// Counts operations per second (or another window) and key. Memory is bounded: when a window has
// more keys than the limit, the later keys share one count.

#include "port/world.h"

#include <cstdint>
#include <string>
#include <unordered_map>

namespace dormouse::http {

class Rate {
public:
    // More calls than one server settles in a second, so that normal clients never share a count.
    static constexpr std::size_t keys_most = 50'000;

    Rate(port::Clock const& clock, std::uint32_t per_second, Duration window = Duration(1'000))
        : clock_(clock), per_second_(per_second), window_(window) {}

    // Counts continue.
    void set_limit(std::uint32_t per_second) { per_second_ = per_second; }

    // Returns the count of this second, without counting.
    [[nodiscard]] std::uint32_t count(std::string const& key) const {
        if (clock_.monotonic() / window_ != second_) return 0;
        bool const known = counts_.size() < keys_most || counts_.contains(key);
        auto const found = counts_.find(known ? key : std::string());
        return found == counts_.end() ? 0 : found->second;
    }
    [[nodiscard]] bool spent(std::string const& key) const { return count(key) >= per_second_; }

    // Counts one operation. Returns false if that is over the limit of this second.
    [[nodiscard]] bool take(std::string const& key) {
        std::int64_t const second = clock_.monotonic() / window_;
        if (second != second_) counts_.clear();
        second_ = second;
        bool const known = counts_.size() < keys_most || counts_.contains(key);
        return ++counts_[known ? key : std::string()] <= per_second_;
    }

private:
    port::Clock const& clock_;
    std::uint32_t per_second_;  // in a window
    Duration const window_;
    std::int64_t second_ = 0;
    std::unordered_map<std::string, std::uint32_t> counts_;
};

}  // namespace dormouse::http
