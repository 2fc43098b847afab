#include "runtime/models.h"

#include <atomic>
#include <exception>
#include <utility>

// Models that are functions of the program, and interceptors of models: both run on worker threads.
namespace dormouse::runtime {

namespace {

// One request. On the loop, except for the jobs.
struct Run {
    port::Fn<void(port::Delta)> delta;
    port::Fn<void(agent::ModelOutcome)> done;
    std::stop_source job;
    agent::Model::Stop inner;
    bool answered = false;  // by the inner model
    bool spoke = false;     // pieces of the text were shown
    bool stopped = false;

    void end(agent::ModelOutcome outcome) {
        if (!std::exchange(stopped, true)) done(std::move(outcome));
    }
};
using RunPtr = std::shared_ptr<Run>;

agent::Model::Stop stop_of(RunPtr const& run) {
    return [run] {
        run->stopped = true;
        run->job.request_stop();
        if (run->inner) run->inner();
    };
}

// The result of a function of the program. Exceptions are never retried.
template <class T> struct Came {
    Result<T> result;
    bool threw = false;
};

template <class T, class F> Came<T> guarded(F const& work) {
    try {
        return {work(), false};
    } catch (std::exception const& error) {
        return {fail(Code::internal, std::string("it threw: ") + error.what()), true};
    } catch (...) {
        return {fail(Code::internal, "it threw a value that is not an exception"), true};
    }
}

agent::ModelTrouble saturated() { return trouble({Code::overloaded, "too much work is queued"}); }

// `may_retry`: whether an error whose code says so is retried.
agent::ModelTrouble trouble_of(Error const& error, bool may_retry) {
    agent::ModelTrouble out = trouble(error);
    out.may_retry = out.may_retry && may_retry;
    return out;
}

enum class Errors : std::uint8_t { by_code, end_the_turn };

// Runs `work` on a worker, then `then` on the loop with its result, unless the request was stopped.
template <class T>
void on_worker(port::Workers& workers, RunPtr const& run, Errors errors,
               std::function<Result<T>(std::stop_token)> work, port::Fn<void(T)> then) {
    auto const came = std::make_shared<std::optional<Came<T>>>();
    auto job = [came, work = std::move(work)](std::stop_token stop) {
        came->emplace(guarded<T>([&] { return work(std::move(stop)); }));
    };
    auto finished = [run, came, errors, then = std::move(then)](bool ran) mutable {
        if (run->stopped) return;
        if (!ran) return run->end(saturated());
        auto& [result, threw] = **came;
        bool const may_retry = errors == Errors::by_code && !threw;
        if (!result) return run->end(trouble_of(result.error(), may_retry));
        then(*std::move(result));
    };
    run->job = workers.run(std::move(job), std::move(finished));
}

void show_piece(RunPtr const& run, std::string piece) {
    if (run->stopped || piece.empty()) return;
    run->spoke = true;
    run->delta({port::Delta::Kind::text, std::move(piece)});
}

void take_answer(RunPtr const& run, ModelAnswer const& answer) {
    if (!answer.text.empty() && !run->spoke) run->delta({port::Delta::Kind::text, answer.text});
    run->end(apply(agent::Reply{}, answer));
}

class FunctionModel final : public agent::Model {
public:
    FunctionModel(runtime::ModelServices const& services, StreamingModelFunction function)
        : workers_(services.workers),
          callbacks_(services.callbacks),
          function_(std::move(function)) {}

    [[nodiscard]] Stop ask(agent::Question question, port::Fn<void(port::Delta)> delta,
                           port::Fn<void(agent::ModelOutcome)> done) override {
        auto const run = std::make_shared<Run>(std::move(delta), std::move(done));
        auto asked = question_of(question, question.session, question.agent);
        on_worker<ModelAnswer>(
            workers_, run, Errors::by_code,
            [this, run, asked = std::move(asked),
             may_start = question.may_start](std::stop_token stop) -> Result<ModelAnswer> {
                if (!may_start.still())
                    return fail(Code::store_unavailable, std::string(agent::MayStart::refusal));
                return function_(asked, speaker(run), std::move(stop));
            },
            [run](ModelAnswer const& answer) { take_answer(run, answer); });
        return stop_of(run);
    }
    [[nodiscard]] agent::ModelLimits limits() const override { return {}; }

private:
    // Used on the worker: pieces reach the loop in their order, and before the answer.
    [[nodiscard]] std::function<void(std::string)> speaker(RunPtr const& run) {
        return [callbacks = callbacks_, weak = std::weak_ptr(run)](std::string piece) {
            callbacks->post([weak, piece = std::move(piece)]() mutable {
                if (auto const alive = weak.lock()) show_piece(alive, std::move(piece));
            });
        };
    }

