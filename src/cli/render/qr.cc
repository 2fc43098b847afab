#include "cli/render/qr.h"

#include <qrencode.h>

#include <cstdint>
#include <memory>

namespace dormouse::cli {
namespace {

constexpr int quiet = 4;  // modules, ISO/IEC 18004 §6.3.8

struct FreeCode {
    void operator()(QRcode* code) const { QRcode_free(code); }
};

bool is_dark(QRcode const& code, int row, int column) {
    if (row < 0 || column < 0 || row >= code.width || column >= code.width) return false;
    return (code.data[row * code.width + column] & 1U) != 0;
}

// Sets both colours: on a dark terminal the code would be inverted, which some scanners cannot
// read.
constexpr std::string_view black_on_white = "\x1b[30;107m";
constexpr std::string_view reset = "\x1b[0m";

}  // namespace

std::string qr_code(std::string_view text) {
    std::unique_ptr<QRcode, FreeCode> const code(
        QRcode_encodeData(static_cast<int>(text.size()),
                          reinterpret_cast<unsigned char const*>(text.data()), 0, QR_ECLEVEL_M));
    if (!code) return {};
    std::string out;
    for (int row = -quiet; row < code->width + quiet; row += 2) {
        out += black_on_white;
        for (int column = -quiet; column < code->width + quiet; ++column) {
            bool const upper = is_dark(*code, row, column);
            bool const lower = is_dark(*code, row + 1, column);
            out += upper ? (lower ? "█" : "▀") : (lower ? "▄" : " ");
        }
        out += reset;
        out += '\n';
    }
    return out;
}

}  // namespace dormouse::cli
