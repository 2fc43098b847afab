// valijson behind violations(). Its own code trusts schema and value more than we may, so some of
// its member functions are replaced here, by explicit specialisation for the adapters that we use:
//   validateSchema      counts steps and depth: "$ref" can make a schema that never ends;
//   pattern,            use libstdc++'s matcher without backtracking, on strings of bounded length:
//   patternProperties   the other one recurses for each character until the stack is full, and
//                       takes time without bound for "(a+)+$";
//   format              says nothing in draft 7 unless asked for, and theirs throws on numbers;
//   uniqueItems         compares each with each: here by a set of their texts.
// The subset of draft 7: no remote references, "format" is a comment, patterns are ECMAScript's
// without back references, integers beyond 64 bits are not of type "integer".

#include "json/schema.h"

#include "base/sha256.h"
#include "json/json.h"

#include <boost/json.hpp>

// valijson aborts the process on a broken schema unless it may throw.
#define VALIJSON_USE_EXCEPTIONS 1
#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/adapters/std_string_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validation_visitor.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <exception>
#include <new>
#include <stdexcept>
#include <unordered_map>

namespace dormouse::json {

namespace {

constexpr std::size_t levels_max = 400;             // of subschemas within subschemas
constexpr std::size_t violations_max = 100;         // a list longer than this helps nobody
constexpr std::size_t pattern_length_max = 1'000;   // bytes
constexpr std::size_t matched_length_max = 65'536;  // bytes of a string that has a pattern
// What else counts as steps, so that a step is about a microsecond whatever the schema says.
constexpr std::size_t matched_bytes_a_step = 32;  // bytes of a string × bytes of a pattern
constexpr std::size_t name_steps = 4;             // a name held against a pattern
constexpr std::size_t unique_bytes_a_step = 64;
constexpr int references_in_a_row_max = 64;

// What one run of valijson uses up. It hands one map of regular expressions by reference to every
// visitor that it makes; as that map is always a Run, the visitors find their Run through it.
struct Run : std::unordered_map<std::string, std::regex> {
    explicit Run(std::size_t most) : allowed(most) {}

