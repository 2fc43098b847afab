#include "runtime/node.h"

#include "base/check.h"

#include <utility>

namespace dormouse::runtime {

namespace {
constexpr Duration collect_every{200};
}

Node::Shared::Shared(Node& node)
    : thread(threads, node.services.loop),
      signal_thread(signal_threads, node.services.loop),
      nodes({node.services.loop, node.journal, *node.shared_store, node.signal_channel(), thread},
            node.store->epoch(), node.described),
      signals({node.services.loop, node.signal_channel(), signal_thread}),
      follower(node.services.loop, node.journal, *node.shared_store, io::boot_time) {}

// Sets the clock before anything of the node asks for the time.
NodeServices& Node::following(NodeServices& services, std::optional<Time> at_boot) {
    if (at_boot) services.clock.follow(*at_boot);
    return services;
}

Node::Node(NodeServices& outside, OpenedStore opened, Settings settings)
    : text_(std::move(settings.text)),
      end_hold_(std::move(opened.release)),
      services(following(outside, opened.clock_at_boot)),
      threads(std::move(settings.threads)),
      store(std::move(opened.store)),
      find_token(std::move(opened.find_token)),
      database(opened.database),
      audit_ends(opened.audit_ends),
      removed(opened.removed),
      shared_store(opened.shared),
      channel(std::move(opened.channel)),
      described{std::move(opened.node), std::move(opened.config)},
      effects(
          registry, workers,
          {[this](PendingId const& pending) {
               return attached ? attached->callback_url(pending) : std::string();
           },
           [this] { return services.clock.now(); }, settings.runner.tracing,
           [this] { return shared ? shared->nodes.start_permission() : owner.start_permission(); },
           [this](SessionId session, session::EffectId id) { runner.not_begun(session, id); }}),
      shared(shared_store ? std::make_unique<Shared>(*this) : nullptr),
      nodes(shared ? static_cast<port::Nodes&>(shared->nodes) : owner),
      runner({services.loop, services.clock, services.entropy, journal, nodes, counted_effects,
              effects, &bodies, &catalogue},
             with_store(std::move(settings.runner), *this), *this) {
    if (end_hold_) shared ? shared->nodes.hold() : owner.hold();
}

port::Channel& Node::signal_channel() const {
    CHECK(channel || shared_store);
    return channel ? *channel : static_cast<port::Channel&>(*shared_store);
}

runner::Options Node::with_store(runner::Options options, Node& node) {
    if (node.shared_store) {
        options.numbers = node.shared_store->take_numbers().value_or(port::NumberBlock());
        options.fetch_numbers = node.fetch_numbers();
    } else {
        options.numbers.first = node.store->next_session_number();
    }
    // If a rule is damaged, none answers: people are asked.
    options.rules = node.store->rules().value_or(std::vector<port::RuleRow>());
    options.outgoing = [&node](auto const& state, auto records, auto const& changes) {
        return node.attached ? node.attached->outgoing(state, records, changes)
                             : std::vector<port::OutboxRow>();
    };
    return options;
}

SoleOwner::Ask Node::ask_whether_owned() {
    if (!store->shared() || shared_store) return {};
    return [this](std::function<void(Result<void>)> answer) {
        port::ask(
            store_thread, [](port::MaintenanceStore& store) { return store.ping(); },
            std::move(answer));
    };
}

runner::SessionNumbers::Fetch Node::fetch_numbers() {
    return [this](port::Fn<void(Result<port::NumberBlock>)> answer) {
        auto const block = std::make_shared<port::NumberBlock>();
        auto take = [this, block](port::Store& /*store*/) -> Result<void> {
            auto const taken = shared_store->take_numbers();
            if (!taken) return std::unexpected(taken.error());
            *block = *taken;
            return {};
        };
        auto use = [block, answer = std::move(answer)](Result<void> const& done) mutable {
            answer(done ? Result<port::NumberBlock>(*block) : std::unexpected(done.error()));
        };
        journal.write(std::move(take), std::move(use));
    };
}

void Node::remove_hold(port::Fn<void(Result<void>)> done) {
    CHECK(end_hold_);
    journal.write([end = end_hold_](port::Store& /*store*/) { return end(); }, std::move(done));
}

void Node::start(std::function<void()> lost) {
    if (shared)
        start_shared();
    else
        owner.start(std::move(lost));
    runner.start();
}

void Node::start_shared() {
    shared->nodes.start(
        {[this] { runner.fenced(); }, [this] { missed_appends(); },
         [this](port::HeartbeatReply const& beat) { on_heartbeat(beat); },
         [this] { runner.process_left(); },
         [this](std::string_view text) { shared->signals.on_message(nodes.epoch(), text); },
         [this](Time at_boot) { services.clock.follow(at_boot); }});
    shared->signals.start({[this] { shared->follower.moved(); },
                           [this](Epoch from, std::string_view text) {
                               if (attached) attached->on_signal(from, text);
                           }});
    shared->follower.start({[this](port::FeedRow const& row) { appended_elsewhere(row); },
                            [this] {
                                runner.forget_memory();
                                missed_appends();
                            },
                            [this] { return !attached || attached->awaited(); }});
}

void Node::on_heartbeat(port::HeartbeatReply const& beat) {
    shared->follower.on_feed_number(beat.feed);
    if (held() && !beat.held) attached ? attached->released() : release();
    if (attached) attached->on_heartbeat(beat, nodes.epoch());
}

void Node::publish(std::string_view text) {
    if (has_others()) shared->signals.publish(nodes.epoch(), text);
}

void Node::appended_elsewhere(port::FeedRow const& row) {
    runner.appended_elsewhere(row);
    if (attached) attached->appended_elsewhere(row);
}

void Node::end(Duration limit) {
    if (attached) attached->stop_accepting();
    if (shared) shared->nodes.drain();
    runner.drain(
        [this] {
            if (!attached) return services.loop.stop();
            attached->end([this] { services.loop.stop(); });
        },
        limit);
}

void Node::exchange_registry(agent::Registry next) {
    registry.exchange(std::move(next));
    runner.gates_changed();
    if (!std::exchange(collecting_, true)) collect_registries();
}

// Later, because a function of the former catalogue may be running.
void Node::collect_registries() {
    services.loop.after(collect_every, scope_.guard([this] {
        collecting_ = registry.collect();
        if (collecting_) collect_registries();
    }));
}

void Node::count_by(port::Meter* counter) {
    meter = counter;
    counted_effects.count_by(counter);
    journal.count_by(counter);
}

}  // namespace dormouse::runtime
