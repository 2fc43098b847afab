#pragma once
// A value that is fetched when it is needed, by one request for all who wait for it.

#include "port/world.h"

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dormouse::oidc {

template <class T> class Cached {
public:
    using Answer = std::expected<std::shared_ptr<T const>, std::string>;
    using Done = port::Fn<void(Answer)>;

    // Returns the value if it was fetched less than `age` ago; else nullptr.
    [[nodiscard]] std::shared_ptr<T const> fresh(Duration now, Duration age) const {
        return value_ && now - fetched_ < age ? value_ : nullptr;
    }
    // Adds one who waits. Returns true if the caller must start the request, and then call put().
    [[nodiscard]] bool wait(Done done) {
        waiting_.push_back(std::move(done));
        return waiting_.size() == 1;
    }
    // Answers all who wait. An error leaves the earlier value.
    void put(Duration now, std::expected<T, std::string> got) {
        Answer answer = std::unexpected(got ? std::string() : got.error());
        if (got) {
            answer = value_ = std::make_shared<T const>(*std::move(got));
            fetched_ = now;
        }
        for (Done& done : std::exchange(waiting_, {})) done(answer);
    }

private:
    std::shared_ptr<T const> value_;
    Duration fetched_{};
    std::vector<Done> waiting_;
};

}  // namespace dormouse::oidc
