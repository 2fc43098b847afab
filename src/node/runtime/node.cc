#include "runtime/node.h"

#include <utility>

namespace dormouse::runtime {

Node::Node(World& outside, std::unique_ptr<port::Store> opened, Settings settings)
    : text_(std::move(settings.text)),
      world(outside),
      threads(std::move(settings.threads)),
      store(std::move(opened)),
      effects(registry, workers,
              {[this](PendingId const& pending) {
                   return attached ? attached->callback_url(pending) : std::string();
               },
               [this] { return world.clock.now(); }}),
      runner({world.loop, world.clock, world.entropy, journal, nodes, counted_effects, effects,
              &bodies, &catalogue},
             with_store(std::move(settings.runner), *this), *this) {}

runner::Options Node::with_store(runner::Options options, Node& node) {
    options.numbers.first = node.store->next_session_number();
    // If a rule is damaged, none answers: people are asked.
    options.rules = node.store->rules().value_or(std::vector<port::RuleRow>());
    options.outgoing = [&node](auto const& state, auto records, auto const& changes) {
        return node.attached ? node.attached->outgoing(state, records, changes)
                             : std::vector<port::OutboxRow>();
    };
    return options;
}

SoleOwner::Ask Node::ask_whether_owned() {
    if (!store->shared()) return {};
    return [this](std::function<void(Result<void>)> answer) {
        port::ask(
            store_thread, [](port::MaintenanceStore& store) { return store.ping(); },
            std::move(answer));
    };
}

void Node::start(std::function<void()> lost) {
    nodes.start(std::move(lost));
    runner.start();
}

void Node::end(Duration limit) {
    if (attached) attached->stop_accepting();
    runner.drain(
        [this] {
            if (!attached) return world.loop.stop();
            attached->end([this] { world.loop.stop(); });
        },
        limit);
}

void Node::count_by(port::Meter* counter) {
    meter = counter;
    counted_effects.count_by(counter);
    journal.count_by(counter);
}

}  // namespace dormouse::runtime
