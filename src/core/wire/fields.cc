#include "wire/fields.h"

#include "wire/part_fields.h"

namespace dormouse::wire {

Members::Members(json::View object) {
    std::string_view const text = object.raw();
    all_.reserve(16);
    object.members([&](std::string_view key, json::View value) {
        bool const stays = key.data() >= text.data() && key.data() < text.data() + text.size();
        if (stays) all_.emplace_back(key, value);
    });
}

json::View Members::operator[](std::string_view name) {
    for (std::size_t n = all_.size(), i = next_; n > 0; --n, ++i) {
        if (i == all_.size()) i = 0;
        if (all_[i].first != name) continue;
        next_ = i + 1;
        return all_[i].second;
    }
    return json::View(std::string_view());
}

void Form<Duration>::write(json::Writer& out, Duration value, FieldContext const&) {
    if (value == Duration::max()) {
        out.value("none");
    } else {
        out.value(static_cast<std::int64_t>(value.count()));
    }
}

std::optional<Duration> Form<Duration>::read(json::View view, FieldContext const&) {
    if (!view.exists() || view.is_null()) return std::nullopt;
    auto const ms = view.integer();
    return ms ? Duration(*ms) : Duration::max();
}

void Form<Sha256>::write(json::Writer& out, Sha256 const& value, FieldContext const&) {
    out.value(digest_text(value));
}

std::optional<Sha256> Form<Sha256>::read(json::View view, FieldContext const&) {
    if (!view.exists()) return std::nullopt;
    Sha256 digest{};
    auto const text = view.string();
    if (!text || text->size() != 71 || !text->starts_with("sha256:")) return digest;
    auto const nibble = [&](std::size_t i) {
        char const c = (*text)[7 + i];
        return static_cast<std::uint8_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    };
    for (std::size_t i = 0; i < digest.size(); ++i)
        digest[i] = static_cast<std::uint8_t>((nibble(2 * i) << 4) | nibble(2 * i + 1));
    return digest;
}

void SubmissionRow::write(json::Writer& out, Submission const& from, FieldContext const& context) {
    if (from.kind == SubmissionKind::error) {
        out.member("error", from.error);
        return;
    }
    bool const decision = from.kind == SubmissionKind::decision;
    out.key(decision ? "decision" : "result").begin_object();
    if (decision) {
        write_all(decision_rows, out, from, context);
    } else {
        write_all(result_rows, out, from, context);
    }
    out.end_object();
}

void SubmissionRow::read(Members& from, Submission& to, FieldContext const& context) {
    if (auto error = from["error"].string()) {
        to.kind = SubmissionKind::error;
        to.error = std::move(*error);
    } else if (json::View const decision = from["decision"]; decision.exists()) {
        to.kind = SubmissionKind::decision;
        Members members(decision);
        read_all(decision_rows, members, to, context);
        if (!to.arguments.is_null()) to.arguments_digest = sha256(json::canonical(to.arguments));
    } else {
        Members members(from["result"]);
        read_all(result_rows, members, to, context);
    }
}

}  // namespace dormouse::wire
