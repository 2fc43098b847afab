// Visitor over the schema that valijson read. Bounded: it counts steps (a "$ref" can make a schema
// endless) and depth, and matches patterns with RE2.

#include "json/schema/schema_check.h"

#include "base/crypto/sha256.h"
#include "base/text/utf8.h"
#include "json/json.h"

#include <valijson/constraints/concrete_constraints.hpp>
#include <valijson/constraints/constraint_visitor.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <unordered_map>

namespace dormouse::json {

namespace {

using Value = boost::json::value;
using valijson::Subschema;
using valijson::constraints::TypeConstraint;

constexpr std::size_t levels_max = 400;      // nested subschemas
constexpr std::size_t violations_max = 100;  // a longer list helps no reader
// Further costs in steps, so that a step is about a microsecond for any schema.
constexpr std::size_t name_steps = 4;  // a name matched against a pattern
constexpr std::size_t unique_bytes_a_step = 64;

struct EnoughViolations {};
struct TooCostly {};

// Equal texts for equal values only.
void append_text(std::string& out, Value const& value) {
    if (auto const* const object = value.if_object()) {
        out += '{';
        // Sorted by name: the value was read from its canonical form.
        for (auto const& [name, member] : *object) {
            out += quote(name) + ":";
            append_text(out, member);
            out += ',';
        }
        out += '}';
    } else if (auto const* const array = value.if_array()) {
        out += '[';
        for (auto const& element : *array) {
            append_text(out, element);
            out += ',';
        }
        out += ']';
    } else if (auto const* const number = value.if_double()) {
        out += "d" + std::to_string(std::bit_cast<std::uint64_t>(*number));
    } else {
        out += boost::json::serialize(value);
    }
}

std::string number_text(double number) {
    Writer out;
    out.value(number);
    return std::string(out.json().text());
}

// A place in the checked value.
struct Place {
    Place const* parent = nullptr;
    std::string_view name = {};
    std::size_t index = 0;
    bool is_item = false;

    [[nodiscard]] std::string pointer() const {
        if (parent == nullptr) return {};
        std::string out = parent->pointer() + '/';
        if (is_item) return out + std::to_string(index);
        for (char const c : name) out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
        return out;
    }
};

// One check of a value. visit() returns whether the value at `place_` fits, and collects the
// violations.
class Check final : public valijson::constraints::ConstraintVisitor {
public:
    Check(Patterns const& patterns, std::size_t steps) : patterns_(patterns), allowed_(steps) {}

    // Throws TooCostly, EnoughViolations, and std::exception for a schema without end.
    bool fits(Subschema const& schema, Value const& value) { return at(Place(), value, schema); }
    std::vector<Violation> take() { return std::move(found_); }

    bool visit(AllOfConstraint const& c) override {
        return every([&](auto const& each) {
            c.applyToSubschemas([&](unsigned, Subschema const* one) { return each(check(*one)); });
        });
    }

    bool visit(AnyOfConstraint const& c) override {
        std::size_t const before = found_.size();
        bool const fits = alternatives(c, 1) > 0;
        if (fits) found_.resize(before);
        return fits || wrong("must fit at least one of the schemas of anyOf");
    }

    bool visit(OneOfConstraint const& c) override {
        std::size_t const before = found_.size();
        auto const fitting = alternatives(c, 2);
        if (fitting > 0) found_.resize(before);
        if (fitting == 0) return wrong("must fit one of the schemas of oneOf");
        return fitting == 1 || wrong("must fit only one of the schemas of oneOf");
    }

    bool visit(ConditionalConstraint const& c) override {
        auto const* const next =
            quietly(*value_, *c.getIfSubschema()) ? c.getThenSubschema() : c.getElseSubschema();
        return next == nullptr || check(*next);
    }

    bool visit(ConstConstraint const& c) override {
        return c.getValue()->equalTo(Adapter(*value_), true) || wrong("must be the value of const");
    }

    bool visit(ContainsConstraint const& c) override {
        auto const* const array = value_->if_array();
        return array == nullptr ||
               std::ranges::any_of(
                   *array, [&](Value const& one) { return quietly(one, *c.getSubschema()); }) ||
               wrong("must have an item that fits the schema of contains");
    }

    bool visit(DependenciesConstraint const& c) override {
        auto const* const object = value_->if_object();
        if (object == nullptr) return true;
        return every([&](auto const& each) {
            c.applyToPropertyDependencies([&](auto const& name, auto const& needed) {
                if (!object->contains(name.c_str())) return true;
                return std::ranges::all_of(needed, [&](auto const& one) {
                    return each(object->contains(one.c_str()) || missing(one.c_str()));
                });
            });
            c.applyToSchemaDependencies([&](auto const& name, Subschema const* one) {
                return each(!object->contains(name.c_str()) || check(*one));
            });
        });
    }

