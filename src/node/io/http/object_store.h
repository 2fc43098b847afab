#pragma once
// A client of an S3-compatible object store: whole objects, signed with AWS Signature Version 4.
// It blocks. One thread at a time.

#include <dormouse/error.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dormouse::io {

class ObjectStore {
public:
    struct Options {
        std::string url;  // https://HOST/BUCKET[/PREFIX], with escapes, without a slash at its end
        std::string region;
        std::string access_key;
        std::string secret_key;
        std::string user_agent;
        // Once true, requests are given `stop_after` more to end, all together. May be null.
        std::atomic<bool> const* stop = nullptr;
        std::chrono::milliseconds stop_after{3'000};
    };
    explicit ObjectStore(Options options);
    ~ObjectStore();
    ObjectStore(ObjectStore const&) = delete;
    ObjectStore& operator=(ObjectStore const&) = delete;

    // `name`: letters, digits, '.', '-', '_' and '/'. Errors: forbidden (the keys are rejected);
    // not_found (no such object), wrong_state (no such bucket), store_unavailable (503, no answer,
    // no connection), too_large. They never contain a key.
    [[nodiscard]] Result<void> put(std::string const& name, std::string_view bytes);
    [[nodiscard]] Result<std::string> get(std::string const& name, std::uint64_t bytes_max);
    [[nodiscard]] Result<void> remove(std::string const& name);

private:
    class Request;
    struct Easy;

    Options const options_;
    std::unique_ptr<Easy> easy_;  // keeps its connection
};

}  // namespace dormouse::io
