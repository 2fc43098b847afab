#include <dormouse/registry.h>

#include "tool/names.h"
#include "tool/run.h"

#include "base/text/text.h"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>

namespace dormouse {

namespace {

constexpr std::size_t at_once_max = 64;

std::string const& name_of(std::shared_ptr<tools::Prepared const> const& prepared) {
    return prepared->tool->declaration().name;
}

RawOutcome unless_stopped(Registry const& registry, Call const& call) {
    if (call.stop().stop_requested()) return Failed{"stopped before it ran", true};
    return registry.run(call);
}

// Returns false if no more threads are available.
template <class Work> bool add_thread(std::vector<std::jthread>& threads, Work const& work) {
    try {
        threads.emplace_back(work);
        return true;
    } catch (std::system_error const&) {
        return false;
    }
}

}  // namespace

Result<Registry> Registry::of(std::initializer_list<ToolPtr> tools) {
    Registry registry;
    for (ToolPtr const& tool : tools) {
        if (auto added = registry.add(tool); !added)
            return std::unexpected(std::move(added.error()));
    }
    return registry;
}

Result<void> Registry::add(ToolPtr tool) {
    if (!tool) return fail(Code::bad_value, "the tool must not be empty");
    Declaration const& declaration = tool->declaration();
    if (auto why = tools::wrong(declaration); !why.empty())
        return fail(Code::bad_value, std::move(why));
    if (find(declaration.name))
        return fail(Code::conflict, "there is a tool '" + declaration.name + "' already");
    tools_.push_back(std::make_shared<tools::Prepared const>(std::move(tool)));
    return {};
}

bool Registry::remove(std::string_view name) {
    return std::erase_if(tools_, [&](auto const& one) { return name_of(one) == name; }) != 0;
}

std::shared_ptr<tools::Prepared const> Registry::prepared(std::string_view name) const {
    auto const found = std::ranges::find(tools_, name, name_of);
    return found == tools_.end() ? nullptr : *found;
}

ToolPtr Registry::find(std::string_view name) const {
    auto const found = prepared(name);
    return found ? found->tool : nullptr;
}

std::vector<ToolPtr> Registry::list() const {
    std::vector<ToolPtr> out;
    for (auto const& one : tools_) out.push_back(one->tool);
    return out;
}

RawOutcome Registry::run(Call const& call) const {
    if (auto found = prepared(call.tool())) return tools::run_in_time(std::move(found), call);
    std::vector<std::string_view> names;
    for (auto const& one : tools_) names.push_back(name_of(one));
    std::string text = "unknown tool '" + call.tool() + "'";
    if (auto const near = nearest(call.tool(), names); !near.empty())
        text += "; did you mean '" + std::string(near) + "'?";
    return Failed{std::move(text)};
}

std::vector<RawOutcome> Registry::run_all(std::span<Call const> calls, std::size_t at_once) const {
    std::vector<RawOutcome> out(calls.size(), RawOutcome(Failed{}));
    std::size_t const wanted = at_once == 0 ? at_once_max : std::min(at_once, at_once_max);
    std::atomic<std::size_t> next = 0;
    auto const work = [&] {
        for (std::size_t i = next++; i < calls.size(); i = next++)
            out[i] = unless_stopped(*this, calls[i]);
    };
    {
        std::vector<std::jthread> threads;
        while (threads.size() + 1 < std::min(wanted, calls.size()) && add_thread(threads, work)) {}
        work();
    }
    return out;
}

}  // namespace dormouse
