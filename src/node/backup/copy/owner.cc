#include "backup/copy/owner.h"

#include "backup/copy/piece.h"
#include "backup/copy/read_copy.h"
#include "backup/files.h"
#include "base/text/iso_time.h"
#include "base/text/text.h"
#include "json/json.h"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace dormouse::backup {

namespace {

constexpr std::uint64_t owner_bytes_max = std::uint64_t{64} << 10;
constexpr std::size_t random_bytes_used = 16;
constexpr char const* identity_file = "copy.id";

struct Holder {
    std::string directory;
    std::string start;
    Time since{};
};

std::string random_text(port::Entropy& entropy) {
    Random const random = entropy.random();
    return hex(std::span(random).first(random_bytes_used));
}

bool is_identity(std::string_view text) {
    return text.size() == 2 * random_bytes_used &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string holder_text(Holder const& holder) {
    json::Writer out;
    out.begin_object().member("format", copy_format).member("product", "dormouse copy owner");
    out.member("directory", holder.directory).member("start", holder.start);
    return out.member("time", to_ms(holder.since)).end_object().take() + "\n";
}

// nullopt: nobody has copied there yet.
Result<std::optional<Holder>> holder_of(Depot& depot, std::string const& target) {
    auto const text = depot.get(owner_name, owner_bytes_max);
    if (!text && text.error().code == Code::not_found) return std::nullopt;
    if (!text) return std::unexpected(text.error());
    auto const parsed = json::check(*text);
    if (!parsed || json::View(*parsed)["product"].string_or("") != "dormouse copy owner")
        return fail(Code::bad_value, std::string(owner_name) + " of " + target +
                                         " cannot be read: remove it if no other server copies "
                                         "there");
    json::View const view(*parsed);
    return Holder{view["directory"].string_or(""), view["start"].string_or(""),
                  from_ms(view["time"].integer_or(0))};
}

}  // namespace

Owner::Owner(std::filesystem::path directory, std::string target, port::Entropy& entropy)
    : directory_(std::move(directory)),
      target_(std::move(target)),
      entropy_(entropy),
      start_(random_text(entropy)) {}

Result<std::string> Owner::load_or_create_identity() {
    auto const path = directory_ / identity_file;
    auto text = read_file(path, owner_bytes_max);
    if (text && text->ends_with('\n')) text->pop_back();
    if (text && is_identity(*text)) return text;
    if (text)
        return fail(Code::bad_value, path.string() + " is damaged: remove it, and owner.json of " +
                                         target_ + " if no other server copies there");
    if (text.error().code != Code::not_found) return text;
    auto made = random_text(entropy_);
    if (auto written = replace_file(path, made + "\n"); !written)
        return std::unexpected(std::move(written.error()));
    return made;
}

Result<void> Owner::take(Depot& depot, Time now) {
    auto id = load_or_create_identity();
    if (!id) return std::unexpected(std::move(id.error()));
    auto const holder = holder_of(depot, target_);
    if (!holder) return std::unexpected(holder.error());
    if (*holder && (*holder)->directory != *id)
        return fail(Code::wrong_state,
                    target_ + " has the copy of another data directory, whose server started at " +
                        iso_time((*holder)->since) +
                        ": name a place of its own for each server. If that one never copies there "
                        "again, remove " +
                        owner_name + " there");
    if (*holder && (*holder)->start != start_) previous_ = (*holder)->start;
    return depot.put(owner_name, holder_text({*std::move(id), start_, now}));
}

// Without the object nobody else has taken the place.
Result<void> Owner::check(Depot& depot) const {
    auto const holder = holder_of(depot, target_);
    if (!holder) return std::unexpected(holder.error());
    if (!*holder || (*holder)->start == start_) return {};
    return fail(Code::wrong_state,
                "another server copies to " + target_ + " since " + iso_time((*holder)->since) +
                    ", from a copy of this data directory: stop one of the two, or name another "
                    "place and remove copy.id in its data directory; then restart this server");
}

}  // namespace dormouse::backup
