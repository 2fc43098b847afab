#include "acp/settings.h"

namespace dormouse::acp {

namespace {

constexpr std::size_t complaints_kept = std::size_t{64} << 10;
constexpr std::size_t secret_bytes_min = 6;  // shorter ones stand in too much else

}  // namespace

port::ProcessSpec process_of(Settings const& settings, std::string const& folder,
                             std::string const& password) {
    port::ProcessSpec out;
    if (settings.before) out.argv = settings.before(folder);
    out.argv.insert(out.argv.end(), settings.argv.begin(), settings.argv.end());
    out.cwd = folder;
    out.environment = settings.environment;
    if (!settings.password_variable.empty())
        out.environment.push_back(settings.password_variable + "=" + password);
    out.time_limit = Duration::max();
    out.error_kept = complaints_kept;
    return out;
}

std::string without_secrets(Settings const& settings, std::string text) {
    for (std::string const& secret : settings.secrets) {
        if (secret.size() < secret_bytes_min) continue;
        for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at + 3))
            text.replace(at, secret.size(), "***");
    }
    return text;
}

}  // namespace dormouse::acp