    std::size_t const allowed;
    std::size_t steps = 0;
    std::size_t level = 0;
};

struct EnoughViolations {};
struct TooCostly {};

void spend(std::unordered_map<std::string, std::regex>& run, std::size_t steps) {
    auto& counted = static_cast<Run&>(run);
    counted.steps += steps;
    if (counted.steps > counted.allowed) throw TooCostly();
}

// One entry into a subschema.
class Step {
public:
    Step(std::unordered_map<std::string, std::regex>& run, valijson::ValidationResults* results)
        : run_(static_cast<Run&>(run)) {
        if (results != nullptr && results->numErrors() >= violations_max) {
            throw EnoughViolations();
        }
        bool const last = ++run_.steps > run_.allowed;
        if (last && run_.allowed < steps_max) throw TooCostly();
        if (last || run_.level >= levels_max) {
            throw std::runtime_error("the schema refers to itself without end, or is too large");
        }
        ++run_.level;
    }
    Step(Step const&) = delete;
    Step& operator=(Step const&) = delete;
    ~Step() { --run_.level; }

private:
    Run& run_;
};

// Searches by matching from the front, the pattern behind "anything": one pass over the text, where
// std::regex_search would begin one at each character.
std::regex const& compiled(std::unordered_map<std::string, std::regex>& cache,
                           std::string const& pattern) {
    auto const known = cache.find(pattern);
    if (known != cache.end()) {
        return known->second;
    }
    if (pattern.size() > pattern_length_max) {
        throw std::runtime_error("a pattern is longer than " + std::to_string(pattern_length_max) +
                                 " bytes");
    }
    auto const linear = std::regex_constants::ECMAScript | std::regex_constants::nosubs |
                        std::regex_constants::__polynomial;
    std::regex regex(pattern, linear);  // throws unless the pattern is valid alone, too
    regex.assign("[\\s\\S]*(?:" + pattern + ")", linear);
    return cache.emplace(pattern, std::move(regex)).first->second;
}

bool occurs(std::unordered_map<std::string, std::regex>& cache, std::string const& pattern,
            std::string const& text) {
    return std::regex_search(text, compiled(cache, pattern),
                             std::regex_constants::match_continuous);
}

// The message of a violation, empty if `text` matches.
std::string mismatch(std::unordered_map<std::string, std::regex>& cache, std::string const& pattern,
                     std::string const& text) {
    if (text.size() > matched_length_max) {
        return "longer than the " + std::to_string(matched_length_max) +
               " bytes that are checked against a pattern";
    }
    spend(cache, 1 + text.size() * pattern.size() / matched_bytes_a_step);
    return occurs(cache, pattern, text) ? "" : "does not match the pattern " + pattern;
}

// The same text for values that are equal, and for no others. `number`: of the item, for what has
// no text of its own.
void append_text(std::string& out, valijson::adapters::BoostJsonAdapter const& value,
                 std::size_t number) {
    if (value.isObject()) {
        out += '{';
        // In the order of their names: the value was read from its canonical form.
        for (auto const member : value.asObject()) {
            out += quote(member.first) + ":";
            append_text(out, member.second, number);
            out += ',';
        }
        out += '}';
    } else if (value.isArray()) {
        out += '[';
        for (auto const element : value.asArray()) {
            append_text(out, element, number);
            out += ',';
        }
        out += ']';
    } else if (value.isString()) {
        out += quote(value.asString());
    } else if (value.isBool()) {
        out += value.asBool() ? "true" : "false";
    } else if (value.isNull()) {
        out += "null";
    } else if (value.isInteger()) {
        out += std::to_string(value.asInteger());
    } else if (value.isDouble()) {
        auto const bits = std::bit_cast<std::uint64_t>(value.asDouble());
        out += "d" + std::to_string(bits);
    } else {
        out += "?" + std::to_string(number);
    }
}

bool report(valijson::ValidationResults* results, std::vector<std::string> const& context,
            std::string const& message) {
    if (results != nullptr) {
        results->pushError(context, message);
    }
    return false;
}

}  // namespace

}  // namespace dormouse::json

