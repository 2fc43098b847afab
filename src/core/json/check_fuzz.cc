// libFuzzer target: clang++ -std=c++23 -fsanitize=fuzzer,address,undefined with the sources of base
// and json. The canonical form of accepted text is accepted, too, and is its own canonical form.

#include "base/check.h"
#include "json/json.h"

#include <cstddef>
#include <cstdint>

namespace {

void walk(dormouse::json::View view) {
    using dormouse::json::View;
    static_cast<void>(view.string());
    static_cast<void>(view.integer());
    static_cast<void>(view.number());
    std::size_t count = 0;
    view.members([&](std::string_view key, View value) {
        CHECK(view[key].raw() == value.raw());
        walk(value);
        ++count;
    });
    view.elements([&](View value) {
        walk(value);
        ++count;
    });
    CHECK(count == view.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace dormouse;
    auto const json = json::check({reinterpret_cast<char const*>(data), size});
    if (!json) {
        bool const known =
            json.error().code == Code::bad_json || json.error().code == Code::bad_number_or_key;
        CHECK(known && !json.error().detail.empty());
        return 0;
    }
    walk(json::View(*json));
    std::string const form = json::canonical(*json);
    auto const again = json::check(form);
    CHECK(again.has_value() && again->text() == form);
    CHECK(json::canonical(*again) == form);
    return 0;
}