    bool visit(EnumConstraint const& c) override {
        bool equal = false;
        c.applyToValues(
            [&](auto const& one) { return !(equal = one.equalTo(Adapter(*value_), true)); });
        return equal || wrong("must be one of the values of enum");
    }

    bool visit(FormatConstraint const&) override { return true; }

    bool visit(LinearItemsConstraint const& c) override {
        auto const* const array = value_->if_array();
        if (array == nullptr) return true;
        std::size_t const count = c.getItemSubschemaCount();
        auto const* const further = c.getAdditionalItemsSubschema();
        return every([&](auto const& each) {
            c.applyToItemSubschemas([&](unsigned index, Subschema const* one) {
                return index < array->size() && each(item(*array, index, *one));
            });
            if (array->size() <= count) return;
            if (further == nullptr) {
                each(wrong("must have at most " + std::to_string(count) + " items"));
                return;
            }
            for (std::size_t i = count; i < array->size(); ++i)
                if (!each(item(*array, i, *further))) return;
        });
    }

    bool visit(SingularItemsConstraint const& c) override {
        auto const* const array = value_->if_array();
        auto const* const items = c.getItemsSubschema();
        if (array == nullptr || items == nullptr) return true;
        return every([&](auto const& each) {
            for (std::size_t i = 0; i < array->size(); ++i)
                if (!each(item(*array, i, *items))) return;
        });
    }

    bool visit(MaximumConstraint const& c) override {
        auto const number = number_of(*value_);
        double const most = c.getMaximum();
        if (!number || *number < most || (*number == most && !c.getExclusiveMaximum())) return true;
        return wrong((c.getExclusiveMaximum() ? "must be less than " : "must be at most ") +
                     number_text(most));
    }

    bool visit(MinimumConstraint const& c) override {
        auto const number = number_of(*value_);
        double const least = c.getMinimum();
        if (!number || *number > least || (*number == least && !c.getExclusiveMinimum()))
            return true;
        return wrong((c.getExclusiveMinimum() ? "must be more than " : "must be at least ") +
                     number_text(least));
    }

    bool visit(MultipleOfDoubleConstraint const& c) override {
        auto const number = number_of(*value_);
        auto const rest = number ? std::remainder(*number, c.getDivisor()) : 0;
        return std::abs(rest) <= std::numeric_limits<double>::epsilon() ||
               wrong("must be a multiple of " + number_text(c.getDivisor()));
    }

    bool visit(MultipleOfIntConstraint const& c) override {
        auto const number = number_of(*value_);
        bool const multiple =
            !number ||
            (value_->is_int64() ? value_->get_int64() % c.getDivisor() == 0
                                : std::fmod(*number, static_cast<double>(c.getDivisor())) == 0);
        return multiple || wrong("must be a multiple of " + std::to_string(c.getDivisor()));
    }

    bool visit(MaxItemsConstraint const& c) override {
        return at_most(items(), c.getMaxItems(), "items");
    }
    bool visit(MinItemsConstraint const& c) override {
        return at_least(items(), c.getMinItems(), "items");
    }
    bool visit(MaxLengthConstraint const& c) override {
        return at_most(characters(), c.getMaxLength(), "characters");
    }
    bool visit(MinLengthConstraint const& c) override {
        return at_least(characters(), c.getMinLength(), "characters");
    }
    bool visit(MaxPropertiesConstraint const& c) override {
        return at_most(properties(), c.getMaxProperties(), "properties");
    }
    bool visit(MinPropertiesConstraint const& c) override {
        return at_least(properties(), c.getMinProperties(), "properties");
    }

    bool visit(NotConstraint const& c) override {
        return !quietly(*value_, *c.getSubschema()) || wrong("must not fit the schema of not");
    }

    bool visit(PatternConstraint const& c) override {
        auto const* const text = value_->if_string();
        return text == nullptr || matches(c.getPattern<std::string::allocator_type>(), *text);
    }

    bool visit(PolyConstraint const&) override {
        throw std::runtime_error("the schema has an unsupported keyword");
    }

    bool visit(PropertiesConstraint const& c) override {
        auto const* const object = value_->if_object();
        if (object == nullptr) return true;
        std::vector<bool> known(object->size(), false);
        return every([&](auto const& each) {
            named_properties(c, *object, known, each);
            pattern_properties(c, *object, known, each);
            further_properties(c, *object, known, each);
        });
    }

    bool visit(PropertyNamesConstraint const& c) override {
        auto const* const object = value_->if_object();
        if (object == nullptr) return true;
        return every([&](auto const& each) {
            for (auto const& member : *object) {
                if (quietly(Value(member.key()), *c.getSubschema())) continue;
                if (!each(wrong("has a name that is not allowed: " + std::string(member.key()))))
                    return;
            }
        });
    }

