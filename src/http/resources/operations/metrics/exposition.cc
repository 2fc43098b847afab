#include "http/resources/operations/metrics/exposition.h"

#include "base/text/text.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace dormouse::http {

namespace {

constexpr std::size_t label_max = 200;

std::string number(double value) {
    char text[32];
    auto const end = std::to_chars(text, text + sizeof text, value).ptr;
    return {text, end};
}

// Without control bytes and invalid UTF-8, which no format allows.
std::string clean(std::string_view value) {
    bool const valid = valid_utf8(value);
    std::string out;
    for (char const c : value) {
        auto const byte = static_cast<unsigned char>(c);
        bool const bad = (byte < 0x20 && c != '\n') || byte == 0x7f || (byte > 0x7f && !valid);
        out += bad ? '?' : c;
    }
    return out;
}

// The format escapes backslash, quote and line feed.
void append_label(std::string& out, std::string_view value) {
    for (char const c : value) {
        if (c == '\n') {
            out += "\\n";
        } else {
            if (c == '\\' || c == '"') out += '\\';
            out += c;
        }
    }
}

port::Labels clean_labels(Exposition::Labels labels) {
    port::Labels out;
    for (auto const& [key, text] : labels)
        out.emplace_back(std::string(key), clean(text.substr(0, label_max)));
    return out;
}

}  // namespace

void Histogram::observe(double value) {
    auto const at = std::ranges::lower_bound(bounds_, value);
    ++in_[static_cast<std::size_t>(at - bounds_.begin())];
    sum_ += value;
}

void HistogramFamily::observe(double value, Labels labels) {
    port::Labels key = clean_labels(labels);
    if (!series_.contains(key) && series_.size() >= series_max)
        for (auto& [name, text] : key) text = "other";
    series_.try_emplace(std::move(key), bounds_).first->second.observe(value);
}

void Exposition::family(std::string_view name, port::MeasureKind kind, std::string_view help) {
    families_.push_back({.name = name, .help = help, .kind = kind});
}

void Exposition::add(std::variant<std::uint64_t, double> value, Labels labels) {
    families_.back().values.push_back({.labels = clean_labels(labels), .value = value});
}

Exposition& Exposition::counter(std::string_view name, std::string_view help) {
    family(name, port::MeasureKind::counter, help);
    return *this;
}

Exposition& Exposition::gauge(std::string_view name, std::string_view help) {
    family(name, port::MeasureKind::gauge, help);
    return *this;
}

Exposition& Exposition::sample(std::uint64_t value, Labels labels) {
    add(value, labels);
    return *this;
}

Exposition& Exposition::sample(double value, Labels labels) {
    add(value, labels);
    return *this;
}

Exposition& Exposition::histogram(std::string_view name, std::string_view help,
                                  Histogram const& values) {
    family(name, port::MeasureKind::histogram, help);
    add(values, {});
    return *this;
}

Exposition& Exposition::histogram(std::string_view name, std::string_view help,
                                  HistogramFamily const& values) {
    family(name, port::MeasureKind::histogram, help);
    for (auto const& [labels, one] : values.series()) add(one, labels);
    return *this;
}

void Exposition::add(Histogram const& values, port::Labels labels) {
    families_.back().distributions.push_back({{values.bounds().begin(), values.bounds().end()},
                                              {values.in().begin(), values.in().end()},
                                              values.sum(),
                                              std::move(labels)});
}

namespace {

std::string_view word(port::MeasureKind kind) {
    switch (kind) {
        case port::MeasureKind::counter: return "counter";
        case port::MeasureKind::gauge: return "gauge";
        case port::MeasureKind::histogram: return "histogram";
    }
    return "";
}

void add_line(std::string& out, std::string const& name, std::string const& value,
              port::Labels const& labels) {
    out.append(name);
    char before = '{';
    for (auto const& [key, text] : labels) {
        out += before;
        out.append(key).append("=\"");
        append_label(out, text);
        out += '"';
        before = ',';
    }
    if (!labels.empty()) out += '}';
    out.append(" ").append(value).append("\n");
}

void add_distribution(std::string& out, std::string const& name, port::Distribution const& all) {
    std::uint64_t until = 0;
    for (std::size_t i = 0; i < all.counts.size(); ++i) {
        until += all.counts[i];
        bool const last = i == all.bounds.size();
        port::Labels labels = all.labels;
        labels.emplace_back("le", last ? "+Inf" : number(all.bounds[i]));
        add_line(out, name + "_bucket", std::to_string(until), labels);
    }
    add_line(out, name + "_sum", number(all.sum), all.labels);
    add_line(out, name + "_count", std::to_string(until), all.labels);
}

}  // namespace

std::string prometheus_text(std::vector<port::MeasureFamily> const& families) {
    std::string out;
    for (port::MeasureFamily const& family : families) {
        std::string const name(family.name);
        out.append("# HELP ").append(name).append(" ").append(family.help);
        out.append("\n# TYPE ").append(name).append(" ").append(word(family.kind)).append("\n");
        for (port::Measurement const& one : family.values) {
            auto const* const whole = std::get_if<std::uint64_t>(&one.value);
            add_line(out, name,
                     whole ? std::to_string(*whole) : number(std::get<double>(one.value)),
                     one.labels);
        }
        for (port::Distribution const& one : family.distributions) add_distribution(out, name, one);
    }
    return out;
}

}  // namespace dormouse::http
