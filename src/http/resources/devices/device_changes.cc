#include "http/resources/devices/device_changes.h"

#include "http/resources/shared_access.h"
#include "http/resources/tokens/token_changes.h"
#include "json/json.h"
#include "wire/audit.h"

#include <algorithm>

namespace dormouse::http {

namespace {

std::string audit_line(std::string_view type, Time at, session::Actor const& by,
                       port::DeviceRow const& row) {
    json::Writer out = wire::begin_audit_line(type, at, by);
    out.member("deviceID", row.id).member("tokenID", row.token).member("name", row.person);
    return out.member("label", row.label).end_object().take();
}

std::vector<std::string> roles_of_owner(Role role) {
    std::vector<std::string> out;
    for (Role const each : {Role::read, Role::answer, Role::operate, Role::admin})
        if (role >= each) out.push_back("role:" + std::string(text(each)));
    return out;
}

PrincipalPtr owner_of(Api& api, port::DeviceRow const& row) {
    auto owner = api.services().gate.tokens().find_id(row.token);
    bool const may =
        owner && owner->valid(api.services().runner.now()) && owner->role >= Role::answer;
    return may ? owner : nullptr;
}

}  // namespace

void add_device(Api& api, session::Actor const& by, port::DeviceRow row,
                port::Fn<void(Result<void>)> done) {
    port::DeviceChange change{.put = row};
    change.audit = audit_line("device_added", api.services().runner.now(), by, row);
    api.services().journal.write(
        [change](port::DeviceStore& store) { return store.change_devices(change); },
        [&api, row = std::move(row), changing = api.shared_access().changing(),
         done = std::move(done)](Result<void> answer) mutable {
            changing.reset();
            if (answer) api.services().gate.devices().put(std::move(row));
            done(std::move(answer));
        });
}

void remove_device(Api& api, std::string_view type, session::Actor const& by, std::string const& id,
                   port::Fn<void(Result<void>)> done) {
    Devices& devices = api.services().gate.devices();
    port::DeviceRow const* const found = devices.find(id);
    if (!found) return done(fail(Code::not_found, "This device was not found."));
    port::DeviceRow const row = *found;
    port::DeviceChange change{.drop = id};
    change.audit = audit_line(type, api.services().runner.now(), by, row);
    devices.remove(id);
    api.services().journal.write(
        [change](port::DeviceStore& store) { return store.change_devices(change); },
        [&api, row, changing = api.shared_access().changing(),
         done = std::move(done)](Result<void> answer) mutable {
            changing.reset();
            // It went meanwhile, with its token; otherwise it can be removed again.
            if (!answer && answer.error().code == Code::conflict) answer = {};
            if (!answer) api.services().gate.devices().put(row);
            done(std::move(answer));
        });
}

std::vector<webhook::PushReceiver> push_receivers(Api& api) {
    std::vector<webhook::PushReceiver> out;
    bool ended = false;
    for (auto const& [id, row] : api.services().gate.devices().all()) {
        PrincipalPtr const owner = owner_of(api, row);
        ended = ended || !owner;
        if (!owner) continue;
        out.push_back({id, owner->row.name, owner->row.projects, roles_of_owner(owner->role)});
    }
    if (ended) drop_expired(api);
    return out;
}

std::optional<webhook::PushDevice> push_device_of(Api& api, std::string const& id) {
    port::DeviceRow const* const row = api.services().gate.devices().find(id);
    return row && owner_of(api, *row) ? webhook::push_device(*row) : std::nullopt;
}

void ask_waits(Api& api, PendingId const& pending, port::Fn<void(bool)> then) {
    auto question = [pending](port::JournalStore& store) {
        return store.pending(pending.session, pending.call, pending.generation);
    };
    port::ask(api.services().journal, std::move(question),
              [then = std::move(then)](Result<std::optional<port::PendingRow>> row) mutable {
                  then(!row || !*row || (*row)->status == port::PendingStatus::waiting);
              });
}

}  // namespace dormouse::http
