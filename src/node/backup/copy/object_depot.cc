#include "backup/copy/depot.h"
#include "base/text/chars.h"
#include "base/url.h"
#include "io/http/object_store.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace dormouse::backup {

namespace {

constexpr std::string_view scheme = "s3://";
constexpr std::size_t bucket_min = 3, bucket_max = 63, prefix_max = 512;

class ObjectDepot final : public Depot {
public:
    explicit ObjectDepot(io::ObjectStore::Options options) : store_(std::move(options)) {}

    [[nodiscard]] Result<void> put(std::string const& name, std::string_view bytes) override {
        return store_.put(name, bytes);
    }
    [[nodiscard]] Result<std::string> get(std::string const& name,
                                          std::uint64_t bytes_max) override {
        return store_.get(name, bytes_max);
    }
    [[nodiscard]] Result<void> remove(std::string const& name) override {
        return store_.remove(name);
    }

private:
    io::ObjectStore store_;
};

bool is_name(std::string_view text) { return is_made_of(text, "-._"); }

// "BUCKET/PREFIX" of the place. Error: bad_value.
Result<std::string> path_of(std::string_view place) {
    auto const wrong = [&] {
        return fail(Code::bad_value,
                    std::string(place) +
                        " must be s3://BUCKET or s3://BUCKET/PREFIX, of letters, digits and . - _; "
                        "the bucket of 3 to 63 characters, both together of at most 512");
    };
    std::string_view rest = place.substr(scheme.size());
    while (rest.ends_with('/')) rest.remove_suffix(1);
    auto const end = std::min(rest.find('/'), rest.size());
    if (end < bucket_min || end > bucket_max || rest.size() > prefix_max) return wrong();
    for (std::string_view left = rest; !left.empty();) {
        auto const part = left.substr(0, std::min(left.find('/'), left.size()));
        if (part.empty() || part.starts_with('.') || !is_name(part)) return wrong();
        left.remove_prefix(std::min(part.size() + 1, left.size()));
    }
    return std::string(rest);
}

void take_variable(std::string& to, char const* name) {
    char const* const value = std::getenv(name);
    if (to.empty() && value != nullptr) to = value;
}

// Replaces empty settings by those of the environment, or by defaults.
ObjectStore completed_settings(ObjectStore settings) {
    take_variable(settings.endpoint, "AWS_ENDPOINT_URL");
    take_variable(settings.region, "AWS_REGION");
    take_variable(settings.access_key, "AWS_ACCESS_KEY_ID");
    take_variable(settings.secret_key, "AWS_SECRET_ACCESS_KEY");
    if (settings.region.empty()) settings.region = "us-east-1";
    if (settings.endpoint.empty())
        settings.endpoint = "https://s3." + settings.region + ".amazonaws.com";
    while (settings.endpoint.ends_with('/')) settings.endpoint.pop_back();
    return settings;
}

bool is_plain_line(std::string_view text) {
    return std::ranges::all_of(text, [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

// Returns the URL of the copy.
Result<std::string> url_of(ObjectStore const& settings) {
    auto const path = path_of(settings.place);
    if (!path) return path;
    auto const endpoint = parse_url(settings.endpoint);
    if (!endpoint || !endpoint->target.empty())
        return fail(Code::bad_value,
                    "the endpoint of the object store must be a URL such as "
                    "https://s3.example.org, without a path");
    if (!is_name(settings.region))
        return fail(Code::bad_value, "the region must be of letters, digits and -");
    if (settings.access_key.empty() || settings.secret_key.empty())
        return fail(Code::bad_value,
                    settings.place +
                        " needs an access key and a secret key: set access_key_env and "
                        "secret_key_env in [backup], or AWS_ACCESS_KEY_ID and "
                        "AWS_SECRET_ACCESS_KEY");
    bool const plain = is_plain_line(settings.access_key) && is_plain_line(settings.secret_key) &&
                       !settings.access_key.contains(':');
    if (!plain)
        return fail(Code::bad_value,
                    "the access key or the secret key has a character that no key has");
    return settings.endpoint + "/" + *path;
}

}  // namespace

bool is_object_store(std::string_view place) { return place.starts_with(scheme); }

Result<void> check_object_store(ObjectStore const& settings) {
    auto const url = url_of(completed_settings(settings));
    if (!url) return std::unexpected(url.error());
    return {};
}

Result<std::unique_ptr<Depot>> open_object_store(ObjectStore settings,
                                                 std::atomic<bool> const* stop,
                                                 std::chrono::milliseconds stop_after) {
    settings = completed_settings(std::move(settings));
    auto url = url_of(settings);
    if (!url) return std::unexpected(std::move(url.error()));
    return std::make_unique<ObjectDepot>(
        io::ObjectStore::Options{.url = *std::move(url),
                                 .region = settings.region,
                                 .access_key = std::move(settings.access_key),
                                 .secret_key = std::move(settings.secret_key),
                                 .user_agent = "dormouse",
                                 .stop = stop,
                                 .stop_after = stop_after});
}

}  // namespace dormouse::backup