namespace valijson {

using OfValue = ValidationVisitor<adapters::BoostJsonAdapter>;
using OfName = ValidationVisitor<adapters::StdStringAdapter>;

template <> bool OfValue::validateSchema(Subschema const& subschema) {
    dormouse::json::Step const step(m_regexesCache, m_results);
    if (subschema.getAlwaysInvalid()) {
        return dormouse::json::report(m_results, m_context, "nothing is allowed here");
    }
    Subschema::ApplyFunction fn(
        [this](constraints::Constraint const& constraint) { return constraint.accept(*this); });
    return m_results == nullptr ? subschema.applyStrict(fn) : subschema.apply(fn);
}

template <> bool OfName::validateSchema(Subschema const& subschema) {
    dormouse::json::Step const step(m_regexesCache, m_results);
    Subschema::ApplyFunction fn(
        [this](constraints::Constraint const& constraint) { return constraint.accept(*this); });
    return !subschema.getAlwaysInvalid() && subschema.applyStrict(fn);
}

template <> bool OfValue::visit(PatternConstraint const& constraint) {
    if (!m_target.isString()) {
        return true;
    }
    std::string const pattern(constraint.getPattern<std::string::allocator_type>());
    std::string const why = dormouse::json::mismatch(m_regexesCache, pattern, m_target.asString());
    return why.empty() || dormouse::json::report(m_results, m_context, why);
}

template <> bool OfName::visit(PatternConstraint const& constraint) {
    std::string const pattern(constraint.getPattern<std::string::allocator_type>());
    return dormouse::json::mismatch(m_regexesCache, pattern, m_target.asString()).empty();
}

// The names of a patternProperties constraint come as strings with valijson's own allocator.
using PatternName =
    std::basic_string<char, std::char_traits<char>, internal::CustomAllocator<char>>;

template <>
template <>
bool OfValue::ValidatePatternPropertySubschemas::operator()(PatternName const& name,
                                                            Subschema const* subschema) const {
    std::string const pattern(name.c_str(), name.size());
    for (auto const member : m_object) {
        dormouse::json::spend(m_regexesCache, dormouse::json::name_steps);
        std::string const why = dormouse::json::mismatch(m_regexesCache, pattern, member.first);
        bool const too_long = member.first.size() > dormouse::json::matched_length_max;
        if (!why.empty() && !too_long) {
            continue;
        }
        m_propertiesMatched->insert(member.first);
        std::vector<std::string> context = m_context;
        context.push_back("[" + member.first + "]");
        OfValue validator(member.second, context, m_strictTypes, m_results, m_regexesCache);
        if (too_long) {
            *m_validated = dormouse::json::report(m_results, m_context, "has a name " + why);
        } else if (!validator.validateSchema(*subschema)) {
            *m_validated = false;
        }
    }
    return true;
}

template <> bool OfValue::visit(FormatConstraint const&) { return true; }

template <> bool OfName::visit(FormatConstraint const&) { return true; }

template <> bool OfValue::visit(UniqueItemsConstraint const&) {
    if (!m_target.isArray()) {
        return true;
    }
    auto const items = m_target.asArray();
    std::unordered_map<std::string, std::size_t> seen;  // digest of the text, number of the item
    std::size_t number = 0;
    for (auto const item : items) {
        std::string text;
        dormouse::json::append_text(text, item, number);
        dormouse::json::spend(m_regexesCache,
                              1 + text.size() / dormouse::json::unique_bytes_a_step);
        auto const digest = dormouse::sha256(text);
        auto const [first, is_new] =
            seen.emplace(std::string(digest.begin(), digest.end()), number);
        if (!is_new) {
            return dormouse::json::report(
                m_results, m_context,
                "item " + std::to_string(first->second) + " comes again; items must be unique");
        }
        ++number;
    }
    return true;
}

}  // namespace valijson

