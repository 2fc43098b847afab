#include "http/transport/http.h"

namespace dormouse::http {

std::string_view HttpRequest::header(std::string_view lower_case_name) const {
    for (auto const& [name, value] : headers) {
        if (name == lower_case_name) return value;
    }
    return {};
}

std::string HttpRequest::joined(std::string_view lower_case_name) const {
    std::string out;
    for (auto const& [name, value] : headers) {
        if (name == lower_case_name) out += (out.empty() ? "" : ",") + value;
    }
    return out;
}

std::optional<std::string_view> HttpRequest::query_value(std::string_view name) const {
    for (auto const& [key, value] : query) {
        if (key == name) return value;
    }
    return std::nullopt;
}

}  // namespace dormouse::http
