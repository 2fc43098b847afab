#include "cli/render/qr.h"

#include <gtest/gtest.h>

namespace dormouse::cli {
namespace {

TEST(QrCode, Code_IsSquareWithQuietZoneAndFinderPatterns) {
    auto const code = qr_code("http://127.0.0.1:3676/sign-in#dml_0123456789");
    std::size_t lines = 0;
    for (char const c : code) lines += c == '\n';
    // 44 bytes at level M are version 4: 33 modules and 8 of quiet zone, two rows in each line.
    EXPECT_EQ(lines, 21U);
    auto const third = code.find("\x1b[30;107m", code.find('\n', code.find('\n') + 1));
    EXPECT_EQ(code.substr(third + 9, 4), "    ");
    EXPECT_EQ(code.substr(third + 13, 21), "█▀▀▀▀▀█");
}

TEST(QrCode, TextTooLong_ReturnsEmpty) { EXPECT_EQ(qr_code(std::string(3000, 'x')), ""); }

}  // namespace
}  // namespace dormouse::cli
