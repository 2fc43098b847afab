#pragma once
// A configuration file as a tree of values with line numbers. Only toml.cc uses the TOML library.

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace dormouse::config {

struct Problem {
    std::uint32_t line = 0;  // from 1; 0: the file as a whole
    std::string text;        // "what is wrong; what to do"
    friend bool operator==(Problem const&, Problem const&) = default;
};

struct Member;

struct Node {
    struct Other {
        std::string_view what;  // "a date"
    };
    using Array = std::vector<Node>;
    using Table = std::vector<Member>;  // in the order of the file

    std::uint32_t line = 0;
    std::variant<bool, std::int64_t, double, std::string, Array, Table, Other> value;

    template <class T> [[nodiscard]] T const* get() const { return std::get_if<T>(&value); }
    // Returns the kind for messages: "a string", "a table".
    [[nodiscard]] std::string_view kind() const;
};

struct Member {
    std::string name;
    std::uint32_t line = 0;  // of the key
    Node node;
};

[[nodiscard]] Node const* find(Node::Table const& table, std::string_view name);

// Parses the top table. The library stops at the first syntax error, so there is at most one
// problem.
[[nodiscard]] std::expected<Node, Problem> parse_toml(std::string_view text);

}  // namespace dormouse::config
