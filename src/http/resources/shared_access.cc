#include "http/resources/shared_access.h"

#include "http/resources/api.h"

#include <utility>

namespace dormouse::http {

namespace {

constexpr Duration read_again_after{100};

}  // namespace

void SharedAccess::heard(std::uint64_t changes) {
    if (std::exchange(heard_, changes) != changes) read();
}

std::shared_ptr<void> SharedAccess::changing() {
    ++begun_;
    return running_;
}

void SharedAccess::read() {
    if (std::exchange(reading_, true)) return;
    auto question = [](port::Store& store) -> Result<Access> {
        auto tokens = store.tokens();
        if (!tokens) return std::unexpected(std::move(tokens.error()));
        auto devices = store.devices();
        if (!devices) return std::unexpected(std::move(devices.error()));
        auto rules = store.rules();
        if (!rules) return std::unexpected(std::move(rules.error()));
        return Access{*std::move(tokens), *std::move(devices), *std::move(rules)};
    };
    port::ask(services_.journal, std::move(question),
              scope_.guard(
                  [this, begun = begun_](Result<Access> const& access) { take(begun, access); }));
}

// What this process changed while the store was read may be missing in the answer, or be in it
// although it is gone.
void SharedAccess::take(std::uint64_t begun, Result<Access> const& access) {
    reading_ = false;
    if (!access || begun != begun_ || running_.use_count() > 1)
        return services_.loop.after(read_again_after, scope_.guard([this] { read(); }));
    services_.gate.tokens().replace_stored(access->tokens);
    services_.gate.devices().replace(access->devices);
    services_.runner.rules().replace(access->rules);
    changed_();
}

}  // namespace dormouse::http
