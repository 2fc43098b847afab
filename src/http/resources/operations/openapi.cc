#include "http/resources/operations/openapi.h"

// The build tells the path. The bytes stand in the program as they stand in the file.
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

namespace dormouse::server {

std::string_view openapi_document() {
    return {dormouse_openapi_begin,
            static_cast<std::size_t>(dormouse_openapi_end - dormouse_openapi_begin)};
}

}  // namespace dormouse::server
