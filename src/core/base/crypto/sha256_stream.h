#pragma once
// SHA-256 of bytes that arrive in pieces.

#include "base/crypto/sha256.h"

#include <memory>
#include <string_view>

namespace dormouse {

class Sha256Stream {
public:
    Sha256Stream();
    ~Sha256Stream();
    Sha256Stream(Sha256Stream const&) = delete;
    Sha256Stream& operator=(Sha256Stream const&) = delete;

    void add(std::string_view bytes);
    // The digest of everything added. REQUIRES: not called before.
    [[nodiscard]] Sha256 finish();

private:
    struct Context;
    std::unique_ptr<Context> context_;
};

}  // namespace dormouse
