#pragma once
// The rows of keys.cc about budgets.

#include "config/rows/rows.h"

namespace dormouse::config::rows {

inline constexpr Key budget_rows[] = {
    word<&Budget::per>("per", "turn, session, agent_day, project_day",
                       "The period and scope of each amount; days are in UTC.")
        .needed()
        .like("turn"),
    texts<&Budget::agents>("agents", id, "Only these agents; empty: all.").like(R"(["ops"])"),
    texts<&Budget::projects>("projects", id, "Only these projects; empty: all.")
        .like(R"(["default"])"),
    number<&Budget::tokens>("tokens", {1, 4'000'000'000}, "Tokens of input and output.")
        .like("200000"),
    price<&Budget::cost>("cost", "Money, by the prices of the models.").like("2.5"),
    text<&Budget::currency>("currency", currency, "The currency of cost (ISO 4217)."),
    number<&Budget::steps>("steps", {1, many}, "Steps: requests to the model, or prompts.")
        .like("100"),
    duration<&Budget::wall_time>(
        "wall_time", {second, year},
        "Time of work; the time in which a turn only waits for people and jobs is not counted.")
        .like("2h"),
    texts<&Budget::answerers>(
        "answerers", some_text.sized(1, 128),
        "People who may raise it: names of tokens or role:…; empty: anyone who may answer calls.")
        .like(R"(["alice", "role:operate"])"),
    duration_or_none<&Budget::timeout>("timeout", {second, 10 * year},
                                       "Maximum wait for an answer; then the turn ends.")
        .like("24h"),
    duration<&Budget::warn_before>("warn_before", {second, 10 * year},
                                   "Time before the deadline at which a deadline_near event comes.")
        .like("1h"),
};

}  // namespace dormouse::config::rows
