#pragma once
// A store whose reads sometimes fail. Successful reads return what the underlying store returns.

#include "port/divided_store_members.h"

#include <functional>
#include <utility>

namespace dormouse::sim {

class FlakyStore final : public port::DividedStore<FlakyStore> {
public:
    // `store` must outlive this object. `fails` is called once for each read.
    FlakyStore(port::Store& store, std::function<bool()> fails)
        : store_(store), fails_(std::move(fails)) {}

    [[nodiscard]] Epoch epoch() const override { return store_.epoch(); }
    [[nodiscard]] bool shared() const override { return store_.shared(); }
    [[nodiscard]] std::size_t readers() const override { return store_.readers(); }
    [[nodiscard]] std::uint64_t next_session_number() override {
        return store_.next_session_number();
    }
    // REQUIRES: the reader does not commit.
    [[nodiscard]] std::vector<port::AppendResult> commit(
        std::span<port::Append const> appends) override {
        return {appends.size(), fail(Code::internal, "a reader does not commit")};
    }

    [[nodiscard]] Result<void> ping() override {
        return reading([](port::Store& store) { return store.ping(); });
    }

private:
    friend port::DividedStore<FlakyStore>;
    template <class Ask>
    [[nodiscard]] auto reading(Ask ask) -> decltype(ask(std::declval<port::Store&>())) {
        if (fails_()) return fail(Code::store_unavailable, "the simulated store does not answer");
        return ask(store_);
    }
    // REQUIRES: the reader does not write.
    template <class Work> [[nodiscard]] static Result<void> writing(Work const& /*work*/) {
        return fail(Code::internal, "a reader does not write");
    }

    port::Store& store_;
    std::function<bool()> fails_;
};

}  // namespace dormouse::sim