namespace dormouse::json {

namespace {

boost::json::value parse(Json const& json) {
    // The canonical form has no number that Boost.JSON 1.81 misreads (0E1122 becomes NaN there),
    // and spells 1.0 as the integer that it is.
    boost::json::parse_options options;
    options.max_depth = depth_max;
    return boost::json::parse(canonical(json), {}, options);
}

// valijson follows references that lead to references by recursion, for ever if they form a ring.
void check_reference(View schema, std::string reference) {
    for (int steps = 0; steps < references_in_a_row_max; ++steps) {
        bool const plain = reference.starts_with('#') && !reference.ends_with('/') &&
                           reference.find('%') == std::string::npos;
        View const target = plain ? schema.at_pointer(std::string_view(reference).substr(1))
                                  : View(std::string_view());
        if (!target.exists()) {
            throw std::runtime_error("$ref leads nowhere in this schema: " + reference);
        }
        auto next = target["$ref"].string();
        if (!next) {
            return;
        }
        reference = std::move(*next);
    }
    throw std::runtime_error("$ref leads back to itself");
}

void check_references(View schema, View part) {
    part.members([&](std::string_view name, View value) {
        if (name == "$ref" && value.kind() == Kind::string) {
            check_reference(schema, *value.string());
        } else {
            check_references(schema, value);
        }
    });
    part.elements([&](View element) { check_references(schema, element); });
}

// valijson's path is "<root>", "[name]", "[3]", …
std::string pointer(std::vector<std::string> const& context) {
    std::string out;
    for (std::size_t i = 1; i < context.size(); ++i) {
        std::string_view const step = context[i];
        out += '/';
        for (char const c : step.substr(1, step.size() - 2)) {
            out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
        }
    }
    return out;
}

// Says of a value only that one inside it is wrong, which has its own violation.
bool is_echo(std::string const& message) {
    constexpr std::string_view echoes[] = {
        "Failed to validate against schema associated with property name",
        "Failed to validate against schema associated with pattern",
        "Failed to validate against additional properties schema",
        "Failed to validate item #",
        "Failed to validate against child schema #",
    };
    return std::ranges::any_of(echoes, [&](auto echo) { return message.starts_with(echo); });
}

std::vector<Violation> collect(valijson::ValidationResults const& results) {
    std::vector<Violation> all;
    std::vector<Violation> causes;
    for (auto const& error : results) {
        all.push_back({pointer(error.context), error.description});
        if (!is_echo(error.description)) {
            causes.push_back(all.back());
        }
    }
    return causes.empty() ? all : causes;
}

// Throws what valijson throws: std::exception for a broken schema.
void compile(Json const& schema, valijson::Schema& compiled) {
    View const view(schema);
    check_references(view, view);
    boost::json::value const tree = parse(schema);
    valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
    parser.populateSchema(valijson::adapters::BoostJsonAdapter(tree), compiled);
}

std::optional<std::vector<Violation>> validate(std::size_t steps, valijson::Schema const& schema,
                                               Json const& value) {
    boost::json::value const tree = parse(value);
    valijson::ValidationResults results;
    Run run(steps);
    valijson::OfValue visitor(valijson::adapters::BoostJsonAdapter(tree), {"<root>"}, true,
                              &results, run);
    bool satisfied = false;
    try {
        satisfied = visitor.validateSchema(schema);
    } catch (EnoughViolations const&) {
        satisfied = false;  // what is collected is told
    } catch (TooCostly const&) {
        if (steps < steps_max) return std::nullopt;
        return std::vector<Violation>{{"", "takes too long to be checked against its schema"}};
    }
    if (satisfied) {
        return std::vector<Violation>();
    }
    auto found = collect(results);
    if (found.empty()) {
        found.push_back({"", "does not satisfy the schema"});
    }
    return found;
}

std::vector<Violation> broken(std::string const& why) {
    return {{"#", "the schema is broken: " + why}};
}

}  // namespace

struct Schema::Compiled {
    valijson::Schema schema;
    std::string broken;  // why; empty: it is not
};

Schema::Schema(Json const& schema) {
    auto compiled = std::make_unique<Compiled>();
    try {
        compile(schema, compiled->schema);
    } catch (std::bad_alloc const&) {
        throw;
    } catch (std::exception const& error) {
        compiled->broken = error.what();
    }
    compiled_ = std::move(compiled);
}

Schema::~Schema() = default;
Schema::Schema(Schema&&) noexcept = default;
Schema& Schema::operator=(Schema&&) noexcept = default;

std::vector<Violation> Schema::violations(Json const& value) const {
    return *violations_within(steps_max, value);
}

std::optional<std::vector<Violation>> Schema::violations_within(std::size_t steps,
                                                                Json const& value) const {
    if (!compiled_->broken.empty()) return broken(compiled_->broken);
    try {
        return validate(steps, compiled_->schema, value);
    } catch (std::bad_alloc const&) {
        throw;  // nothing is known of the value
    } catch (std::exception const& error) {
        return broken(error.what());
    }
}

std::vector<Violation> violations(Json const& schema, Json const& value) {
    return Schema(schema).violations(value);
}

std::optional<std::vector<Violation>> violations_within(std::size_t steps, Json const& schema,
                                                        Json const& value) {
    return Schema(schema).violations_within(steps, value);
}

std::string pattern_mismatch(std::string const& pattern, std::string const& text) {
    try {
        Run cache(steps_max);
        return mismatch(cache, pattern, text);
    } catch (TooCostly const&) {
        return "takes too long to be compared with the pattern " + pattern;
    } catch (std::bad_alloc const&) {
        throw;
    } catch (std::exception const& error) {
        return "can not be compared with the pattern " + pattern + ": " + error.what();
    }
}

std::string pattern_error(std::string const& pattern) {
    try {
        std::unordered_map<std::string, std::regex> cache;
        static_cast<void>(compiled(cache, pattern));
        return {};
    } catch (std::bad_alloc const&) {
        throw;
    } catch (std::exception const& error) {
        return error.what();
    }
}

}  // namespace dormouse::json
