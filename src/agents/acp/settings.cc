#include "acp/settings.h"

namespace dormouse::acp {

namespace {

constexpr std::size_t complaints_kept = std::size_t{64} << 10;
constexpr std::size_t secret_bytes_min = 6;  // shorter ones occur in other words

}  // namespace

port::ProcessSpec process_of(Settings const& settings, std::string const& folder,
                             std::string const& password) {
    port::ProcessSpec out;
    if (settings.before) out.sandbox = settings.before(folder);
    out.argv = settings.argv;
    out.share = "agent " + settings.agent;
    out.cwd = folder;
    out.environment = settings.environment;
    if (!settings.password_variable.empty())
        set_variable(out.environment, settings.password_variable, password);
    out.time_limit = Duration::max();
    out.error_kept = complaints_kept;
    return out;
}

void set_variable(std::vector<std::string>& environment, std::string const& name,
                  std::string const& value) {
    std::erase_if(environment, [&](std::string const& one) { return one.starts_with(name + "="); });
    environment.push_back(std::string(name).append("=").append(value));
}

std::string without_secrets(Settings const& settings, std::string text,
                            std::string const& password) {
    auto const hide = [&](std::string const& secret) {
        if (secret.size() < secret_bytes_min) return;
        for (auto at = text.find(secret); at != std::string::npos; at = text.find(secret, at + 3))
            text.replace(at, secret.size(), "***");
    };
    for (std::string const& secret : settings.secrets) hide(secret);
    hide(password);
    return text;
}

}  // namespace dormouse::acp