    port::Workers& workers_;
    std::shared_ptr<Callbacks> callbacks_;
    StreamingModelFunction function_;
};

class InterceptedModel final : public agent::Model {
public:
    InterceptedModel(port::Workers& workers, std::shared_ptr<agent::Model> inner,
                     ModelInterceptor interceptor)
        : workers_(workers), inner_(std::move(inner)), interceptor_(std::move(interceptor)) {}

    [[nodiscard]] Stop ask(agent::Question question, port::Fn<void(port::Delta)> delta,
                           port::Fn<void(agent::ModelOutcome)> done) override {
        auto const run = std::make_shared<Run>(std::move(delta), std::move(done));
        auto const asked = std::make_shared<ModelQuestion>(
            question_of(question, question.session, question.agent));
        if (!interceptor_.before) {
            ask_inner(run, asked, std::move(question));
            return stop_of(run);
        }
        on_worker<std::optional<ModelAnswer>>(
            workers_, run, Errors::end_the_turn,
            [this, asked](std::stop_token const&) { return interceptor_.before(*asked); },
            [this, run, asked,
             question = std::move(question)](std::optional<ModelAnswer> answer) mutable {
                if (answer) return run->end(apply(agent::Reply{}, *answer));
                auto changed = apply(std::move(question), *asked);
                if (!changed) return run->end(trouble(changed.error()));
                ask_inner(run, asked, *std::move(changed));
            });
        return stop_of(run);
    }
    [[nodiscard]] agent::ModelLimits limits() const override { return inner_->limits(); }

private:
    // Streamed text would bypass `after`: if there is one, nothing is streamed.
    void ask_inner(RunPtr const& run, std::shared_ptr<ModelQuestion> const& asked,
                   agent::Question question) {
        auto delta = [this, run](port::Delta piece) {
            if (!run->stopped && !interceptor_.after) run->delta(std::move(piece));
        };
        Stop stop = inner_->ask(std::move(question), std::move(delta),
                                [this, run, asked](agent::ModelOutcome outcome) {
                                    run->answered = true;
                                    run->inner = {};
                                    inspect(run, asked, std::move(outcome));
                                });
        if (!run->answered) run->inner = std::move(stop);
    }

    void inspect(RunPtr const& run, std::shared_ptr<ModelQuestion> const& asked,
                 agent::ModelOutcome outcome) {
        auto* const reply = std::get_if<agent::Reply>(&outcome);
        if (!reply || !interceptor_.after) return run->end(std::move(outcome));
        auto answer = answer_of(*reply);
        on_worker<ModelAnswer>(
            workers_, run, Errors::end_the_turn,
            [this, asked, answer](std::stop_token const&) -> Result<ModelAnswer> {
                ModelAnswer changed = answer;
                if (auto ok = interceptor_.after(*asked, changed); !ok)
                    return std::unexpected(std::move(ok.error()));
                return changed;
            },
            [run, reply = std::move(*reply)](ModelAnswer const& changed) mutable {
                if (!changed.text.empty()) run->delta({port::Delta::Kind::text, changed.text});
                run->end(apply(std::move(reply), changed));
            });
    }

    port::Workers& workers_;
    std::shared_ptr<agent::Model> inner_;
    ModelInterceptor interceptor_;
};

}  // namespace

}  // namespace dormouse::runtime

namespace dormouse::inline v0 {

// Connects the program, which may keep it for long, with a request on the loop.
struct ModelPromise::State {
    struct PassOn {
        std::stop_source& source;
        void operator()() const { source.request_stop(); }
    };

    State(std::shared_ptr<runtime::Callbacks> way, runtime::RunPtr of, std::stop_token ending)
        : callbacks(std::move(way)),
          run(std::move(of)),
          stop(run->job),
          at_end(std::move(ending), PassOn{stop}) {}
    ~State() {
        if (answered) return;
        end(agent::ModelTrouble{{"internal", "the model let the question go unanswered"}});
    }
    State(State const&) = delete;
    State& operator=(State const&) = delete;

