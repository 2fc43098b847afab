#pragma once
// Opens pages in the browser of a person's desktop.

#include "cli/client/saved/settings.h"

#include <string>
#include <vector>

namespace dormouse::cli {

// The program and its arguments that open `address`: $BROWSER (the first of a list with colons; %s
// is the address, which else is the last argument) or xdg-open. Empty: there is no desktop. Pure.
[[nodiscard]] std::vector<std::string> browser_command(Environment const& env,
                                                       std::string const& address);

// A file in `directory`, which only its owner may read, that leads to `url`: so a secret in the URL
// is in no list of processes. Returns its address; empty: it cannot be written.
[[nodiscard]] std::string page_that_leads_to(std::string const& directory, std::string const& url);

// Starts the program. false: it cannot be started.
[[nodiscard]] bool start_browser(std::vector<std::string> command);

}  // namespace dormouse::cli
