#include "cli/render/money.h"

#include "base/text/text.h"

namespace dormouse::cli {

std::string money(std::int64_t micros, std::string_view currency) {
    constexpr std::int64_t unit = 1'000'000, smallest = 100, hundredth = 10'000;
    bool const small = micros < hundredth && micros > 0;
    std::string const sign = currency == "USD" ? "$" : escape_for_terminal(currency) + " ";
    if (small && micros < smallest) return "<" + sign + "0.0001";
    std::int64_t const step = small ? smallest : hundredth;
    std::int64_t const steps = micros / step + (micros % step >= step / 2 ? 1 : 0);
    std::int64_t const per_unit = unit / step;
    auto const decimals = std::to_string(per_unit + steps % per_unit).substr(1);
    return sign + std::to_string(steps / per_unit) + "." + decimals;
}

std::string cost_text(std::map<std::string, std::int64_t> const& cost) {
    std::string out;
    for (auto const& [currency, micros] : cost)
        out += (out.empty() ? "" : " + ") + money(micros, currency);
    return out;
}

std::map<std::string, std::int64_t> read_cost(json::View cost) {
    std::map<std::string, std::int64_t> out;
    if (cost.kind() != json::Kind::object) return out;
    cost.members([&](std::string_view currency, json::View micros) {
        if (auto const number = micros.integer()) out.emplace(currency, *number);
    });
    return out;
}

}  // namespace dormouse::cli
