#include "webhook/source.h"

#include "base/text/text.h"
#include "base/url.h"
#include "json/json.h"

#include <algorithm>

namespace dormouse::webhook {

namespace {

constexpr std::size_t fields_max = 64;
constexpr std::size_t reference_max = 4'096;

std::unexpected<Error> misfit(std::string const& pointer, std::string const& why) {
    json::Writer extra;
    extra.begin_object().member("pointer", pointer).member("why", why).end_object();
    return fail(Code::bad_value, pointer + " " + why, extra.json());
}

// Services send ids as numbers, people as strings.
std::string text_of(json::View value) {
    if (value.kind() == json::Kind::number || value.kind() == json::Kind::boolean)
        return std::string(value.raw());
    return value.string_or("");
}

bool is_there(json::View value) { return value.exists() && !value.is_null(); }

Result<void> read_name(Source const& source, json::View body, Payload& out) {
    bool const by_default = source.pending.empty() && source.external_ref.empty();
    std::string const pointer = by_default ? "/pendingID" : source.pending;
    if (!pointer.empty()) out.pending = text_of(body.at_pointer(pointer));
    if (!out.pending.empty()) return {};
    if (source.external_ref.empty()) return misfit(pointer, "must be the pendingID of the call");
    out.reference = text_of(body.at_pointer(source.external_ref));
    if (out.reference.empty() || out.reference.size() > reference_max)
        return misfit(source.external_ref,
                      "must be the call's externalRef, a string or a number of at most 4096 bytes");
    return {};
}

// Reads the form of POST /async-tool/result and /error.
Result<void> read_default(json::View body, Payload& out) {
    json::View const result = body["result"];
    json::View const error = body["error"];
    if (is_there(error) == is_there(result))
        return misfit("/result", "must be set, or else /error");
    if (is_there(error)) {
        if (error.kind() != json::Kind::string) return misfit("/error", "must be a string");
        out.error = error.string_or("");
        return {};
    }
    if (result.kind() != json::Kind::object || !result["output"].exists())
        return misfit("/result", "must be an object with output");
    if (result["title"].exists() && !result["title"].string() && !result["title"].is_null())
        return misfit("/result/title", "must be a string");
    out.output = json::compact(result["output"].copy());
    out.title = result["title"].string_or("");
    if (result["metadata"].exists()) out.metadata = json::compact(result["metadata"].copy());
    return {};
}

Result<void> read_mapped(Source const& source, json::View body, Payload& out) {
    if (!source.title.empty()) out.title = text_of(body.at_pointer(source.title));
    json::View const error =
        source.error.empty() ? json::View(std::string_view()) : body.at_pointer(source.error);
    if (is_there(error)) {
        out.error = error.string().value_or(std::string(error.raw()));
        return {};
    }
    json::View const output = source.output.empty() ? body : body.at_pointer(source.output);
    if (!output.exists()) return misfit(source.output, "is missing: it is the call's output");
    out.output = json::compact(output.copy());
    return {};
}

bool is_meant(Source const& source, json::View body) {
    return std::ranges::all_of(source.when, [&](auto const& one) {
        json::View const value = body.at_pointer(one.first);
        return value.exists() && text_of(value) == one.second;
    });
}

std::optional<std::string> form_text(std::string_view text) {
    auto out = percent_decode(text, Plus::space);
    return out && valid_utf8(*out) ? out : std::nullopt;
}

}  // namespace

Result<Payload> read_payload(Source const& source, Json const& body) {
    json::View const view(body);
    Payload out;
    out.ignored = !is_meant(source, view);
    if (out.ignored) return out;
    if (auto named = read_name(source, view, out); !named)
        return std::unexpected(std::move(named.error()));
    bool const by_default = source.output.empty() && source.error.empty();
    auto const read = by_default ? read_default(view, out) : read_mapped(source, view, out);
    if (!read) return std::unexpected(read.error());
    return out;
}

Result<Json> form_to_json(std::string_view body) {
    std::vector<std::string> names;
    json::Writer out;
    out.begin_object();
    while (!body.empty()) {
        std::string_view const field = body.substr(0, body.find('&'));
        body.remove_prefix(std::min(field.size() + 1, body.size()));
        std::size_t const equals = std::min(field.find('='), field.size());
        auto const name = form_text(field.substr(0, equals));
        auto const value = form_text(field.substr(std::min(equals + 1, field.size())));
        if (!name || !value) return fail(Code::bad_value, "The form is not percent-encoded UTF-8.");
        if (names.size() == fields_max || std::ranges::find(names, *name) != names.end())
            return fail(Code::bad_value, "The form must have at most 64 fields, each only once.");
        names.push_back(*name);
        out.key(*name);
        if (*name != "payload") {
            out.value(*value);
            continue;
        }
        auto json = json::check(*value);
        if (!json) return std::unexpected(std::move(json.error()));
        out.raw(json->text());
    }
    return out.end_object().json();
}

}  // namespace dormouse::webhook
