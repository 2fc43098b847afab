#include "port/many_loads.h"

namespace dormouse::port {

std::vector<Result<Loaded>> load_each(JournalStore& store, std::span<SessionId const> sessions) {
    if (auto* const many = dynamic_cast<ManyLoads*>(&store)) return many->load_each(sessions);
    std::vector<Result<Loaded>> out;
    out.reserve(sessions.size());
    for (SessionId const& session : sessions) out.push_back(store.load(session));
    return out;
}

}  // namespace dormouse::port
