#include "http/resources/sessions/handlers.h"
#include "http/resources/sessions/project_fields.h"

#include <algorithm>

// The projects that the caller may see.
namespace dormouse::http {

namespace {

// `next`: the cursor is the last name of the page.
void answer(ExchangePtr const& x, std::vector<std::string> const& names, std::size_t limit) {
    std::vector<ProjectEntry> items;
    for (std::string const& name : names) items.push_back({name});
    x->json(200,
            list_text(items, names.size() == limit ? std::optional(names.back()) : std::nullopt));
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
    std::string after(x->request.query_value("cursor").value_or(""));
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
