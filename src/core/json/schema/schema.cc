// Reads schemas with valijson; schema_check.cc checks values against what was read.
// The subset of draft 7: no remote references, "format" is a comment, patterns have no look-around
// and no back-references.

#include "json/schema/schema.h"

#include "json/json.h"
#include "json/schema/schema_check.h"

#include <boost/json.hpp>

#include <valijson/schema_parser.hpp>

#include <exception>
#include <new>
#include <stdexcept>

namespace dormouse::json {

namespace {

constexpr int references_in_a_row_max = 64;

boost::json::value parse(Json const& json) {
    // The canonical form has no number that Boost.JSON 1.81 misreads (0E1122 becomes NaN), and
    // writes 1.0 as the integer 1.
    boost::json::parse_options options;
    options.max_depth = depth_max;
    return boost::json::parse(canonical(json), {}, options);
}

// valijson follows references to references by recursion, endlessly if they form a cycle.
void check_reference(View schema, std::string reference) {
    for (int steps = 0; steps < references_in_a_row_max; ++steps) {
        bool const plain = reference.starts_with('#') && !reference.ends_with('/') &&
                           reference.find('%') == std::string::npos;
        View const target = plain ? schema.at_pointer(std::string_view(reference).substr(1))
                                  : View(std::string_view());
        if (!target.exists()) {
            throw std::runtime_error("$ref does not resolve in this schema: " + reference);
        }
        auto next = target["$ref"].string();
        if (!next) {
            return;
        }
        reference = std::move(*next);
    }
    throw std::runtime_error("$ref refers to itself");
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

std::vector<Violation> broken(std::string const& why) {
    return {{"#", "the schema is invalid: " + why}};
}

}  // namespace

struct Schema::Compiled {
    valijson::Schema schema;
    Patterns patterns;
    std::string broken;  // why; empty: valid

    // Throws what valijson throws: std::exception for an invalid schema.
    void read(Json const& text) {
        View const view(text);
        check_references(view, view);
        boost::json::value const tree = parse(text);
        valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
        parser.populateSchema(valijson::adapters::BoostJsonAdapter(tree), schema);
        patterns = patterns_of(schema);
    }

    [[nodiscard]] std::optional<std::vector<Violation>> check(std::size_t steps,
                                                              Json const& value) const {
        return check_value(schema, patterns, steps, parse(value));
    }
};

Schema::Schema(Json const& schema) {
    auto compiled = std::make_unique<Compiled>();
    try {
        compiled->read(schema);
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
        return compiled_->check(steps, value);
    } catch (std::bad_alloc const&) {
        throw;  // says nothing about the value
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

}  // namespace dormouse::json
