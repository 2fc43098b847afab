#pragma once
// The devices that get notifications, in memory. Their rows are in the store. On the loop.

#include "port/store_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::http {

class Devices {
public:
    static constexpr std::size_t most = 1'000;
    static constexpr std::size_t most_each = 10;  // of one person

    // Replaces the device with the same endpoint, as the store does.
    void put(port::DeviceRow row) {
        if (auto const* const same = find_endpoint(row.endpoint))
            rows_.erase(std::string(same->id));
        rows_.insert_or_assign(row.id, std::move(row));
    }
    // The store has these rows, and no others.
    void replace(std::vector<port::DeviceRow> const& rows) {
        rows_.clear();
        for (port::DeviceRow const& row : rows) put(row);
    }
    void remove(std::string const& id) { rows_.erase(id); }
    void remove_token(std::string_view token) {
        std::erase_if(rows_, [&](auto const& entry) { return entry.second.token == token; });
    }
    // Returns nullptr if there is no such device.
    [[nodiscard]] port::DeviceRow const* find(std::string const& id) const {
        auto const found = rows_.find(id);
        return found == rows_.end() ? nullptr : &found->second;
    }
    [[nodiscard]] port::DeviceRow const* find_endpoint(std::string_view endpoint) const {
        auto const found = std::ranges::find_if(
            rows_, [&](auto const& entry) { return entry.second.endpoint == endpoint; });
        return found == rows_.end() ? nullptr : &found->second;
    }
    // Oldest first.
    [[nodiscard]] std::vector<port::DeviceRow> of(std::string_view person) const {
        std::vector<port::DeviceRow> out;
        for (auto const& [id, row] : rows_)
            if (row.person == person) out.push_back(row);
        std::ranges::stable_sort(out, {}, &port::DeviceRow::created);
        return out;
    }
    [[nodiscard]] std::map<std::string, port::DeviceRow> const& all() const { return rows_; }

private:
    std::map<std::string, port::DeviceRow> rows_;  // by id
};

}  // namespace dormouse::http
