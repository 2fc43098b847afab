#include "runtime/engine/engine.h"

#include "wire/submission.h"
// Each operation in its two forms.
namespace dormouse {

namespace {

std::optional<Result<Submitted>> refuse_digest(Decision const& decision) {
    if (decision.digest.empty() || wire::parse_digest(decision.digest)) return std::nullopt;
    return fail(Code::bad_value, "digest must be sha256: and 64 hex digits");
}

runtime::Offered offered(Decision decision) {
    auto what = runtime::decision_of(decision.approved, std::move(decision.reason),
                                     std::move(decision.arguments), std::move(decision.content));
    what.metadata = std::move(decision.metadata);
    return {std::move(what), std::move(decision.by), {}, {}, wire::parse_digest(decision.digest)};
}

runtime::Offered offered(session::Submission what, SubmitOptions options, std::string tool = {}) {
    what.title = std::move(options.title);
    what.metadata = std::move(options.metadata);
    return {std::move(what),
            std::move(options.by),
            std::move(options.delivery_id),
            std::move(tool),
            {}};
}

std::vector<runtime::Entering> entering_all(std::vector<Offer> offers, std::string const& by) {
    std::vector<runtime::Entering> out;
    for (Offer& offer : offers) {
        auto what = offer.error ? runtime::error_of(std::move(*offer.error))
                                : runtime::result_of(std::move(offer.output));
        SubmitOptions options{.by = by, .title = std::move(offer.title)};
        options.metadata = std::move(offer.metadata);
        out.push_back(
            runtime::entering(offer.pending, offered(std::move(what), std::move(options))));
    }
    return out;
}

}  // namespace

Runtime::Runtime(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
Runtime::~Runtime() = default;
Runtime::Runtime(Runtime&&) noexcept = default;
Runtime& Runtime::operator=(Runtime&&) noexcept = default;

Result<Runtime> Runtime::open(Settings settings) {
    auto engine = Engine::open(std::move(settings));
    if (!engine) return std::unexpected(std::move(engine.error()));
    return Runtime(*std::move(engine));
}

bool Runtime::close(Duration limit) { return engine_->close(limit); }

Result<SessionId> Runtime::create(NewSession session) {
    return engine_->block<SessionId>([e = engine_.get(), session = std::move(session)](auto reply) {
        e->create(session, std::move(reply));
    });
}
void Runtime::create(NewSession session, Completion<SessionId> done) {
    engine_->run<SessionId>([e = engine_.get(), session = std::move(session)](
                                auto reply) { e->create(session, std::move(reply)); },
                            std::move(done));
}

Result<PendingId> Runtime::ask(Question question) {
    return engine_->block<PendingId>([e = engine_.get(), question = std::move(question)](
                                         auto reply) { e->ask(question, std::move(reply)); });
}
void Runtime::ask(Question question, Completion<PendingId> done) {
    engine_->run<PendingId>([e = engine_.get(), question = std::move(question)](
                                auto reply) { e->ask(question, std::move(reply)); },
                            std::move(done));
}

Result<Accepted> Runtime::prompt(SessionId session, std::string text, PromptOptions options) {
    return engine_->block<Accepted>([e = engine_.get(), session, text = std::move(text),
                                     options = std::move(options)](auto reply) {
        e->prompt(session, text, options, std::move(reply));
    });
}
void Runtime::prompt(SessionId session, std::string text, PromptOptions options,
                     Completion<Accepted> done) {
    engine_->run<Accepted>(
        [e = engine_.get(), session, text = std::move(text), options = std::move(options)](
            auto reply) { e->prompt(session, text, options, std::move(reply)); },
        std::move(done));
}

Result<Submitted> Runtime::submit_as(std::string tool, PendingId pending, Json output,
                                     SubmitOptions options) {
    auto what = runtime::entering(pending, offered(runtime::result_of(std::move(output)),
                                                   std::move(options), std::move(tool)));
    return engine_->block<Submitted>(
        [e = engine_.get(), what = std::move(what)](auto reply) mutable {
            e->submit(std::move(what), std::move(reply));
        });
}
Result<Submitted> Runtime::submit(PendingId pending, Json output, std::string by) {
    return submit_as("", pending, std::move(output), {.by = std::move(by)});
}
Result<Submitted> Runtime::submit(PendingId pending, Json output, SubmitOptions options) {
    return submit_as("", pending, std::move(output), std::move(options));
}
void Runtime::submit(PendingId pending, Json output, std::string by, Completion<Submitted> done) {
    submit(pending, std::move(output), SubmitOptions{.by = std::move(by)}, std::move(done));
}
void Runtime::submit(PendingId pending, Json output, SubmitOptions options,
                     Completion<Submitted> done) {
    auto what = runtime::entering(
        pending, offered(runtime::result_of(std::move(output)), std::move(options)));
    engine_->run<Submitted>(
        [e = engine_.get(), what = std::move(what)](auto reply) mutable {
            e->submit(std::move(what), std::move(reply));
        },
        std::move(done));
}

Result<Submitted> Runtime::fail(PendingId pending, std::string error, std::string by) {
    return fail(pending, std::move(error), SubmitOptions{.by = std::move(by)});
}
Result<Submitted> Runtime::fail(PendingId pending, std::string error, SubmitOptions options) {
    auto what = runtime::entering(pending,
                                  offered(runtime::error_of(std::move(error)), std::move(options)));
    return engine_->block<Submitted>(
        [e = engine_.get(), what = std::move(what)](auto reply) mutable {
            e->submit(std::move(what), std::move(reply));
        });
}
void Runtime::fail(PendingId pending, std::string error, std::string by,
                   Completion<Submitted> done) {
    fail(pending, std::move(error), SubmitOptions{.by = std::move(by)}, std::move(done));
}
void Runtime::fail(PendingId pending, std::string error, SubmitOptions options,
                   Completion<Submitted> done) {
    auto what = runtime::entering(pending,
                                  offered(runtime::error_of(std::move(error)), std::move(options)));
    engine_->run<Submitted>(
        [e = engine_.get(), what = std::move(what)](auto reply) mutable {
            e->submit(std::move(what), std::move(reply));
        },
        std::move(done));
}

Result<CallView> Runtime::call(PendingId pending) {
    return engine_->block<CallView>(
        [e = engine_.get(), pending](auto reply) { e->call(pending, std::move(reply)); });
}
void Runtime::call(PendingId pending, Completion<CallView> done) {
    engine_->run<CallView>(
        [e = engine_.get(), pending](auto reply) { e->call(pending, std::move(reply)); },
        std::move(done));
}

Result<Submitted> Runtime::decide(PendingId pending, Decision decision) {
    if (auto refused = refuse_digest(decision)) return *std::move(refused);
    return engine_->block<Submitted>(
        [e = engine_.get(), what = runtime::entering(pending, offered(std::move(decision)))](
            auto reply) mutable { e->submit(std::move(what), std::move(reply)); });
}
void Runtime::decide(PendingId pending, Decision decision, Completion<Submitted> done) {
    auto refused = refuse_digest(decision);
    auto what = runtime::entering(pending, offered(std::move(decision)));
    engine_->run<Submitted>(
        [e = engine_.get(), refused = std::move(refused),
         what = std::move(what)](auto reply) mutable {
            if (refused) return reply(*std::move(refused));
            e->submit(std::move(what), std::move(reply));
        },
        std::move(done));
}

std::vector<Result<Submitted>> Runtime::submit_all(std::vector<Offer> offers,
                                                   std::string const& by) {
    std::size_t const count = offers.size();
    auto entering = entering_all(std::move(offers), by);
    auto receipts = engine_->block<std::vector<Result<Submitted>>>(
        [e = engine_.get(), entering = std::move(entering)](auto reply) mutable {
            e->submit_all(std::move(entering), std::move(reply));
        });
    if (receipts) return *std::move(receipts);
    return std::vector<Result<Submitted>>(count, std::unexpected(receipts.error()));
}
void Runtime::submit_all(std::vector<Offer> offers, std::string const& by,
                         std::function<void(std::vector<Result<Submitted>>)> done) {
    std::size_t const count = offers.size();
    auto entering = entering_all(std::move(offers), by);
    engine_->run<std::vector<Result<Submitted>>>(
        [e = engine_.get(), entering = std::move(entering)](auto reply) mutable {
            e->submit_all(std::move(entering), std::move(reply));
        },
        [count, done = std::move(done)](Result<std::vector<Result<Submitted>>> receipts) {
            if (receipts) return done(*std::move(receipts));
            done(std::vector<Result<Submitted>>(count, std::unexpected(receipts.error())));
        });
}

Result<void> Runtime::progress(PendingId pending, Json payload, std::string key, std::string by) {
    return engine_->block<void>([e = engine_.get(), pending, payload = std::move(payload),
                                 key = std::move(key), by = std::move(by)](auto reply) mutable {
        e->progress(pending, std::move(payload), std::move(key), by, std::move(reply));
    });
}
void Runtime::progress(PendingId pending, Json payload, std::string key, std::string by,
                       Completion<void> done) {
    engine_->run<void>(
        [e = engine_.get(), pending, payload = std::move(payload), key = std::move(key),
         by = std::move(by)](auto reply) mutable {
            e->progress(pending, std::move(payload), std::move(key), by, std::move(reply));
        },
        std::move(done));
}

Result<Submitted> Runtime::cancel(PendingId pending, std::string by) {
    return cancel(pending, CancelOptions{.by = std::move(by)});
}
Result<Submitted> Runtime::cancel(PendingId pending, CancelOptions options) {
    return engine_->block<Submitted>(
        [e = engine_.get(), pending, options = std::move(options)](auto reply) mutable {
            e->cancel(pending, std::move(options), std::move(reply));
        });
}
void Runtime::cancel(PendingId pending, std::string by, Completion<Submitted> done) {
    cancel(pending, CancelOptions{.by = std::move(by)}, std::move(done));
}
void Runtime::cancel(PendingId pending, CancelOptions options, Completion<Submitted> done) {
    engine_->run<Submitted>(
        [e = engine_.get(), pending, options = std::move(options)](auto reply) mutable {
            e->cancel(pending, std::move(options), std::move(reply));
        },
        std::move(done));
}
Result<void> Runtime::cancel(SessionId session, std::string by) {
    return cancel(session, CancelOptions{.by = std::move(by)});
}
Result<void> Runtime::cancel(SessionId session, CancelOptions options) {
    return engine_->block<void>(
        [e = engine_.get(), session, options = std::move(options)](auto reply) mutable {
            e->cancel(session, std::move(options), std::move(reply));
        });
}
void Runtime::cancel(SessionId session, std::string by, Completion<void> done) {
    cancel(session, CancelOptions{.by = std::move(by)}, std::move(done));
}
void Runtime::cancel(SessionId session, CancelOptions options, Completion<void> done) {
    engine_->run<void>(
        [e = engine_.get(), session, options = std::move(options)](auto reply) mutable {
            e->cancel(session, std::move(options), std::move(reply));
        },
        std::move(done));
}

Result<WaitingCalls> Runtime::waiting(WaitingFilter filter) {
    return engine_->block<WaitingCalls>([e = engine_.get(), filter = std::move(filter)](
                                            auto reply) { e->waiting(filter, std::move(reply)); });
}
void Runtime::waiting(WaitingFilter filter, Completion<WaitingCalls> done) {
    engine_->run<WaitingCalls>([e = engine_.get(), filter = std::move(filter)](
                                   auto reply) { e->waiting(filter, std::move(reply)); },
                               std::move(done));
}
Result<bool> Runtime::held() {
    return engine_->block<bool>([e = engine_.get()](auto reply) { reply(e->node().held()); });
}
Result<void> Runtime::release() {
    return engine_->block<void>([e = engine_.get()](auto reply) { e->release(std::move(reply)); });
}

Result<void> Runtime::pause(SessionId session, std::string by) {
    return engine_->block<void>([e = engine_.get(), session, by = std::move(by)](auto reply) {
        e->move(session, session::Move::To::pause, by, std::move(reply));
    });
}
Result<void> Runtime::resume(SessionId session, std::string by) {
    return engine_->block<void>([e = engine_.get(), session, by = std::move(by)](auto reply) {
        e->move(session, session::Move::To::resume, by, std::move(reply));
    });
}
Result<Artifact> Runtime::artifact(SessionId session, Seq seq) {
    return engine_->block<Artifact>([e = engine_.get(), session, seq](auto reply) {
        e->artifact(session, seq, std::move(reply));
    });
}
void Runtime::artifact(SessionId session, Seq seq, Completion<Artifact> done) {
    engine_->run<Artifact>([e = engine_.get(), session,
                            seq](auto reply) { e->artifact(session, seq, std::move(reply)); },
                           std::move(done));
}

Result<SessionView> Runtime::session(SessionId session) {
    return engine_->block<SessionView>(
        [e = engine_.get(), session](auto reply) { e->read_view(session, std::move(reply)); });
}
void Runtime::session(SessionId session, Completion<SessionView> done) {
    engine_->run<SessionView>(
        [e = engine_.get(), session](auto reply) { e->read_view(session, std::move(reply)); },
        std::move(done));
}
Result<SessionView> Runtime::wait_idle(SessionId session, Duration limit) {
    return engine_->block<SessionView>([e = engine_.get(), session, limit](auto reply) {
        e->wait_idle(session, limit, std::move(reply));
    });
}
void Runtime::wait_idle(SessionId session, Duration limit, Completion<SessionView> done) {
    engine_->run<SessionView>([e = engine_.get(), session, limit](
                                  auto reply) { e->wait_idle(session, limit, std::move(reply)); },
                              std::move(done));
}

Result<std::vector<Message>> Runtime::messages(SessionId session) {
    return engine_->block<std::vector<Message>>(
        [e = engine_.get(), session](auto reply) { e->messages(session, std::move(reply)); });
}
void Runtime::messages(SessionId session, Completion<std::vector<Message>> done) {
    engine_->run<std::vector<Message>>(
        [e = engine_.get(), session](auto reply) { e->messages(session, std::move(reply)); },
        std::move(done));
}
Result<std::string> Runtime::last_reply(SessionId session) {
    auto all = messages(session);
    if (!all) return std::unexpected(std::move(all.error()));
    for (auto it = all->rbegin(); it != all->rend(); ++it) {
        if (it->role == Message::Role::assistant && !it->text.empty()) return it->text;
    }
    return std::string();
}

Result<std::vector<Event>> Runtime::events(SessionId session, Seq after) {
    return engine_->block<std::vector<Event>>([e = engine_.get(), session, after](auto reply) {
        e->events(session, after, std::move(reply));
    });
}
void Runtime::events(SessionId session, Seq after, Completion<std::vector<Event>> done) {
    engine_->run<std::vector<Event>>(
        [e = engine_.get(), session, after](auto reply) {
            e->events(session, after, std::move(reply));
        },
        std::move(done));
}
Result<Following> Runtime::follow(SessionId session, Seq after,
                                  std::function<void(Event const&)> observer,
                                  std::function<void(std::string const&)> on_text) {
    return engine_->block<Following>([e = engine_.get(), session, after,
                                      observer = std::move(observer),
                                      on_text = std::move(on_text)](auto reply) mutable {
        e->follow(session, after, std::move(observer), std::move(on_text), std::move(reply));
    });
}

Result<Following> Runtime::follow_all(SessionId session, Seq after,
                                      std::function<void(Event const&)> observer) {
    return engine_->block<Following>(
        [e = engine_.get(), session, after, observer = std::move(observer)](auto reply) mutable {
            e->follow_all(session, after, std::move(observer), std::move(reply));
        });
}

}  // namespace dormouse
