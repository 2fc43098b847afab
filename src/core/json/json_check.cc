// The check: Boost.JSON's event parser walks the text; no tree is built. Boost.JSON 1.81 accepts,
// and this check refuses, duplicate keys and numbers that become NaN or infinite.

#include "base/text/cut.h"
#include "json/spell.h"
#include "json/stored.h"

#include "base/text/text.h"
#include "base/text/utf8.h"

#include <boost/json/basic_parser_impl.hpp>

#include <algorithm>
#include <cmath>
#include <list>
#include <vector>

namespace dormouse::json {

namespace {

namespace bj = boost::json;

enum class Defect : std::uint8_t { none, duplicate_key, number };

// Receives the parser's events; returns false, with an error code set, to stop it.
class Handler {
public:
    static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

    explicit Handler(std::string_view source) : source_(source) {}

    [[nodiscard]] Defect defect() const { return defect_; }
    [[nodiscard]] std::string const& culprit() const { return culprit_; }

    bool on_document_begin(bj::error_code&) { return true; }
    bool on_document_end(bj::error_code&) { return true; }
    bool on_array_begin(bj::error_code&) { return true; }
    bool on_array_end(std::size_t, bj::error_code&) { return true; }
    bool on_string_part(bj::string_view, std::size_t, bj::error_code&) { return true; }
    bool on_string(bj::string_view, std::size_t, bj::error_code&) { return true; }
    bool on_number_part(bj::string_view, bj::error_code&) { return true; }
    bool on_int64(std::int64_t, bj::string_view, bj::error_code&) { return true; }
    bool on_uint64(std::uint64_t, bj::string_view, bj::error_code&) { return true; }
    bool on_bool(bool, bj::error_code&) { return true; }
    bool on_null(bj::error_code&) { return true; }
    bool on_comment_part(bj::string_view, bj::error_code&) { return true; }
    bool on_comment(bj::string_view, bj::error_code&) { return true; }

    bool on_double(double, bj::string_view text, bj::error_code& error) {
        std::string_view const number(text.data(), text.size());
        return std::isfinite(to_double(number)) || stop(Defect::number, number, error);
    }

    bool on_object_begin(bj::error_code&) {
        objects_.push_back(keys_.size());
        return true;
    }

    bool on_key_part(bj::string_view text, std::size_t, bj::error_code&) {
        partial_.append(text.data(), text.size());
        return true;
    }

    bool on_key(bj::string_view text, std::size_t, bj::error_code&) {
        std::string_view const key(text.data(), text.size());
        bool const in_source = !std::less<>()(key.data(), source_.data()) &&
                               std::less<>()(key.data(), source_.data() + source_.size());
        if (partial_.empty() && in_source) {
            keys_.push_back(key);
        } else {
            decoded_.push_back(std::exchange(partial_, {}).append(key));
            keys_.push_back(decoded_.back());
        }
        return true;
    }

    bool on_object_end(std::size_t, bj::error_code& error) {
        auto const begin = keys_.begin() + static_cast<std::ptrdiff_t>(objects_.back());
        objects_.pop_back();
        // Sorts rather than hashes, so that no choice of keys makes it slow.
        std::sort(begin, keys_.end());
        auto const twice = std::adjacent_find(begin, keys_.end());
        if (twice != keys_.end()) {
            return stop(Defect::duplicate_key, *twice, error);
        }
        keys_.erase(begin, keys_.end());
        return true;
    }

private:
    bool stop(Defect defect, std::string_view culprit, bj::error_code& error) {
        defect_ = defect;
        culprit_ = culprit.substr(0, 100);
        error = bj::error::syntax;
        return false;
    }

