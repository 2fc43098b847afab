#include "http/resources/operations/doctor/readiness.h"

#include <utility>

namespace dormouse::http {

namespace {

// Maximum time that a probe waits for the store. After that the store's last answer counts, if it
// is recent.
constexpr Duration patience{500};
constexpr Duration answer_holds{30'000};

}  // namespace

void Readiness::answer(ExchangePtr const& x) {
    waiting_.push_back(x);
    ask_store();
    if (waiting_.size() > 1) return;
    services_.loop.after(patience, scope_.guard([this, round = round_] {
        if (round == round_) run_out_of_time();
    }));
}

void Readiness::ask_store() {
    if (std::exchange(asking_, true)) return;
    port::ask(
        services_.journal, [](port::MaintenanceStore& store) { return store.ping(); },
        scope_.guard([this](Result<void> const& answer) { answered(answer); }));
}

void Readiness::answered(Result<void> const& answer) {
    asking_ = false;
    answered_at_ = answer ? std::optional(services_.runner.now()) : std::nullopt;
    auto const refusal = services_.unwritable ? services_.unwritable() : std::nullopt;
    answer_all(answer && refusal ? std::unexpected(*refusal) : answer);
}

void Readiness::run_out_of_time() {
    bool const well = answered_at_ && services_.runner.now() < *answered_at_ + answer_holds;
    if (well) return answer_all({});
    answer_all(dormouse::fail(Code::store_unavailable, "The store does not answer."));
}

void Readiness::answer_all(Result<void> const& answer) {
    ++round_;
    std::string const ready =
        services_.runner.held() ? R"({"ready":true,"held":true})" : R"({"ready":true})";
    for (ExchangePtr const& x : std::exchange(waiting_, {}))
        answer ? x->json(200, ready) : x->fail(answer.error());
}

}  // namespace dormouse::http
