#pragma once
// Stores on the tests' server.

#include "store/memory/conformance_fixture.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/testing/test_server.h"

#include <cstdlib>
#include <memory>
#include <string>

namespace dormouse::store::postgres {

inline std::unique_ptr<PostgresStore> open_store(std::string const& url,
                                                 PostgresOptions options = {}) {
    options.relaxed = true;
    auto opened = PostgresStore::open(url, options);
    if (!opened) {
        ADD_FAILURE() << opened.error().detail;
        std::abort();
    }
    return std::move(opened.value());
}

// Two processes on one schema, as far as the database can tell.
class SharedStores : public PostgresTest {
protected:
    void SetUp() override {
        PostgresTest::SetUp();
        if (IsSkipped()) return;
        url_ = server().fresh_url();
        a_ = open_store(url_);
        b_ = open_store(url_);
    }

    // Runs statements in the schema, as another program would.
    void sql(std::string const& statements) const {
        server().run("SET search_path TO " + parse_address(url_)->schema + ";" + statements);
    }
    [[nodiscard]] std::int64_t number(char const* query) const {
        auto connection = in_schema();
        auto const rows = connection.run(Call{query}, std::chrono::seconds(5));
        EXPECT_TRUE(rows) << rows.error().error.detail;
        return rows ? rows->integer(0, 0) : -1;
    }
    [[nodiscard]] Connection in_schema() const {
        auto connection = server().connect(server().url());
        EXPECT_TRUE(connection.script("SET search_path TO " + parse_address(url_)->schema,
                                      std::chrono::seconds(5)));
        return connection;
    }
    static void write(port::Store& store, port::Append const& one) {
        auto const results = store.commit({&one, 1});
        ASSERT_TRUE(results[0]) << results[0].error().detail;
    }

    std::string url_;
    std::unique_ptr<PostgresStore> a_;
    std::unique_ptr<PostgresStore> b_;
};

}  // namespace dormouse::store::postgres
