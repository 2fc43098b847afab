#include "rpc/message.h"

#include "json/json.h"

namespace dormouse::rpc {
namespace {

constexpr std::size_t batch_max = 100;

Message refused(int number, std::string text, Json id = {}) {
    return {.kind = Message::Kind::refused,
            .id = std::move(id),
            .fault = Fault{.code = number, .message = std::move(text)}};
}

bool is_id(json::View id) {
    return id.kind() == json::Kind::string || id.kind() == json::Kind::null ||
           (id.kind() == json::Kind::number && id.integer());
}

Message response_of(json::View object, Json id, bool strict) {
    auto const result = object["result"];
    auto const error = object["error"];
    if (strict && result.exists() == error.exists())
        return refused(code::invalid_request, "a response has either result or error");
    Message out{.kind = Message::Kind::response, .id = std::move(id)};
    bool const failed = error.exists() && (strict || !error.is_null());
    if (!failed) {
        if (result.exists()) out.result = result.copy();
        return out;
    }
    out.fault = Fault{.code = static_cast<int>(error["code"].integer_or(code::internal_error)),
                      .message = error["message"].string_or("no message"),
                      .data = error["data"].exists() ? error["data"].copy() : Json()};
    return out;
}

Message message_of(json::View object, bool strict) {
    if (object.kind() != json::Kind::object)
        return refused(code::invalid_request, "a message is an object");
    auto const id_view = object["id"];
    if (strict && id_view.exists() && !is_id(id_view))
        return refused(code::invalid_request, "id must be a string or an integer");
    Json const id = id_view.exists() ? id_view.copy() : Json();
    if (strict && object["jsonrpc"].string_or("") != "2.0")
        return refused(code::invalid_request, "jsonrpc must be \"2.0\"", id);
    auto const method = object["method"];
    if (!method.exists()) {
        if (id_view.exists()) return response_of(object, id, strict);
        return refused(code::invalid_request, "method is missing");
    }
    if (!method.string()) return refused(code::invalid_request, "method must be a string", id);
    auto const params = object["params"];
    bool const structured =
        params.kind() == json::Kind::object || params.kind() == json::Kind::array;
    if (strict && params.exists() && !params.is_null() && !structured)
        return refused(code::invalid_request, "params must be an object or an array", id);
    bool const is_request = id_view.exists() && (strict || !id_view.is_null());
    return {.kind = is_request ? Message::Kind::request : Message::Kind::notification,
            .method = *method.string(),
            .id = id,
            .params = params.exists() ? params.copy() : Json()};
}

json::Writer begun() {
    json::Writer out;
    out.begin_object().member("jsonrpc", "2.0");
    return out;
}

std::string ended(json::Writer out) {
    out.end_object();
    return out.take() + "\n";
}

}  // namespace

Received read(Line const& line, Grammar grammar) {
    bool const strict = grammar == Grammar::strict;
    if (line.too_long) return {{refused(code::parse_error, "the line is too long")}};
    auto const value = json::check(line.text);
    if (!value) return {{refused(code::parse_error, "not JSON: " + value.error().detail)}};
    json::View const view(*value);
    if (view.kind() != json::Kind::array || !strict) return {{message_of(view, strict)}};
    if (view.size() == 0 || view.size() > batch_max) {
        return {{refused(code::invalid_request,
                         "a batch has 1 to " + std::to_string(batch_max) + " messages")}};
    }
    Received out{.messages = {}, .batch = true};
    view.elements([&](json::View each) { out.messages.push_back(message_of(each, strict)); });
    return out;
}

std::string request(std::uint64_t id, std::string_view method, Json const& params) {
    auto out = begun();
    out.member("id", id).member("method", method).member("params", json::compact(params));
    return ended(std::move(out));
}

std::string notification(std::string_view method, Json const& params) {
    auto out = begun();
    out.member("method", method).member("params", json::compact(params));
    return ended(std::move(out));
}

std::string response(Json const& id, Json const& result) {
    auto out = begun();
    out.member("id", id).member("result", json::compact(result));
    return ended(std::move(out));
}

std::string refusal(Json const& id, Fault const& fault) {
    auto out = begun();
    out.member("id", id).key("error").begin_object();
    out.member("code", fault.code).member("message", fault.message);
    if (!fault.data.is_null()) out.member("data", json::compact(fault.data));
    out.end_object();
    return ended(std::move(out));
}

std::string batch(std::vector<std::string> const& lines) {
    json::Writer out;
    out.begin_array();
    for (std::string const& line : lines)
        out.raw(std::string_view(line).substr(0, line.size() - 1));
    out.end_array();
    return out.take() + "\n";
}

}  // namespace dormouse::rpc
