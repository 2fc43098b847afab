#include "cli/client/fault.h"

#include "json/json.h"

namespace dormouse::cli {
namespace {

int fault_number_of(Failure const& failure) {
    if (code_of(failure) == "unauthenticated") return fault::authentication;
    if (failure.exit == status::not_found) return fault::not_found;
    if (failure.exit == status::usage) return rpc::code::invalid_params;
    return rpc::code::internal_error;
}

}  // namespace

rpc::Fault fault_of(Failure const& failure) {
    auto message = failure.what;
    if (!failure.remedy.empty()) message += ". " + failure.remedy;
    json::Writer data;
    data.begin_object().member("code", code_of(failure)).end_object();
    return {.code = fault_number_of(failure),
            .message = std::move(message),
            .data = code_of(failure).empty() ? Json() : data.json()};
}

std::unexpected<rpc::Fault> bad_params(std::string why) {
    return std::unexpected(
        rpc::Fault{.code = rpc::code::invalid_params, .message = std::move(why)});
}

}  // namespace dormouse::cli
