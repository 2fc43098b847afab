#pragma once
// Broken promises found by the checkers, as text.

#include <string>
#include <vector>

namespace dormouse::sim {

class Findings {
public:
    void add(std::string what) {
        if (all_.size() < most) all_.push_back(std::move(what));
    }
    [[nodiscard]] std::vector<std::string> const& all() const { return all_; }

private:
    static constexpr std::size_t most = 20;  // the first ones are enough
    std::vector<std::string> all_;
};

}  // namespace dormouse::sim
