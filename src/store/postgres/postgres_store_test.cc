#include "store/postgres/postgres_store.h"

#include "store/memory/conformance.h"
#include "store/postgres/testing/test_server.h"

namespace dormouse::store {
namespace {

using postgres::TestServer;

std::unique_ptr<PostgresStore> open_at(std::string const& url, PostgresOptions options = {}) {
    options.relaxed = true;
    auto opened = PostgresStore::open(url, options);
    if (!opened) {
        ADD_FAILURE() << opened.error().detail;
        std::abort();
    }
    return std::move(opened.value());
}

class Postgres final : public StoreUnderTest {
public:
    port::Store& store() override { return *store_; }
    void reopen() override {
        store_.reset();
        store_ = open_at(url_);
    }

private:
    std::string url_ = TestServer::instance()->fresh_url();
    std::unique_ptr<PostgresStore> store_ = open_at(url_);
};

std::unique_ptr<StoreUnderTest> make_postgres() {
    if (!postgres::has_server()) return nullptr;
    return std::make_unique<Postgres>();
}

INSTANTIATE_TEST_SUITE_P(Postgres, StoreConformance,
                         testing::Values(StoreKind{"postgres", make_postgres}),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace dormouse::store
