#include "http/objects/objects.h"
#include "http/resources/tasks/handlers.h"

#include "json/json.h"

#include <deque>

// GET /api/sessions/{id}/tasks?tree=true: the tasks of a session, their tasks, and so on.
namespace dormouse::http {

using namespace dormouse::session;

namespace {

constexpr std::size_t nodes_max = 1'000;

struct TaskNode {
    std::string object;
    std::vector<std::size_t> under = {};
};

struct TaskTree {
    Api& api;
    ExchangePtr x;
    std::vector<TaskNode> nodes = {{}};  // the first is the session itself
    std::deque<std::pair<SessionId, std::size_t>> open = {};
    bool cut = false;

    [[nodiscard]] std::string list(std::size_t node) const {
        std::string out = "[";
        for (std::size_t const child : nodes[node].under) {
            std::string_view object = nodes[child].object;
            object.remove_suffix(1);
            out += (out.size() > 1 ? "," : "") + std::string(object);
            out += ",\"tasks\":" + list(child) + "}";
        }
        return out + "]";
    }
};

void add_nodes(TaskTree& tree, std::size_t node, Snapshot const& snapshot) {
    for (auto const& [no, task] : snapshot.history.tasks()) {
        tree.cut = tree.cut || tree.nodes.size() > nodes_max;
        if (tree.cut) return;
        tree.nodes[node].under.push_back(tree.nodes.size());
        tree.open.emplace_back(task.child, tree.nodes.size());
        tree.nodes.push_back({task_object(snapshot.lane->state(), task)});
    }
}

void grow(std::shared_ptr<TaskTree> const& tree) {
    if (tree->open.empty()) {
        json::Writer out;
        out.begin_object().member_raw("items", tree->list(0)).member_null("next");
        return tree->x->json(200, out.member("cut", tree->cut).end_object().take());
    }
    auto const [session, node] = tree->open.front();
    tree->open.pop_front();
    read_history(tree->api, session, [tree, node](Result<Snapshot> snapshot) {
        if (!snapshot && node == 0) return tree->x->fail(snapshot.error());
        // A child that is deleted, or not created yet, has no tasks.
        if (snapshot) add_nodes(*tree, node, *snapshot);
        grow(tree);
    });
}

}  // namespace

void list_task_tree(Api& api, ExchangePtr const& x, SessionId session) {
    auto const tree = std::make_shared<TaskTree>(TaskTree{api, x});
    tree->open.emplace_back(session, 0);
    grow(tree);
}

}  // namespace dormouse::http
