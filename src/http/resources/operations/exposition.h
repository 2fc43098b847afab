#pragma once
// Writes Prometheus' text format 0.0.4: families of samples, with escaped labels.

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dormouse::http {

// Counts values by upper bound. `bounds` are ascending and outlive it.
class Histogram {
public:
    explicit Histogram(std::span<double const> bounds) : bounds_(bounds), in_(bounds.size() + 1) {}

    void observe(double value);

    [[nodiscard]] std::span<double const> bounds() const { return bounds_; }
    // Returns the count of each bucket (not cumulative); the last one is above all bounds.
    [[nodiscard]] std::span<std::uint64_t const> in() const { return in_; }
    [[nodiscard]] double sum() const { return sum_; }

private:
    std::span<double const> bounds_;
    std::vector<std::uint64_t> in_;
    double sum_ = 0;
};

class Exposition {
public:
    using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    // Names must match [a-z_]. All samples of a family follow it directly.
    Exposition& counter(std::string_view name, std::string_view help);
    Exposition& gauge(std::string_view name, std::string_view help);
    Exposition& sample(std::uint64_t value, Labels labels = {});
    Exposition& sample(double value, Labels labels = {});
    Exposition& histogram(std::string_view name, std::string_view help, Histogram const& values);

    [[nodiscard]] std::string take() { return std::move(out_); }

private:
    void family(std::string_view name, std::string_view type, std::string_view help);
    void line(std::string_view suffix, std::string const& value, Labels labels);

    std::string name_;
    std::string out_;
};

}  // namespace dormouse::http
