#include "agent/catalogue.h"

#include <gtest/gtest.h>

namespace dormouse::agent {
namespace {

// Runs each job at once, or refuses it.
struct Hands final : port::Workers {
    bool full = false;
    std::stop_source run(port::Fn<void(std::stop_token)> job,
                         port::Fn<void(bool ran)> done) override {
        std::stop_source source;
        if (!full) job(source.get_token());
        done(!full);
        return source;
    }
};

class CatalogueTest : public ::testing::Test {
protected:
    CatalogueTest() {
        Tool validated = named("validated");
        validated.validate = [](Json const& output) -> std::optional<std::string> {
            if (output.text() == "1") return std::nullopt;
            return "must be 1";
        };
        registry.add(std::move(validated));
        Tool checked = named("checked");
        checked.check = [](port::OfferedResult const& what,
                           port::Fn<void(port::ValidationResult)> then) {
            then(what.tool + " " + std::string(what.output.text()));
            return StopTool();
        };
        registry.add(std::move(checked));
        registry.add(named("plain"));
    }
    static Tool named(std::string name) {
        Tool out;
        out.name = std::move(name);
        out.schema = Json::trusted(R"({"type":"object"})");
        out.run = [](ToolCall const&, std::stop_token const&) { return ToolResult(Done{}); };
        return out;
    }
    static std::string validate(RegistryCatalogue& catalogue, std::string tool,
                                std::string output) {
        std::string out = "nothing";
        catalogue.validate({{}, std::move(tool), {}, Json::trusted(std::move(output))},
                           [&](port::ValidationResult const& result) {
                               out = !result   ? std::string(info(result.error().code).text)
                                     : *result ? **result
                                               : "fits";
                           });
        return out;
    }

    Registry registry;
    Hands hands;
};

TEST_F(CatalogueTest, BlockingValidator_RunsOnWorkers_AsyncOneDoesNot) {
    RegistryCatalogue catalogue(registry, &hands);
    EXPECT_EQ(validate(catalogue, "validated", "1"), "fits");
    EXPECT_EQ(validate(catalogue, "validated", "2"), "must be 1");
    EXPECT_EQ(validate(catalogue, "checked", "2"), "checked 2");
    EXPECT_FALSE(catalogue.has_validator("plain"));
    EXPECT_FALSE(catalogue.has_validator("gone"));
    RegistryCatalogue const without(registry);
    EXPECT_FALSE(without.has_validator("validated"));
    EXPECT_TRUE(without.has_validator("checked"));
}

TEST_F(CatalogueTest, Validate_WorkersFull_ReportsOverloaded) {
    RegistryCatalogue catalogue(registry, &hands);
    hands.full = true;
    EXPECT_EQ(validate(catalogue, "validated", "1"), "overloaded");
}

}  // namespace
}  // namespace dormouse::agent
