#include "base/text/base64url.h"
#include "base/text/text.h"
#include "http/resources/sessions/handlers.h"
#include "http/resources/sessions/project_fields.h"

#include <algorithm>

// The projects that the caller may see.
namespace dormouse::http {

namespace {

constexpr std::string_view cursor_prefix = "prj_";

// Names the last project of the page.
std::string cursor_of(std::string const& name) {
    auto const* const bytes = reinterpret_cast<std::uint8_t const*>(name.data());
    return std::string(cursor_prefix) + base64url({bytes, name.size()});
}

// nullopt: it is none. Empty: the list begins.
std::optional<std::string> name_in(std::string_view cursor) {
    if (cursor.empty()) return "";
    if (!cursor.starts_with(cursor_prefix)) return std::nullopt;
    auto name = parse_base64url(cursor.substr(cursor_prefix.size()));
    return name && !name->empty() ? name : std::nullopt;
}

void answer(ExchangePtr const& x, std::vector<std::string> const& names, std::size_t limit) {
    std::vector<ProjectEntry> items;
    for (std::string const& name : names) items.push_back({name});
    bool const more = names.size() == limit;
    x->json(200, list_text(items, more ? std::optional(cursor_of(names.back())) : std::nullopt));
}

std::vector<std::string> page_of(std::vector<std::string> names, std::string const& after,
                                 std::size_t limit) {
    std::ranges::sort(names);
    names.erase(names.begin(), std::ranges::upper_bound(names, after));
    if (names.size() > limit) names.resize(limit);
    return names;
}

}  // namespace

// A token for some projects gets those, with or without sessions; other tokens get all projects
// that have sessions.
void list_projects(Api& api, ExchangePtr const& x) {
    Query query{x->request};
    auto const limit = query.number("limit", 50, 1, 200);
    if (query.error) return x->fail(*query.error);
    auto found = name_in(x->request.query_value("cursor").value_or(""));
    if (!found) return x->fail({Code::bad_cursor, "The cursor is invalid; begin without one."});
    std::string after = *std::move(found);
    if (x->principal && !x->principal->for_all_projects())
        return answer(x, page_of(x->principal->row.projects, after, limit), limit);
    auto question = [after = std::move(after), limit](port::ListStore& store) {
        return store.projects(after, static_cast<std::uint32_t>(limit));
    };
    port::ask(api.services().journal, std::move(question),
              [x, limit](Result<std::vector<std::string>> names) {
                  names ? answer(x, *names, limit) : x->fail(names.error());
              });
}

}  // namespace dormouse::http
