#pragma once
// The rows of [archive].

#include "config/rows/rows.h"

namespace dormouse::config::rows {

inline constexpr Key archive_rows[] = {
    text<&Archive::to>("to", some_text,
                       "The absolute path of the folder into which the server moves completed "
                       "sessions. Default: nowhere.")
        .like("/srv/dormouse/archive"),
    duration<&Archive::completed_after>("completed_after", {second, 100 * year},
                                        "Sessions that completed longer ago than this are moved."),
    duration<&Archive::interval>("interval", {second, 30 * day}, "Interval of the sweeps."),
    number<&Archive::sessions_per_sweep>("sessions_per_sweep", {1, 100'000},
                                         "Maximum sessions that a sweep moves, oldest first."),
};

}  // namespace dormouse::config::rows
