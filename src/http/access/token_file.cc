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
#include <optional>

namespace dormouse::http {

namespace {

std::string read_token(std::filesystem::path const& file) {
    std::ifstream in(file);
    std::string token;
    std::getline(in, token);
    return token;
}

// Makes a new name in the folder durable. Returns 0 or the error number.
int sync_folder(std::filesystem::path const& folder) {
    int const fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return errno;
    int const error = ::fsync(fd) == 0 ? 0 : errno;
    ::close(fd);
    return error;
}

// Writes a new file and renames it, so that a reader never sees half of it. Only its owner can ever
// read it. It must survive a power cut, because what is signed with the token does.
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
    if (int const unsynced = sync_folder(file.parent_path()); unsynced != 0)
        return fail(Code::store_full,
                    "cannot write " + file.string() + ": " + std::strerror(unsynced));
    return {};
}

// The secret of the file, or `make()` if there is none; agreed on with the other processes, and
// then in the file. `valid`: whether a secret has its form.
template <class Valid, class Make>
Result<std::string> load_secret(std::filesystem::path const& file, Agree const& agree, Valid valid,
                                Make make, std::string const& if_damaged) {
    std::string const found = read_token(file);
    std::error_code ignored;
    bool const exists = std::filesystem::exists(file, ignored);
    if (exists && !valid(found))
        return fail(Code::internal, file.string() + " is damaged: " + if_damaged);
    std::string secret = exists ? found : make();
    if (agree) {
        auto agreed = agree(file.filename().string(), secret);
        if (!agreed) return std::unexpected(std::move(agreed.error()));
        if (!valid(*agreed))
            return fail(Code::internal, "the store has a damaged " + file.filename().string());
        secret = *std::move(agreed);
    }
    if (secret == found) return secret;
    if (auto written = write_token(file, secret); !written)
        return std::unexpected(std::move(written.error()));
    return secret;
}

std::optional<P256Secret> push_key_of(std::string const& text) {
    auto const bytes = parse_base64url(text);
    P256Secret secret{};
    if (!bytes || bytes->size() != secret.size()) return std::nullopt;
    std::ranges::transform(*bytes, secret.begin(),
                           [](char c) { return static_cast<std::uint8_t>(c); });
    return p256_public(secret) ? std::optional(secret) : std::nullopt;
}

}  // namespace

// An empty file is written again.
Result<std::vector<Token>> load_tokens(std::filesystem::path const& directory,
                                       port::Entropy& entropy, Agree const& agree) {
    std::vector<Token> tokens;
    char const* const given = std::getenv("DORMOUSE_TOKEN");
    if (given && *given != '\0') tokens.push_back({"env", given});
    auto const file = directory / "token";
    std::error_code ignored;
    if (read_token(file).empty()) std::filesystem::remove(file, ignored);
    auto token = load_secret(
        file, agree, [](std::string const& text) { return !text.empty(); },
        [&] { return "dm_" + base64url(entropy.random()); }, "delete it");
    if (!token) return std::unexpected(std::move(token.error()));
    tokens.push_back({"first", *std::move(token)});
    return tokens;
}

Result<std::string> load_capability_key(std::filesystem::path const& directory,
                                        port::Entropy& entropy, Agree const& agree) {
    constexpr std::size_t length = 43;  // 32 bytes in base64url
    return load_secret(
        directory / "callback.key", agree,
        [](std::string const& text) { return text.size() == length; },
        [&] { return base64url(entropy.random()); },
        "restore the previous file; or delete it, which makes all issued callback URLs invalid");
}

P256Secret new_push_key(port::Entropy& entropy) {
    while (true) {
        P256Secret const secret = entropy.random();
        if (p256_public(secret)) return secret;
    }
}

Result<P256Secret> load_push_key(std::filesystem::path const& directory, port::Entropy& entropy,
                                 Agree const& agree) {
    auto const text = load_secret(
        directory / "push.key", agree,
        [](std::string const& found) { return push_key_of(found).has_value(); },
        [&] { return base64url(new_push_key(entropy)); },
        "put back the one that was there, or delete it, and everybody switches notifications on "
        "again");
    if (!text) return std::unexpected(text.error());
    return *push_key_of(*text);
}

}  // namespace dormouse::http