    std::string_view source_;
    std::vector<std::size_t> objects_;    // open objects: where their keys begin in keys_
    std::vector<std::string_view> keys_;  // of the open objects, decoded
    std::list<std::string> decoded_;      // keys that had escapes
    std::string partial_;                 // the part of the current key that has been seen
    Defect defect_ = Defect::none;
    std::string culprit_;
};

// Boost.JSON reports "\ud83d" without its second half as plain bad syntax, after the escape or
// after the backslash of the next one.
bool after_high_surrogate(std::string_view before) {
    auto const is_high = [](std::string_view s) {
        return s.size() >= 6 && s.substr(s.size() - 6, 2) == "\\u" &&
               (s[s.size() - 4] | 32) == 'd' &&
               std::string_view("89abAB").find(s[s.size() - 3]) != std::string_view::npos;
    };
    return is_high(before) ||
           (before.ends_with('\\') && is_high(before.substr(0, before.size() - 1)));
}

bool is_surrogate_error(bj::error_code error, std::string_view before) {
    return error == bj::error::illegal_leading_surrogate ||
           error == bj::error::illegal_trailing_surrogate ||
           error == bj::error::expected_utf16_escape ||
           (error == bj::error::syntax && after_high_surrogate(before));
}

std::unexpected<Error> fail_at(Code code, std::string what, std::size_t offset) {
    return fail(code, std::move(what) + " (offset " + std::to_string(offset) + ")");
}

std::unexpected<Error> explain(Handler const& handler, bj::error_code error, std::string_view text,
                               std::size_t offset, std::size_t cut) {
    std::size_t const where = offset + cut;
    switch (handler.defect()) {
        case Defect::duplicate_key:
            return fail_at(Code::bad_number_or_key, "duplicate key " + quote(handler.culprit()),
                           where);
        case Defect::number:
            return fail_at(Code::bad_number_or_key,
                           "number outside the range of double: " + handler.culprit(), where);
        case Defect::none: break;
    }
    if (error == bj::error::exponent_overflow) {
        return fail_at(Code::bad_number_or_key, "exponent out of range", where);
    }
    if (is_surrogate_error(error, text.substr(0, offset))) {
        return fail_at(Code::bad_number_or_key, "lone surrogate", where);
    }
    if (error == bj::error::too_deep) {
        return fail_at(Code::bad_json,
                       "nested deeper than " + std::to_string(depth_max) + " levels", where);
    }
    if (!valid_utf8(text)) {
        return fail_at(Code::bad_json, "not UTF-8", where);
    }
    if (error == bj::error::incomplete) {
        return fail_at(Code::bad_json, text.empty() ? "no JSON value" : "unexpected end of text",
                       where);
    }
    return fail_at(Code::bad_json, "not JSON", where);
}

}  // namespace

Result<Json> check(std::string_view text) {
    std::string_view const value = trimmed(text);
    auto const cut = value.empty() ? 0 : static_cast<std::size_t>(value.data() - text.data());
    bj::parse_options options;
    options.max_depth = depth_max;
    bj::basic_parser<Handler> parser(options, value);
    bj::error_code error;
    std::size_t const used = parser.write_some(false, value.data(), value.size(), error);
    if (error) {
        return explain(parser.handler(), error, value, used, cut);
    }
    if (used != value.size()) {
        return fail_at(Code::bad_json, "text after the value", cut + used);
    }
    return Json::trusted(std::string(value));
}

namespace {

// Accepts everything that has the form of JSON.
struct AnyValue {
    static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
    static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

    bool on_document_begin(bj::error_code&) { return true; }
    bool on_document_end(bj::error_code&) { return true; }
    bool on_array_begin(bj::error_code&) { return true; }
    bool on_array_end(std::size_t, bj::error_code&) { return true; }
    bool on_object_begin(bj::error_code&) { return true; }
    bool on_object_end(std::size_t, bj::error_code&) { return true; }
    bool on_key_part(bj::string_view, std::size_t, bj::error_code&) { return true; }
    bool on_key(bj::string_view, std::size_t, bj::error_code&) { return true; }
    bool on_string_part(bj::string_view, std::size_t, bj::error_code&) { return true; }
    bool on_string(bj::string_view, std::size_t, bj::error_code&) { return true; }
    bool on_number_part(bj::string_view, bj::error_code&) { return true; }
    bool on_int64(std::int64_t, bj::string_view, bj::error_code&) { return true; }
    bool on_uint64(std::uint64_t, bj::string_view, bj::error_code&) { return true; }
    bool on_double(double, bj::string_view, bj::error_code&) { return true; }
    bool on_bool(bool, bj::error_code&) { return true; }
    bool on_null(bj::error_code&) { return true; }
    bool on_comment_part(bj::string_view, bj::error_code&) { return true; }
    bool on_comment(bj::string_view, bj::error_code&) { return true; }
};

}  // namespace

bool is_json(std::string_view text) {
    bj::parse_options options;
    options.max_depth = 4 * depth_max;
    options.allow_invalid_utf8 = true;
    bj::basic_parser<AnyValue> parser(options);
    bj::error_code error;
    std::size_t const used = parser.write_some(false, text.data(), text.size(), error);
    return !error && used == text.size();
}

Result<Json> repaired(Json const& value) {
    auto checked = check(value.text());
    if (checked || valid_utf8(value.text())) return checked;
    return check(repaired_utf8(std::string(value.text())));
}

}  // namespace dormouse::json

namespace dormouse::inline v0 {

Result<Json> Json::parse(std::string_view text) { return json::check(text); }

}  // namespace dormouse::inline v0
