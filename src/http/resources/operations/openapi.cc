#include "http/resources/operations/openapi.h"

// Embeds the file; the build defines its path.
asm(R"(
    .section .rodata
    .global dormouse_openapi_begin
    .global dormouse_openapi_end
dormouse_openapi_begin:
    .incbin ")" DORMOUSE_OPENAPI R"("
dormouse_openapi_end:
    .byte 0
    .previous
)");

extern "C" {
extern char const dormouse_openapi_begin[];
extern char const dormouse_openapi_end[];
}

namespace dormouse::http {

std::string_view openapi_document() {
    return {dormouse_openapi_begin,
            static_cast<std::size_t>(dormouse_openapi_end - dormouse_openapi_begin)};
}

}  // namespace dormouse::http
