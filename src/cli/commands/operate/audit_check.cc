#include "cli/commands/operate/audit_check.h"

#include "base/crypto/sha256.h"
#include "port/audit.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace dormouse::cli {
namespace {

std::uint64_t number_of(json::View value) {
    return static_cast<std::uint64_t>(value.integer_or(0));
}

// Parses "sha256:…"; returns nullopt for any other text.
std::optional<Sha256> digest_in(std::string_view text) {
    constexpr std::string_view prefix = "sha256:";
    Sha256 out{};
    if (!text.starts_with(prefix) || text.size() != prefix.size() + 2 * out.size())
        return std::nullopt;
    for (std::size_t i = 0; i < out.size(); ++i) {
        char const* const at = text.data() + prefix.size() + 2 * i;
        auto const [end, error] = std::from_chars(at, at + 2, out[i], 16);
        if (error != std::errc() || end != at + 2) return std::nullopt;
    }
    return out;
}

std::string named(std::uint64_t number) { return "line " + std::to_string(number); }

}  // namespace

void AuditCheck::add(json::View page) {
    std::int64_t const checked = page["checked"].integer_or(0);
    lines_ += checked;
    unreadable_ += checked - static_cast<std::int64_t>(page["items"].size());
    page["written"].elements([&](json::View n) { written_.push_back(number_of(n)); });
    page["items"].elements([&](json::View line) { add_line(line); });
}

void AuditCheck::add_line(json::View line) {
    std::uint64_t const number = number_of(line["n"]);
    Chain& chain = chains_[port::audit_chain(number)];
    chain.hash = line["hash"].string_or("");
    if (chain.oldest == 0) chain.newest = {number, chain.hash};
    chain.oldest = number;
    chain.text = line["line"].raw();
    chain.verified = line["verified"].boolean();
    if (!chain.verified.value_or(true))
        changed_.push_back(named(number) + " or the line before it was changed");
    json::View const body = line["line"];
    if (body["type"].string_or("") == "audit_trimmed")
        removed_.emplace(number_of(body["through"]), body["hash"].string_or(""));
}

// A line of any chain records the hash of the last line that retention removed.
void AuditCheck::check_beginnings(Report& out) const {
    for (auto const& [server, chain] : chains_) {
        if (chain.verified) continue;
        auto const before = removed_.find(chain.oldest - 1);
        if (before == removed_.end()) {
            out.findings.push_back("the lines before " + named(chain.oldest) + " are missing");
            continue;
        }
        auto const hash = digest_in(before->second);
        bool const fits =
            hash && digest_text(port::chained(*hash, chain.oldest, chain.text)) == chain.hash;
        if (!fits)
            out.findings.push_back(named(chain.oldest) + " or the line before it was changed");
    }
}

void AuditCheck::check_ends(Report& out) const {
    for (std::uint64_t const last : written_) {
        auto const chain = chains_.find(port::audit_chain(last));
        std::uint64_t const newest =
            chain == chains_.end() ? port::audit_chain(last) << 48 : chain->second.newest.number;
        if (newest >= last) continue;
        out.findings.push_back(newest + 1 == last ? named(last) + " is missing"
                                                  : "lines " + std::to_string(newest + 1) + " to " +
                                                        std::to_string(last) + " are missing");
    }
}

AuditCheck::Report AuditCheck::report() const {
    Report out{.lines = lines_, .findings = changed_};
    for (auto const& [server, chain] : chains_) out.newest.push_back(chain.newest);
    check_beginnings(out);
    check_ends(out);
    if (unreadable_ > 0)
        out.findings.push_back(std::to_string(unreadable_) +
                               (unreadable_ == 1 ? " line is" : " lines are") + " not readable");
    return out;
}

}  // namespace dormouse::cli
