#include "app/parts/channel.h"

#include "base/text/text.h"
#include "io/clock.h"
#include "store/redis/redis_channel.h"

#include <memory>
#include <string>

namespace dormouse::app {

namespace {

Result<store::redis::Address> address_of(config::Store const& store) {
    if (!store.secret_signal && store.signal_url.empty())
        return fail(Code::bad_value,
                    "signal = \"redis\" needs the address of a Redis server: set signal_url, or "
                    "signal_url_env if it has a password");
    auto address = store::redis::parse_address(store.secret_signal ? store.secret_signal->value
                                                                   : store.signal_url);
    if (address) return address;
    return fail(Code::bad_value,
                (store.secret_signal ? "the variable " + store.secret_signal->env + ": "
                                     : std::string("signal_url: ")) +
                    address.error().detail);
}

}  // namespace

Result<void> check_channel(config::Store const& store) {
    if (store.signal != config::StoreSignal::redis) return {};
    auto const address = address_of(store);
    if (!address) return std::unexpected(address.error());
    return {};
}

Result<void> add_channel(config::Store const& store, runtime::OpenedStore& opened) {
    if (store.signal != config::StoreSignal::redis || !opened.shared) return {};
    auto const address = address_of(store);
    if (!address) return std::unexpected(address.error());
    io::SystemEntropy entropy;
    auto key = opened.shared->agree("signal_key", hex(entropy.random()));
    if (!key) return std::unexpected(std::move(key.error()));
    opened.channel = std::make_unique<store::RedisChannel>(*address, *std::move(key));
    return {};
}

}  // namespace dormouse::app
