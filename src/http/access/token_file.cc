#include "http/access/token_file.h"

#include "base/text/base64url.h"
#include "base/text/text.h"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace dormouse::http {

namespace {

std::string read_token(std::filesystem::path const& file) {
    std::ifstream in(file);
    std::string token;
    std::getline(in, token);
    return token;
}

// Writes a new file and renames it, so that a reader never sees half of it; readable by its owner
// only from the start.
Result<void> write_token(std::filesystem::path const& file, std::string const& token) {
    auto const new_file = file.string() + ".new";
    int const fd = ::open(new_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail(Code::store_unavailable,
                    "cannot write " + new_file + ": " + std::strerror(errno));
    std::string const line = token + "\n";
    bool const written = ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
    bool const synced = ::fsync(fd) == 0;
    ::close(fd);
    if (!written || !synced)
        return fail(Code::store_full, "cannot write " + new_file + ": " + std::strerror(errno));
    std::error_code error;
    std::filesystem::rename(new_file, file, error);
    if (error)
        return fail(Code::store_unavailable,
                    "cannot write " + file.string() + ": " + error.message());
    return {};
}

}  // namespace

Result<std::vector<Token>> load_tokens(std::filesystem::path const& directory,
                                       port::Entropy& entropy) {
    std::vector<Token> tokens;
    char const* const given = std::getenv("DORMOUSE_TOKEN");
    if (given && *given != '\0') tokens.push_back({"env", given});
    auto const file = directory / "token";
    std::string token = read_token(file);
    if (token.empty()) {
        token = "dm_" + base64url(entropy.random());
        if (auto written = write_token(file, token); !written)
            return std::unexpected(std::move(written.error()));
    }
    tokens.push_back({"first", token});
    return tokens;
}

Result<std::string> load_capability_key(std::filesystem::path const& directory,
                                        port::Entropy& entropy) {
    constexpr std::size_t length = 43;  // 32 bytes in base64url
    auto const file = directory / "callback.key";
    std::string key = read_token(file);
    if (key.size() == length) return key;
    std::error_code ignored;
    if (std::filesystem::exists(file, ignored))
        return fail(Code::internal, file.string() +
                                        " is damaged: put back the one that was there, "
                                        "or delete it, and callback URLs that were "
                                        "given out die");
    key = base64url(entropy.random());
    if (auto written = write_token(file, key); !written)
        return std::unexpected(std::move(written.error()));
    return key;
}

P256Secret new_push_key(port::Entropy& entropy) {
    while (true) {
        P256Secret const secret = entropy.random();
        if (p256_public(secret)) return secret;
    }
}

Result<P256Secret> load_push_key(std::filesystem::path const& directory, port::Entropy& entropy) {
    auto const file = directory / "push.key";
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
        P256Secret const made = new_push_key(entropy);
        if (auto written = write_token(file, base64url(made)); !written)
            return std::unexpected(std::move(written.error()));
        return made;
    }
    auto const bytes = parse_base64url(read_token(file));
    P256Secret secret{};
    bool const whole = bytes && bytes->size() == secret.size();
    if (whole)
        std::ranges::transform(*bytes, secret.begin(),
                               [](char c) { return static_cast<std::uint8_t>(c); });
    if (whole && p256_public(secret)) return secret;
    return fail(Code::internal, file.string() +
                                    " is damaged: put back the one that was there, or delete it, "
                                    "and everybody switches notifications on again");
}

}  // namespace dormouse::http
