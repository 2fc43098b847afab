#include "app/start/shared_records.h"

#include "json/json.h"

#include <memory>
#include <utility>

namespace dormouse::app {

SharedRecords::SharedRecords(
    Services services, std::vector<port::SharedValue> const& stored,
    std::function<void(std::string const& name, std::string const& why)> lost)
    : services_(services), lost_(std::move(lost)) {
    static_cast<void>(take(stored));
}

bool SharedRecords::take(std::vector<port::SharedValue> const& found) {
    std::map<std::string, port::SharedValue> next;
    for (port::SharedValue const& one : found) next[one.name] = one;
    if (next == values_) return false;
    values_ = std::move(next);
    return true;
}

void SharedRecords::follow(std::function<void()> changed) {
    if (!std::exchange(changed_, std::move(changed))) follow_on();
}

void SharedRecords::follow_on() {
    services_.loop.after(apart, scope_.guard([this] { read([this](bool) { follow_on(); }); }));
}

// A failed read changes nothing: the next one may succeed.
void SharedRecords::read(port::Fn<void(bool)> done) {
    auto const found = std::make_shared<Values>();
    auto work = [found, &values = services_.values](port::Store& /*store*/) -> Result<void> {
        *found = values.values(sign_in_values);
        if (!*found) return std::unexpected(found->error());
        return {};
    };
    auto use = [this, found, done = std::move(done)](Result<void> const& read) mutable {
        bool const changed = read && take(**found);
        done(changed);
        if (changed && changed_) changed_();
    };
    services_.journal.write(std::move(work), scope_.guard(std::move(use)));
}

void SharedRecords::refresh(port::Fn<void()> done) {
    read([done = std::move(done)](bool /*changed*/) mutable { done(); });
}

std::optional<Json> SharedRecords::load(std::string const& name) const {
    auto const found = values_.find(sign_in_values + name);
    if (found == values_.end()) return std::nullopt;
    auto read = json::check(found->second.value);
    return read ? std::optional(*std::move(read)) : std::nullopt;
}

void SharedRecords::store(std::string const& name, Json const& record, port::Fn<void(bool)> done) {
    std::string const key = sign_in_values + name;
    auto const known = values_.find(key);
    port::SharedValue next{key, std::string(record.text()),
                           known == values_.end() ? "" : known->second.mark};
    auto const answer = std::make_shared<Result<bool>>(false);
    auto work = [answer, next, &values = services_.values](port::Store& /*store*/) -> Result<void> {
        *answer = values.exchange(next);
        if (!*answer) return std::unexpected(answer->error());
        return {};
    };
    auto use = [this, answer, next, done = std::move(done)](Result<void> const& written) mutable {
        stored(next, written ? *answer : std::unexpected(written.error()), std::move(done));
    };
    services_.journal.write(std::move(work), scope_.guard(std::move(use)));
}

// The new version, or that of another process, is read before `reply`. One with our value is our
// own: the first answer was lost.
void SharedRecords::stored(port::SharedValue const& next, Result<bool> const& done,
                           port::Fn<void(bool)> reply) {
    if (!done) {
        lost_(next.name, done.error().detail);
        return reply(false);
    }
    read([this, next, reply = std::move(reply)](bool /*changed*/) mutable {
        auto const now = values_.find(next.name);
        reply(now != values_.end() && now->second.value == next.value);
    });
}

}  // namespace dormouse::app
