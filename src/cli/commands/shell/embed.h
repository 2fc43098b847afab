#pragma once
// EMBED(name, "file") embeds the bytes of a template file in the program, as name and name_end.
// The build defines the folder for each source that uses it.

#include <string_view>

#define EMBED(name, file)                                                    \
    asm(".section .rodata\n.global " #name "\n.global " #name "_end\n" #name \
        ":\n.incbin \"" DORMOUSE_TEMPLATES "/" file "\"\n" #name             \
        "_end:\n"                                                            \
        ".byte 0\n.previous\n");                                             \
    extern "C" char const name[];                                            \
    extern "C" char const name##_end[];

namespace dormouse::cli {

[[nodiscard]] inline std::string_view between(char const* begin, char const* end) {
    return {begin, static_cast<std::size_t>(end - begin)};
}

}  // namespace dormouse::cli
