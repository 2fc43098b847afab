// The check of a submission's values, beside the inbox where it takes long.
#include "runner/lane/lane.h"

#include "base/check.h"

#include <utility>

namespace dormouse::runner {

using namespace dormouse::session;

// False: the check takes longer. True: nothing happens between the check and the decision.
bool Lane::check_values(Request& request, Context& context) {
    CHECK(state_ && !request.on_read);
    Call const* const call = call_to_check(*state_, request.incoming.command, context);
    if (call == nullptr) return true;
    if (!request.check) request.check = std::make_shared<SubmissionCheck>(services_.checks);
    auto checked = request.check->find(*call, std::get<Submit>(request.incoming.command.body));
    if (!checked) return false;
    context.checked = *std::move(checked);
    auto const& what = std::get<Submit>(request.incoming.command.body).what;
    if (!context.checked.refused)
        context.checked.refused = refuse_rule(services_.rules, *state_, *call, what, context.at);
    return true;
}

// The session continues while the values are checked.
void Lane::set_aside(Request request) {
    CHECK(request.check);
    auto const aside = std::make_shared<Request>(std::move(request));
    std::shared_ptr<Submit const> const submit(aside,
                                               &std::get<Submit>(aside->incoming.command.body));
    ++checking_;
    aside->check->work(submit, [self = shared_from_this(), aside] {
        CHECK(self->checking_ > 0);
        --self->checking_;
        self->take_back(std::move(*aside));
    });
}

// Decides the command as if it came now: the session may have changed.
void Lane::take_back(Request request) {
    if (abandoned_) return;
    CHECK(request.check && request.reply);
    if (services_.schedule.draining()) {
        request.reply(std::unexpected(stopping()));
        if (may_sleep()) services_.observer.rested(id_);
        return;
    }
    request.incoming.at = services_.schedule.now();
    request.looked_up = false;
    request.found = {};
    inbox_.push_back(std::move(request));
    turn();
}

}  // namespace dormouse::runner