    void end(agent::ModelOutcome outcome) {
        callbacks->post(
            [run = run, outcome = std::move(outcome)]() mutable { run->end(std::move(outcome)); });
    }

    std::shared_ptr<runtime::Callbacks> const callbacks;
    runtime::RunPtr const run;
    std::stop_source stop;
    std::stop_callback<PassOn> at_end;
    std::atomic<bool> answered = false;
};

void ModelPromise::say(std::string piece) const {
    state_->callbacks->post([run = state_->run, piece = std::move(piece)]() mutable {
        runtime::show_piece(run, std::move(piece));
    });
}

void ModelPromise::answer(Result<ModelAnswer> answer) const {
    if (state_->answered.exchange(true)) return;
    if (!answer) return state_->end(runtime::trouble(answer.error()));
    state_->callbacks->post([run = state_->run, answer = *std::move(answer)] {
        if (!run->stopped) runtime::take_answer(run, answer);
    });
}

std::stop_token ModelPromise::stop() const { return state_->stop.get_token(); }

namespace {

class AsyncModel final : public agent::Model {
public:
    AsyncModel(runtime::ModelServices services, AsyncModelFunction function)
        : services_(std::move(services)), function_(std::move(function)) {}

    [[nodiscard]] Stop ask(agent::Question question, port::Fn<void(port::Delta)> delta,
                           port::Fn<void(agent::ModelOutcome)> done) override {
        auto const run = std::make_shared<runtime::Run>(std::move(delta), std::move(done));
        ModelPromise promise(
            std::make_shared<ModelPromise::State>(services_.callbacks, run, services_.ending));
        auto asked = runtime::question_of(question, question.session, question.agent);
        auto job = [this, run, asked = std::move(asked),
                    promise = std::move(promise)](std::stop_token const&) mutable {
            auto came = runtime::guarded<bool>([&]() -> Result<bool> {
                function_(std::move(asked), promise);
                return true;
            });
            if (came.threw) fail_with(run, came.result.error());
        };
        auto finished = [run](bool ran) {
            if (!ran) run->end(runtime::saturated());
        };
        static_cast<void>(services_.workers.run(std::move(job), std::move(finished)));
        return runtime::stop_of(run);
    }
    [[nodiscard]] agent::ModelLimits limits() const override { return {}; }

private:
    void fail_with(runtime::RunPtr const& run, Error const& error) const {
        services_.callbacks->post([run, error] { run->end(runtime::trouble_of(error, false)); });
    }

    runtime::ModelServices const services_;
    AsyncModelFunction function_;
};

}  // namespace

Model model_from(ModelFunction function) {
    return streaming_model_from(
        [function = std::move(function)](
            ModelQuestion const& question, std::function<void(std::string)> const&,
            std::stop_token stop) { return function(question, std::move(stop)); });
}

Model streaming_model_from(StreamingModelFunction function) {
    auto plan = std::make_shared<detail::ModelPlan>();
    plan->name = "function";
    plan->make =
        [function = std::move(function)](
            runtime::ModelServices const& services) -> Result<std::shared_ptr<agent::Model>> {
        return std::make_shared<runtime::FunctionModel>(services, function);
    };
    return Model(std::move(plan));
}

Model async_model_from(AsyncModelFunction function) {
    auto plan = std::make_shared<detail::ModelPlan>();
    plan->name = "function";
    plan->make =
        [function = std::move(function)](
            runtime::ModelServices const& services) -> Result<std::shared_ptr<agent::Model>> {
        return std::make_shared<AsyncModel>(services, function);
    };
    return Model(std::move(plan));
}

Model Model::through(ModelInterceptor interceptor) const {
    if (!plan_) return {};
    auto plan = std::make_shared<detail::ModelPlan>();
    plan->name = plan_->name;
    plan->make =
        [inner = plan_, interceptor = std::move(interceptor)](
            runtime::ModelServices const& services) -> Result<std::shared_ptr<agent::Model>> {
        auto made = inner->make(services);
        if (!made) return made;
        return std::make_shared<runtime::InterceptedModel>(services.workers, *std::move(made),
                                                           interceptor);
    };
    return Model(std::move(plan));
}

}  // namespace dormouse::inline v0
