#pragma once
// A set of page numbers, from 1.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace dormouse::store::sqlite {

class PageSet {
public:
    void add(std::uint32_t page) {
        if (page >= bits_.size()) bits_.resize(std::max<std::size_t>(page + 1, bits_.size() * 2));
        bits_[page] = true;
    }
    [[nodiscard]] bool has(std::uint32_t page) const {
        return all_ || (page < bits_.size() && bits_[page]);
    }
    // Every page, whatever their number is.
    void add_all() { all_ = true; }
    void add(PageSet const& other) {
        all_ = all_ || other.all_;
        if (bits_.size() < other.bits_.size()) bits_.resize(other.bits_.size());
        for (std::size_t i = 0; i < other.bits_.size(); ++i)
            if (other.bits_[i]) bits_[i] = true;
    }
    // Removes and returns at most `most` of the pages 1 to `last`: first those from `from`. The
    // pages after `last` are removed.
    [[nodiscard]] std::vector<std::uint32_t> take(std::uint32_t last, std::uint32_t from,
                                                  std::size_t most) {
        bits_.resize(std::size_t{last} + 1, all_);
        if (std::exchange(all_, false)) std::fill(bits_.begin(), bits_.end(), true);
        bits_[0] = false;
        std::vector<std::uint32_t> out;
        auto const collect = [&](std::uint32_t begin, std::uint32_t end) {
            for (std::uint32_t page = begin; page < end && out.size() < most; ++page) {
                if (!bits_[page]) continue;
                bits_[page] = false;
                out.push_back(page);
            }
        };
        if (from > last) from = 1;
        collect(from, last + 1);
        collect(1, from);
        return out;
    }
    [[nodiscard]] bool empty() const {
        return !all_ && std::find(bits_.begin(), bits_.end(), true) == bits_.end();
    }

private:
    std::vector<bool> bits_;
    bool all_ = false;
};

}  // namespace dormouse::store::sqlite
