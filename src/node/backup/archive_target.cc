#include "backup/files.h"
#include "backup/target.h"

#include <array>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <set>

namespace dormouse::backup {

namespace {

constexpr std::size_t block = 512;

// The head of a regular file in a tar archive (POSIX.1-1988, ustar).
std::string head_of(std::string const& name, std::size_t bytes, Time time) {
    std::array<char, block> out{};
    auto const put = [&](std::size_t at, std::string_view text) {
        std::memcpy(out.data() + at, text.data(), text.size());
    };
    auto const octal = [](std::uint64_t number, int digits) {
        std::array<char, 24> text{};
        std::snprintf(text.data(), text.size(), "%0*llo", digits,
                      static_cast<unsigned long long>(number));
        return std::string(text.data());
    };
    put(0, name);
    put(100, octal(0600, 7));
    put(108, octal(0, 7));
    put(116, octal(0, 7));
    put(124, octal(bytes, 11));
    put(136, octal(static_cast<std::uint64_t>(to_ms(time)) / 1'000, 11));
    put(148, "        ");  // the checksum counts as blanks
    put(156, "0");
    put(257, "ustar");
    put(263, "00");
    auto const sum = std::accumulate(out.begin(), out.end(), 0U, [](unsigned all, char c) {
        return all + static_cast<unsigned char>(c);
    });
    put(148, octal(sum, 6) + std::string(1, '\0') + " ");
    return {out.data(), out.size()};
}

class ArchiveTarget final : public Target {
public:
    ArchiveTarget(int fd, Time time) : fd_(fd), time_(time) {}

    [[nodiscard]] bool has(Sha256 const& chunk) const override { return written_.contains(chunk); }

    [[nodiscard]] Result<void> put(Sha256 const& chunk, std::string_view stored) override {
        written_.insert(chunk);
        return add(chunk_path(chunk), stored);
    }

    // Last, so that an archive that was cut off has no manifest.
    [[nodiscard]] Result<void> finish(std::string_view manifest) override {
        if (auto added = add("manifest.json", manifest); !added) return added;
        return write_all(fd_, std::string(2 * block, '\0'), "standard output");
    }

private:
    [[nodiscard]] Result<void> add(std::string const& name, std::string_view bytes) const {
        std::string out = head_of(name, bytes.size(), time_);
        out += bytes;
        out.resize((out.size() + block - 1) / block * block);
        return write_all(fd_, out, "standard output");
    }

    int const fd_;
    Time const time_;
    std::set<Sha256> written_;
};

}  // namespace

std::unique_ptr<Target> open_archive(int fd, Time time) {
    return std::make_unique<ArchiveTarget>(fd, time);
}

}  // namespace dormouse::backup