    bool visit(RequiredConstraint const& c) override {
        auto const* const object = value_->if_object();
        if (object == nullptr) return true;
        return every([&](auto const& each) {
            c.applyToRequiredProperties([&](auto const& name) {
                return each(object->contains(name.c_str()) || missing(name.c_str()));
            });
        });
    }

    bool visit(TypeConstraint const& c) override {
        bool fits = false;
        std::string types;
        c.applyToNamedTypes([&](TypeConstraint::JsonType type) {
            auto const [is, name] = has_type(type);
            types += (types.empty() ? "" : " or ") + std::string(name);
            return !(fits = is);
        });
        c.applyToSchemaTypes([&](unsigned, Subschema const* one) {
            return !(fits = fits || quietly(*value_, *one));
        });
        return fits || wrong("must be of type " + types);
    }

    bool visit(UniqueItemsConstraint const&) override {
        auto const* const array = value_->if_array();
        if (array == nullptr) return true;
        std::unordered_map<std::string, std::size_t> seen;  // digest of the text, number of item
        std::size_t number = 0;
        for (Value const& one : *array) {
            std::string text;
            append_text(text, one);
            spend(1 + text.size() / unique_bytes_a_step);
            auto const digest = sha256(text);
            auto const [first, is_new] =
                seen.emplace(std::string(digest.begin(), digest.end()), number++);
            if (!is_new)
                return wrong("item " + std::to_string(first->second) +
                             " is repeated; items must be unique");
        }
        return true;
    }

private:
    using Adapter = valijson::adapters::BoostJsonAdapter;
    using Object = boost::json::object;
    using Array = boost::json::array;

    // One entry into a subschema.
    bool check(Subschema const& schema) {
        bool const last = ++steps_ > allowed_;
        if (last && allowed_ < steps_max) throw TooCostly();
        if (last || level_ >= levels_max)
            throw std::runtime_error("the schema refers to itself without end, or is too large");
        if (schema.getAlwaysInvalid()) return wrong("no value is allowed here");
        Subschema::ApplyFunction each(
            [this](valijson::constraints::Constraint const& c) { return c.accept(*this); });
        ++level_;
        bool const fits = quiet_ > 0 ? schema.applyStrict(each) : schema.apply(each);
        --level_;
        return fits;
    }

    bool at(Place const& place, Value const& value, Subschema const& schema) {
        auto const* const outer_value = std::exchange(value_, &value);
        auto const* const outer_place = std::exchange(place_, &place);
        bool const fits = check(schema);
        value_ = outer_value;
        place_ = outer_place;
        return fits;
    }

    bool quietly(Value const& value, Subschema const& schema) {
        ++quiet_;
        bool const fits = at(Place(), value, schema);
        --quiet_;
        return fits;
    }

    bool item(Array const& array, std::size_t index, Subschema const& schema) {
        return at({.parent = place_, .index = index, .is_item = true}, array[index], schema);
    }

    bool member(Object::value_type const& one, Subschema const& schema) {
        return at({.parent = place_, .name = one.key()}, one.value(), schema);
    }

    // Returns how many of the schemas fit, up to `most`. Discards their violations.
    std::size_t alternatives(auto const& c, std::size_t most) {
        std::size_t fitting = 0;
        ++tentative_;
        c.applyToSubschemas([&](unsigned, Subschema const* one) {
            fitting += check(*one) ? 1 : 0;
            return fitting < most;
        });
        --tentative_;
        return fitting;
    }

    // Returns true if each part fits. `parts` calls its argument with the result of each part; the
    // argument returns whether to continue. Without a reader of the violations, the first misfit
    // ends it.
    bool every(auto const& parts) {
        bool fits = true;
        parts([&](bool one) {
            fits = fits && one;
            return fits || quiet_ == 0;
        });
        return fits;
    }

    bool wrong(std::string message) {
        if (quiet_ > 0 || found_.size() >= violations_max) return false;
        found_.push_back({place_->pointer(), std::move(message)});
        if (found_.size() == violations_max && tentative_ == 0) throw EnoughViolations();
        return false;
    }

    bool missing(std::string const& name) {
        return wrong("Missing required property '" + name + "'.");
    }

    void spend(std::size_t steps) {
        steps_ += steps;
        if (steps_ > allowed_) throw TooCostly();
    }

    // The name of a member, or a string. Reports violations of strings only.
    bool matches(std::string const& pattern, std::string_view text) {
        if (text.size() > matched_length_max)
            return wrong("longer than the " + std::to_string(matched_length_max) +
                         " bytes that are checked against a pattern");
        return found(pattern, text) || wrong("does not match the pattern " + pattern);
    }

