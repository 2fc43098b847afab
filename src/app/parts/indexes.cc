#include "app/parts/indexes.h"

#include "config/values.h"
#include "store/files/file_index.h"
#include "store/redis/redis_index.h"

#include <filesystem>
#include <set>
#include <utility>

namespace dormouse::app {

Result<void> check_indexes(std::vector<std::string> const& places) {
    for (std::string const& place : places) {
        if (auto const todo = config::misfit(config::Form::index, place))
            return fail(Code::bad_value, "--index: " + *todo);
        if (place == "files") continue;
        if (auto const address = store::redis::parse_address(place); !address)
            return fail(Code::bad_value, "--index: " + address.error().detail);
    }
    return {};
}

Result<void> check_secret_index(config::Store const& store) {
    if (!store.secret_index || store.secret_index->value == "files") return {};
    auto const address = store::redis::parse_address(store.secret_index->value);
    if (address) return {};
    return fail(Code::bad_value,
                "the variable " + store.secret_index->env + ": " + address.error().detail);
}

Result<std::vector<IndexPlan>> make_indexes(config::Store const& store, std::string const& data) {
    std::set<std::string> places(store.indexes.begin(), store.indexes.end());
    if (store.secret_index) places.insert(store.secret_index->value);
    if (store.encryption_key && !places.empty())
        return fail(Code::bad_value,
                    "an index is not supported with encryption_key_env of [store], because it is "
                    "not encrypted: remove index, index_url_env or --index, or the key");
    std::vector<IndexPlan> out;
    for (std::string const& place : places) {
        if (place == "files") {
            auto folder = std::filesystem::absolute(data).string();
            out.push_back({std::make_unique<store::FileIndex>(std::move(folder))});
            continue;
        }
        auto address = store::redis::parse_address(place);
        if (!address) return std::unexpected(std::move(address.error()));
        out.push_back({std::make_unique<store::RedisIndex>(*std::move(address)), true});
    }
    return out;
}

Indexes::One::One(Services services, std::unique_ptr<port::Index> made,
                  index::Follower::Options options)
    : index(std::move(made)),
      threads({.threads = 1, .name = "index"}),
      workers(threads, services.loop),
      follower({services.loop, services.clock, services.journal, workers}, *index,
               std::move(options)) {}

Indexes::Indexes(Services services, std::vector<IndexPlan> plans,
                 std::function<bool()> const& leads,
                 std::function<void(port::IndexStatus const&)> const& changed) {
    for (IndexPlan& plan : plans) {
        index::Follower::Options options{.changed = changed};
        if (plan.shared) options.writes = leads;
        all_.push_back(std::make_unique<One>(services, std::move(plan.index), std::move(options)));
    }
}

void Indexes::start() {
    for (auto const& one : all_) one->follower.start();
}

void Indexes::appended() {
    for (auto const& one : all_) one->follower.appended();
}

std::vector<port::IndexStatus> Indexes::status() const {
    std::vector<port::IndexStatus> out;
    for (auto const& one : all_) out.push_back(one->follower.status());
    return out;
}

void Indexes::end() {
    for (auto const& one : all_) {
        one->threads.drain();
        (void)one->index->flush();  // else the next start reads more of the feed
    }
}

}  // namespace dormouse::app
