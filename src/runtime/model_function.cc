#include "runtime/models.h"

#include <utility>

// Models that are somebody's code, and interceptors around models: both run on worker threads.
namespace dormouse::runtime {

namespace {

// What runs for one question. On the loop, but for the jobs.
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

template <class T, class F> Result<T> guarded(F const& work) {
    try {
        return work();
    } catch (std::exception const& error) {
        return fail(Code::internal, std::string("it threw: ") + error.what());
    } catch (...) {
        return fail(Code::internal, "it threw something that is no exception");
    }
}

// `work` on a worker; `then` on the loop with what came of it, unless the question was stopped.
template <class T>
void on_worker(port::Workers& workers, RunPtr const& run,
               std::function<Result<T>(std::stop_token)> work, port::Fn<void(T)> then) {
    auto const result = std::make_shared<std::optional<Result<T>>>();
    auto job = [result, work = std::move(work)](std::stop_token stop) {
        result->emplace(guarded<T>([&] { return work(std::move(stop)); }));
    };
    auto finished = [run, result, then = std::move(then)](bool ran) mutable {
        if (run->stopped) return;
        Error const crowded{Code::overloaded, "too much waits to run"};
        if (!ran) return run->end(trouble(crowded));
        if (!**result) return run->end(trouble((*result)->error()));
        then(std::move(***result));
    };
    run->job = workers.run(std::move(job), std::move(finished));
}

class FunctionModel final : public agent::Model {
public:
    FunctionModel(runtime::Means const& means, StreamingModelFunction function)
        : workers_(means.workers), loop_(means.loop), function_(std::move(function)) {}

    [[nodiscard]] Stop ask(agent::Question question, port::Fn<void(port::Delta)> delta,
                           port::Fn<void(agent::ModelOutcome)> done) override {
        auto const run = std::make_shared<Run>(std::move(delta), std::move(done));
        auto asked = question_of(question, question.session, question.agent);
        on_worker<ModelAnswer>(
            workers_, run,
            [this, run, asked = std::move(asked)](std::stop_token stop) {
                return function_(asked, speaker(run), std::move(stop));
            },
            [run](ModelAnswer const& answer) {
                if (!answer.text.empty() && !run->spoke)
                    run->delta({port::Delta::Kind::text, answer.text});
                run->end(apply(agent::Reply{}, answer));
            });
        return stop_of(run);
    }

private:
    // For the worker: its pieces come to the loop in their order, and before the answer.
    [[nodiscard]] std::function<void(std::string)> speaker(RunPtr const& run) {
        return [&loop = loop_, weak = std::weak_ptr(run)](std::string piece) {
            loop.post([weak, piece = std::move(piece)]() mutable {
                auto const alive = weak.lock();
                if (!alive || alive->stopped || piece.empty()) return;
                alive->spoke = true;
                alive->delta({port::Delta::Kind::text, std::move(piece)});
            });
        };
    }

    port::Workers& workers_;
    port::Loop& loop_;
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
            workers_, run,
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
    [[nodiscard]] std::size_t concurrency() const override { return inner_->concurrency(); }
    [[nodiscard]] std::uint32_t retries() const override { return inner_->retries(); }

private:
    // What streams has not been through `after`: where there is one, nothing is streamed.
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
            workers_, run,
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

Model model_from(ModelFunction function) {
    return streaming_model_from(
        [function = std::move(function)](
            ModelQuestion const& question, std::function<void(std::string)> const&,
            std::stop_token stop) { return function(question, std::move(stop)); });
}

Model streaming_model_from(StreamingModelFunction function) {
    auto plan = std::make_shared<detail::ModelPlan>();
    plan->name = "function";
    plan->make = [function = std::move(function)](
                     runtime::Means const& means) -> Result<std::shared_ptr<agent::Model>> {
        return std::make_shared<runtime::FunctionModel>(means, function);
    };
    return Model(std::move(plan));
}

Model Model::through(ModelInterceptor interceptor) const {
    if (!plan_) return {};
    auto plan = std::make_shared<detail::ModelPlan>();
    plan->name = plan_->name;
    plan->make = [inner = plan_, interceptor = std::move(interceptor)](
                     runtime::Means const& means) -> Result<std::shared_ptr<agent::Model>> {
        auto made = inner->make(means);
        if (!made) return made;
        return std::make_shared<runtime::InterceptedModel>(means.workers, *std::move(made),
                                                           interceptor);
    };
    return Model(std::move(plan));
}

}  // namespace dormouse::inline v0