    bool found(std::string const& pattern, std::string_view text) {
        Pattern const& compiled = patterns_.at(pattern);
        spend(compiled.steps(text.size()));
        return compiled.found_in(text);
    }

    void named_properties(PropertiesConstraint const& c, Object const& object,
                          std::vector<bool>& known, auto const& each) {
        c.applyToProperties([&](auto const& name, Subschema const* schema) {
            auto const one = object.find({name.data(), name.size()});
            if (one == object.end()) return true;
            known[static_cast<std::size_t>(one - object.begin())] = true;
            return each(member(*one, *schema));
        });
    }

    void pattern_properties(PropertiesConstraint const& c, Object const& object,
                            std::vector<bool>& known, auto const& each) {
        c.applyToPatternProperties([&](auto const& name, Subschema const* schema) {
            std::string const pattern(name.c_str(), name.size());
            std::size_t at = 0;
            for (auto const& one : object) {
                spend(name_steps);
                std::size_t const index = at++;
                bool const too_long = one.key().size() > matched_length_max;
                if (!too_long && !found(pattern, one.key())) continue;
                known[index] = true;
                bool const fits = too_long ? wrong("has a name longer than the " +
                                                   std::to_string(matched_length_max) +
                                                   " bytes that are checked against a pattern")
                                           : member(one, *schema);
                if (!each(fits)) return false;
            }
            return true;
        });
    }

    void further_properties(PropertiesConstraint const& c, Object const& object,
                            std::vector<bool> const& known, auto const& each) {
        auto const* const schema = c.getAdditionalPropertiesSubschema();
        std::size_t at = 0;
        for (auto const& one : object) {
            if (known[at++]) continue;
            bool const fits = schema == nullptr
                                  ? wrong("has the property '" + std::string(one.key()) +
                                          "', which is not allowed")
                                  : member(one, *schema);
            if (!each(fits) || schema == nullptr) return;
        }
    }

    static std::optional<double> number_of(Value const& value) {
        if (auto const* const number = value.if_int64()) return static_cast<double>(*number);
        if (auto const* const number = value.if_uint64()) return static_cast<double>(*number);
        if (auto const* const number = value.if_double()) return *number;
        return std::nullopt;
    }

    [[nodiscard]] std::pair<bool, std::string_view> has_type(TypeConstraint::JsonType type) const {
        switch (type) {
            case TypeConstraint::kAny: return {true, "any"};
            case TypeConstraint::kArray: return {value_->is_array(), "array"};
            case TypeConstraint::kBoolean: return {value_->is_bool(), "boolean"};
            case TypeConstraint::kInteger:
                return {value_->is_int64() || value_->is_uint64(), "integer"};
            case TypeConstraint::kNull: return {value_->is_null(), "null"};
            case TypeConstraint::kNumber: return {value_->is_number(), "number"};
            case TypeConstraint::kObject: return {value_->is_object(), "object"};
            case TypeConstraint::kString: return {value_->is_string(), "string"};
        }
        return {false, "unknown"};
    }

    // nullopt: values of this type have no such size.
    using Size = std::optional<std::size_t>;
    [[nodiscard]] Size items() const {
        return value_->is_array() ? Size(value_->get_array().size()) : std::nullopt;
    }
    [[nodiscard]] Size properties() const {
        return value_->is_object() ? Size(value_->get_object().size()) : std::nullopt;
    }
    [[nodiscard]] Size characters() const {
        if (!value_->is_string()) return std::nullopt;
        return count_utf8(value_->get_string());
    }

    bool at_most(Size size, std::uint64_t most, std::string_view what) {
        return !size || *size <= most ||
               wrong("must have at most " + std::to_string(most) + " " + std::string(what));
    }
    bool at_least(Size size, std::uint64_t least, std::string_view what) {
        return !size || *size >= least ||
               wrong("must have at least " + std::to_string(least) + " " + std::string(what));
    }

    Patterns const& patterns_;
    std::size_t const allowed_;
    std::size_t steps_ = 0;
    std::size_t level_ = 0;
    std::size_t quiet_ = 0;      // within schemas of which only the result counts
    std::size_t tentative_ = 0;  // within alternatives
    Value const* value_ = nullptr;
    Place const* place_ = nullptr;
    std::vector<Violation> found_;
};

}  // namespace

std::optional<std::vector<Violation>> check_value(valijson::Schema const& schema,
                                                  Patterns const& patterns, std::size_t steps,
                                                  boost::json::value const& value) {
    Check run(patterns, steps);
    try {
        if (run.fits(schema, value)) return std::vector<Violation>();
    } catch (EnoughViolations const&) {
        return run.take();
    } catch (TooCostly const&) {
        if (steps < steps_max) return std::nullopt;
        return std::vector<Violation>{{"", "takes too long to be checked against its schema"}};
    }
    return run.take();
}

}  // namespace dormouse::json
