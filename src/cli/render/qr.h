#pragma once
// QR codes for terminals (ISO/IEC 18004, by libqrencode). Pure.

#include <string>
#include <string_view>

namespace dormouse::cli {

// Returns `text` as lines of half blocks, two rows of the code in each, with the quiet zone of four
// modules that scanners need; black on white whatever the colours of the terminal. Empty if `text`
// is too long (over 2,331 bytes).
[[nodiscard]] std::string qr_code(std::string_view text);

}  // namespace dormouse::cli
