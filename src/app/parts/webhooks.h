#pragma once
// Webhook and e-mail settings of dormouse.toml, as the server and the pump need them.

#include "config/config.h"
#include "http/access/people.h"
#include "io/http/mail_client.h"
#include "webhook/pump.h"
#include "webhook/source.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace dormouse::app {

// Returns the options of the pump. `page` returns the URL of a pending call's page.
[[nodiscard]] webhook::Pump::Options webhook_options(
    config::Config const& config, std::function<std::string(PendingId const&)> page);
// Returns the options that may change while the server runs.
[[nodiscard]] webhook::Pump::Changes webhook_changes(config::Config const& config);
// [[user]], and the secrets that verify presses of buttons.
[[nodiscard]] http::People people_of(config::Config const& config);
// Sends their e-mail; null: none is sent. `loop` outlives it.
[[nodiscard]] std::unique_ptr<io::SmtpClient> mail_client_of(config::Config const& config,
                                                             port::Loop& loop);
// Sources that have a secret.
[[nodiscard]] std::vector<webhook::Source> webhook_sources(config::Config const& config);

}  // namespace dormouse::app
