#pragma once
// The place of a continuous copy: a directory, or a bucket of an S3-compatible object store. Names
// are paths of letters, digits, '.', '-' and '/'. All functions block; one thread at a time.

#include <dormouse/error.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace dormouse::backup {

class Depot {
public:
    virtual ~Depot() = default;
    // Writes or replaces an object, as a whole and durably. After an error it may be written or
    // not.
    [[nodiscard]] virtual Result<void> put(std::string const& name, std::string_view bytes) = 0;
    // Errors: not_found; too_large beyond `bytes_max`.
    [[nodiscard]] virtual Result<std::string> get(std::string const& name,
                                                  std::uint64_t bytes_max) = 0;
    // It is no error if there is no such object.
    [[nodiscard]] virtual Result<void> remove(std::string const& name) = 0;
};

// Opens a directory, which is created if it does not exist, and locked while it is open:
// wrong_state if another process copies there, or if it holds other files than a copy.
[[nodiscard]] Result<std::unique_ptr<Depot>> open_directory_depot(
    std::filesystem::path const& path);
// Opens a copy to read it, also while a server writes it.
[[nodiscard]] std::unique_ptr<Depot> read_directory_depot(std::filesystem::path const& path);

struct ObjectStore {
    std::string place;     // s3://BUCKET/PREFIX
    std::string endpoint;  // empty: that of AWS for the region
    std::string region;
    std::string access_key;
    std::string secret_key;
};

[[nodiscard]] bool is_object_store(std::string_view place);
// Empty settings come from AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. Errors:
// bad_value, also if there are no keys. No error has a key in it. `stop`: ends what is under way,
// after `stop_after`.
[[nodiscard]] Result<std::unique_ptr<Depot>> open_object_store(
    ObjectStore settings, std::atomic<bool> const* stop,
    std::chrono::milliseconds stop_after = std::chrono::seconds(3));
[[nodiscard]] Result<void> check_object_store(ObjectStore const& settings);

}  // namespace dormouse::backup
