#include "cli/client/saved/contexts.h"

#include "base/text/chars.h"
#include "cli/client/address.h"
#include "io/fd.h"
#include "json/json.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace dormouse::cli {
namespace {

constexpr std::size_t contexts_bytes_max = std::size_t{1} << 20;

std::unexpected<Failure> unusable(std::string const& path, std::string const& why,
                                  std::string remedy) {
    return failure(status::usage, path + " " + why, std::move(remedy));
}

// Returns the content; empty: there is no file.
Outcome<std::string> read_private(std::string const& path) {
    io::Fd const file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file.open()) {
        if (errno == ENOENT || errno == ENOTDIR) return std::string();
        return unusable(path, std::string("cannot be read: ") + std::strerror(errno), {});
    }
    struct stat about{};
    if (::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode))
        return unusable(path, "is not a file", "Remove it, and sign in again: dormouse login URL.");
    if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return unusable(path, "holds tokens, and others may read it",
                        "Protect it: chmod 600 " + shell_word(path) + ".");
    std::string text(contexts_bytes_max, '\0');
    std::size_t size = 0;
    for (ssize_t got = 1; got > 0 && size < text.size();) {
        got = ::read(file.get(), text.data() + size, text.size() - size);
        if (got > 0) size += static_cast<std::size_t>(got);
    }
    text.resize(size);
    return text;
}

bool write_whole(int fd, std::string_view text) {
    while (!text.empty()) {
        auto const put = ::write(fd, text.data(), text.size());
        if (put <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(put));
    }
    return ::fsync(fd) == 0;
}

std::string names_of(Contexts const& contexts) {
    std::string out;
    for (Login const& login : contexts.logins) out += (out.empty() ? "" : ", ") + login.name;
    return out;
}

Outcome<Login> named(Contexts const& contexts, std::string const& name) {
    if (Login const* const found = contexts.find(name)) return *found;
    auto const names = names_of(contexts);
    return failure(status::not_found, "no context is called " + name,
                   names.empty() ? "Sign in to a server first: dormouse login URL."
                                 : "There are: local, " + names + ".");
}

// Returns the login for an address that was given otherwise.
Login login_for(Contexts const& contexts, std::string const& given) {
    auto const address = parse_url(given);
    if (!address) return {};  // reported where it is used
    auto const found = std::ranges::find(contexts.logins, address->url(), &Login::url);
    return found == contexts.logins.end() ? Login{} : *found;
}

}  // namespace

Login const* Contexts::find(std::string_view name) const {
    auto const found = std::ranges::find(logins, name, &Login::name);
    return found == logins.end() ? nullptr : &*found;
}

void Contexts::put(Login login) {
    auto const found = std::ranges::find(logins, login.name, &Login::name);
    if (found == logins.end())
        logins.push_back(std::move(login));
    else
        *found = std::move(login);
}

bool is_context_name(std::string_view name) {
    constexpr std::size_t length_max = 64;
    return !name.empty() && name.size() <= length_max && name != local_context &&
           name.front() != '-' && is_made_of(name, ".-_");
}

std::string context_name_of(std::string_view url) {
    auto const address = parse_url(url);
    if (!address) return {};
    std::string out = address->host;
    if (address->port != (address->tls ? "443" : "80")) out += "-" + address->port;
    std::ranges::replace_if(out, [](char c) { return !is_made_of({&c, 1}, ".-_"); }, '-');
    if (out.starts_with('-')) out.insert(0, "server");
    return out.substr(0, 64);
}

std::string contexts_file(Environment const& env) {
    auto const config = own_config(env);
    if (config.empty()) return {};
    return std::filesystem::path(config).parent_path().string() + "/contexts.json";
}

Outcome<Contexts> read_contexts(Environment const& env) {
    auto const path = contexts_file(env);
    if (path.empty()) return Contexts{};
    auto const text = read_private(path);
    if (!text) return std::unexpected(text.error());
    if (text->empty()) return Contexts{};
    auto const json = json::check(*text);
    if (!json || json::View(*json)["contexts"].kind() != json::Kind::array)
        return unusable(path, "is not a list of contexts",
                        "Remove it, and sign in again: dormouse login URL.");
    Contexts out;
    json::View const all(*json);
    out.current = all["current"].string_or("");
    all["contexts"].elements([&](json::View one) {
        out.logins.push_back({.name = one["name"].string_or(""),
                              .url = one["url"].string_or(""),
                              .token = one["token"].string_or("")});
    });
    return out;
}

Outcome<void> write_contexts(Environment const& env, Contexts const& contexts) {
    auto const path = contexts_file(env);
    if (path.empty())
        return failure(status::usage, "no home is known: HOME and XDG_CONFIG_HOME are empty");
    json::Writer out;
    out.begin_object().member("current", contexts.current).key("contexts").begin_array();
    for (Login const& login : contexts.logins) {
        out.begin_object().member("name", login.name).member("url", login.url);
        out.member("token", login.token).end_object();
    }
    auto const text = out.end_array().end_object().take() + "\n";
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
    // Replaces the file atomically, also when two commands end at the same time.
    auto const fresh = path + "." + std::to_string(::getpid());
    io::Fd file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    bool const whole = file.open() && write_whole(file.get(), text) &&
                       std::rename(fresh.c_str(), path.c_str()) == 0;
    if (whole) return {};
    std::string const why = std::strerror(errno);
    ::unlink(fresh.c_str());
    return failure(status::failed, "cannot write " + path + ": " + why);
}

Outcome<void> choose_login(Global& global, Environment const& env) {
    auto const contexts = read_contexts(env);
    if (!contexts) return std::unexpected(contexts.error());
    if (!global.context.empty()) {
        if (global.context == local_context) return {};
        auto login = named(*contexts, global.context);
        if (!login) return std::unexpected(login.error());
        global.login = *std::move(login);
        return {};
    }
    auto const& given = global.server.empty() ? env.url : global.server;
    if (!given.empty()) {
        if (env.token.empty()) global.login = login_for(*contexts, given);
        return {};
    }
    if (!global.data.empty() || contexts->current.empty()) return {};
    if (Login const* const current = contexts->find(contexts->current)) global.login = *current;
    return {};
}

}  // namespace dormouse::cli
