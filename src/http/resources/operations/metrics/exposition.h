#pragma once
// Metrics as families of samples, and as Prometheus' text format with escaped labels.

#include "port/measure.h"

#include <cstdint>
#include <initializer_list>
#include <map>
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

// Histograms by labels. The label sets beyond `series_max` count as one more series, whose labels
// are all "other", and values of labels are cut: so it holds at most about 2 KiB for each series.
class HistogramFamily {
public:
    // `bounds` are ascending and outlive it.
    explicit HistogramFamily(std::span<double const> bounds) : bounds_(bounds) {}

    using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;
    // REQUIRES: the names of the labels are always the same.
    void observe(double value, Labels labels);

    [[nodiscard]] std::map<port::Labels, Histogram> const& series() const { return series_; }

    static constexpr std::size_t series_max = 100;

private:
    std::span<double const> bounds_;
    std::map<port::Labels, Histogram> series_;
};

// Collects families of samples. Names and helps are constants.
class Exposition {
public:
    using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

    // Names must match [a-z_]. All samples of a family follow it directly.
    Exposition& counter(std::string_view name, std::string_view help);
    Exposition& gauge(std::string_view name, std::string_view help);
    Exposition& sample(std::uint64_t value, Labels labels = {});
    Exposition& sample(double value, Labels labels = {});
    Exposition& histogram(std::string_view name, std::string_view help, Histogram const& values);
    Exposition& histogram(std::string_view name, std::string_view help,
                          HistogramFamily const& values);

    [[nodiscard]] std::vector<port::MeasureFamily> take() { return std::move(families_); }

private:
    void family(std::string_view name, port::MeasureKind kind, std::string_view help);
    void add(std::variant<std::uint64_t, double> value, Labels labels);
    void add(Histogram const& values, port::Labels labels);

    std::vector<port::MeasureFamily> families_;
};

// Prometheus' text format 0.0.4.
[[nodiscard]] std::string prometheus_text(std::vector<port::MeasureFamily> const& families);

}  // namespace dormouse::http
