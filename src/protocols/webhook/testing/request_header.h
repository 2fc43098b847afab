#pragma once
// The headers of a request to a notification service.

#include "webhook/kinds/kinds.h"

#include <string>
#include <string_view>

namespace dormouse::webhook {

// Empty if there is no such header.
inline std::string header_of(ServiceRequest const& request, std::string_view name) {
    for (port::HttpHeader const& one : request.headers)
        if (one.name == name) return one.value;
    return "";
}

}  // namespace dormouse::webhook
