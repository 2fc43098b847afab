#include "http/resources/operations/doctor/troubles.h"

#include <algorithm>

namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr std::size_t why_max = 300;

// As model/provider_failure.cc words it: only a refused key gets this advice.
bool refuses_key(Trouble const& trouble) {
    return trouble.message.contains("check the key that api_key_env names");
}

}  // namespace

void Troubles::appended(State const& state, std::vector<wire::RecordPtr> const& records) {
    for (wire::RecordPtr const& record : records) note(state, record->event);
}

void Troubles::note(State const& state, Event const& event) {
    if (std::holds_alternative<ModelReplied>(event.body)) {
        rejected_.erase(state.agent);
    } else if (auto const* model = std::get_if<ModelFailed>(&event.body)) {
        bool const room = rejected_.size() < agents_max || rejected_.contains(state.agent);
        if (refuses_key(model->error) && room)
            rejected_[state.agent] = model->error.message.substr(0, why_max);
    } else if (auto const* ended = std::get_if<TurnEnded>(&event.body)) {
        if (ended->finish != FinishReason::error) return;
        turns_.push_back(
            {event.at, state.id, ended->error ? ended->error->message.substr(0, why_max) : ""});
        if (turns_.size() > turns_max) turns_.pop_front();
    }
}

std::vector<Troubles::FailedTurn> Troubles::failed_since(Time since) const {
    std::vector<FailedTurn> out;
    std::ranges::copy_if(turns_, std::back_inserter(out),
                         [since](FailedTurn const& one) { return one.at >= since; });
    return out;
}

void FailingReceivers::refused(std::string const& target, std::uint32_t attempts,
                               std::string_view why, Time now) {
    std::erase_if(failing_, [now](auto const& one) { return one.second.newest + kept < now; });
    if (failing_.size() >= receivers_max && !failing_.contains(target)) return;
    auto const [it, is_new] = failing_.try_emplace(target);
    Failing& one = it->second;
    if (is_new) one.since = now;
    one.target = target;
    one.why = why.substr(0, why_max);
    one.attempts = std::max(one.attempts + 1, attempts);
    one.newest = now;
}

std::vector<FailingReceivers::Failing> FailingReceivers::failing(Time now) const {
    std::vector<Failing> out;
    for (auto const& [target, one] : failing_) {
        bool const is_long = one.attempts > 1 && one.since + minutes <= now;
        bool const is_recent = one.newest + kept >= now;
        if (is_recent && (one.attempts >= attempts_min || is_long)) out.push_back(one);
    }
    std::ranges::sort(out, {}, &Failing::since);
    return out;
}

void DiskTrend::note(Time now, std::uint64_t free) {
    std::erase_if(samples_, [now](Sample const& one) { return one.at + kept < now; });
    if (samples_.empty() || samples_.back().at + every <= now) samples_.push_back({now, free});
}

std::optional<Duration> DiskTrend::until_full(Time now, std::uint64_t free) const {
    if (samples_.empty()) return std::nullopt;
    Sample const& first = samples_.front();
    if (first.at + every > now || first.free <= free) return std::nullopt;
    auto const used = static_cast<double>(first.free - free);
    auto const took = static_cast<double>((now - first.at).count());
    auto const left = took * static_cast<double>(free) / used;
    constexpr double most = 1e15;
    return Duration(static_cast<std::int64_t>(std::min(left, most)));
}

}  // namespace dormouse::http
