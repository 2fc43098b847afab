#include "json/schema/schema_patterns.h"

#define VALIJSON_USE_EXCEPTIONS 1
#include <valijson/constraints/concrete_constraints.hpp>
#include <valijson/constraints/constraint_visitor.hpp>
#include <valijson/subschema.hpp>

#include <initializer_list>
#include <stdexcept>
#include <unordered_set>

namespace dormouse::json {

namespace {

using valijson::Subschema;

// Visits each subschema once.
class Compiler final : public valijson::constraints::ConstraintVisitor {
public:
    void schema(Subschema const* one) {
        if (one == nullptr || !seen_.insert(one).second) return;
        Subschema::ApplyFunction each(
            [this](valijson::constraints::Constraint const& c) { return c.accept(*this); });
        static_cast<void>(one->apply(each));
    }

    Patterns take() { return std::move(patterns_); }

    bool visit(AllOfConstraint const& c) override { return all_of(c); }
    bool visit(AnyOfConstraint const& c) override { return all_of(c); }
    bool visit(OneOfConstraint const& c) override { return all_of(c); }
    bool visit(ConditionalConstraint const& c) override {
        return these({c.getIfSubschema(), c.getThenSubschema(), c.getElseSubschema()});
    }
    bool visit(ContainsConstraint const& c) override { return these({c.getSubschema()}); }
    bool visit(NotConstraint const& c) override { return these({c.getSubschema()}); }
    bool visit(PropertyNamesConstraint const& c) override { return these({c.getSubschema()}); }
    bool visit(SingularItemsConstraint const& c) override { return these({c.getItemsSubschema()}); }
    bool visit(LinearItemsConstraint const& c) override {
        c.applyToItemSubschemas([this](unsigned, Subschema const* one) { return these({one}); });
        return these({c.getAdditionalItemsSubschema()});
    }
    bool visit(DependenciesConstraint const& c) override {
        c.applyToSchemaDependencies(
            [this](auto const&, Subschema const* one) { return these({one}); });
        return true;
    }
    bool visit(PropertiesConstraint const& c) override {
        auto const part = [this](auto const&, Subschema const* one) { return these({one}); };
        c.applyToProperties(part);
        c.applyToPatternProperties([this](auto const& name, Subschema const* one) {
            pattern(std::string(name.c_str(), name.size()));
            return these({one});
        });
        return these({c.getAdditionalPropertiesSubschema()});
    }
    bool visit(TypeConstraint const& c) override {
        c.applyToSchemaTypes([this](unsigned, Subschema const* one) { return these({one}); });
        return true;
    }
    bool visit(PatternConstraint const& c) override {
        pattern(c.getPattern<std::string::allocator_type>());
        return true;
    }
    bool visit(MultipleOfIntConstraint const& c) override { return positive(c.getDivisor() > 0); }
    bool visit(MultipleOfDoubleConstraint const& c) override {
        return positive(c.getDivisor() > 0);
    }
    bool visit(valijson::constraints::ConstConstraint const&) override { return true; }
    bool visit(EnumConstraint const&) override { return true; }
    bool visit(FormatConstraint const&) override { return true; }
    bool visit(MaximumConstraint const&) override { return true; }
    bool visit(MaxItemsConstraint const&) override { return true; }
    bool visit(MaxLengthConstraint const&) override { return true; }
    bool visit(MaxPropertiesConstraint const&) override { return true; }
    bool visit(MinimumConstraint const&) override { return true; }
    bool visit(MinItemsConstraint const&) override { return true; }
    bool visit(MinLengthConstraint const&) override { return true; }
    bool visit(MinPropertiesConstraint const&) override { return true; }
    bool visit(PolyConstraint const&) override { return true; }
    bool visit(RequiredConstraint const&) override { return true; }
    bool visit(UniqueItemsConstraint const&) override { return true; }

private:
    bool these(std::initializer_list<Subschema const*> parts) {
        for (Subschema const* const one : parts) schema(one);
        return true;
    }

    bool all_of(auto const& c) {
        c.applyToSubschemas([this](unsigned, Subschema const* one) { return these({one}); });
        return true;
    }

    void pattern(std::string const& text) {
        if (patterns_.contains(text)) return;
        auto const& added = patterns_.emplace(text, Pattern(text)).first->second;
        if (!added.error().empty()) throw std::runtime_error(added.error());
    }

    static bool positive(bool is) {
        if (!is) throw std::runtime_error("multipleOf must be more than 0");
        return true;
    }

    Patterns patterns_;
    std::unordered_set<Subschema const*> seen_;
};

}  // namespace

Patterns patterns_of(valijson::Subschema const& schema) {
    Compiler compiler;
    compiler.schema(&schema);
    return compiler.take();
}

}  // namespace dormouse::json
