#include "http/resources/rules/handlers.h"
#include "http/resources/rules/rule_fields.h"
#include "http/resources/shared_access.h"
#include "wire/audit.h"

#include <algorithm>

// Standing rules (docs/reference/http.md, "Standing rules").
namespace dormouse::http {

namespace {

std::string audit_line(std::string_view type, Time at, Actor const& by, StandingRule const& rule) {
    json::Writer out = wire::begin_audit_line(type, at, by);
    out.member("rule", rule.id()).member("project", rule.project).member("gate", rule.gate);
    return out.member("tool", rule.tool).member("of", rule.by.name).end_object().take();
}

// It answers nothing from here on. If that cannot be stored, it answers again and can be revoked
// again.
void drop(Api& api, std::string_view type, Actor const& by, std::string const& id,
          port::Fn<void(Result<void>)> done) {
    auto const removed = api.services().runner.rules().remove(id);
    if (!removed) return done(std::unexpected(not_found()));
    port::RuleDrop change{id, audit_line(type, api.services().runner.now(), by, *removed->rule)};
    api.services().journal.write(
        [change](port::RuleStore& store) { return store.drop_rule(change); },
        [&api, removed, changing = api.shared_access().changing(),
         done = std::move(done)](Result<void> dropped) mutable {
            changing.reset();
            bool const there = !dropped && dropped.error().code != Code::conflict;
            if (there) api.services().runner.rules().put(*removed);
            done(std::move(dropped));
        });
}

void drop_expired(Api& api, std::vector<runner::Rules::Entry> const& all) {
    Time const now = api.services().runner.now();
    for (auto const& entry : all) {
        if (entry.rule->has_expired(now))
            drop(api, "rule_expired", {}, entry.rule->id(), [](Result<void> const&) {});
    }
}

// At most Rules::most of a project: there are no pages.
void list_known_rules(Api& api, ExchangePtr const& x) {
    auto const project = x->request.query_value("project").value_or("default");
    auto all = api.services().runner.rules().all();
    std::erase_if(all, [&](auto const& entry) { return entry.rule->project != project; });
    drop_expired(api, all);
    Time const now = api.services().runner.now();
    std::erase_if(all, [&](auto const& entry) { return entry.rule->has_expired(now); });
    std::ranges::stable_sort(all, std::greater(), [](auto const& entry) { return entry.rule->at; });
    std::vector<RuleSource> items;
    for (auto& entry : all) items.push_back({std::move(entry)});
    x->json(200, list_text(items, {}));
}

void delete_known_rule(Api& api, ExchangePtr const& x) {
    auto const* const found = api.services().runner.rules().find(x->params[0]);
    bool const mine = found && (!x->principal || x->principal->is_for(found->rule->project));
    if (!mine) return x->fail(not_found());
    drop(api, "rule_revoked", x->by, x->params[0], [x](Result<void> done) {
        if (!done && done.error().code == Code::conflict) return x->fail(not_found());
        if (!done) return x->fail(done.error());
        x->empty(204);
    });
}

}  // namespace

// Other servers count uses, too.
void list_rules(Api& api, ExchangePtr const& x) {
    with_newest_access(api, x, [&api, x] { list_known_rules(api, x); });
}

void delete_rule(Api& api, ExchangePtr const& x) {
    with_newest_access(api, x, [&api, x] { delete_known_rule(api, x); });
}

}  // namespace dormouse::http
