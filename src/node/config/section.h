#pragma once
// One table of the file, checked against the rows of keys.h when constructed. Reports every unknown
// key, wrong type, value out of bounds and missing key; a reported key then counts as absent.

#include "config/keys.h"
#include "config/node.h"
#include "config/world.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::config {

// Collects the problems of a file.
class Report {
public:
    void add(std::uint32_t line, std::string what, std::string_view advice);
    // Returns the problems in the order of the file.
    [[nodiscard]] std::vector<Problem> take();
    [[nodiscard]] bool empty() const { return problems_.empty(); }

private:
    std::vector<Problem> problems_;
};

struct Reading {
    Report& report;
    Environment const& environment;
    std::string folder;  // absolute, of the file

    // Resolves a name relative to that folder.
    [[nodiscard]] std::string sibling(std::string const& name) const;
};

class Section {
public:
    // The arguments outlive this. `line`: that of its heading.
    Section(Reading const& reading, std::string_view section, Node const& node, std::uint32_t line);

    // Stores each value in the member of its row; an absent or reported value leaves the member
    // unchanged. Reports keys of other kinds. CHECKs that T is the type of the section's rows.
    template <class T> void fill(T& out) const { fill(&out, typeid(T)); }

    // The value of the right kind; nullptr if absent or reported.
    [[nodiscard]] Node const* node(std::string_view name) const;
    // The same for a text; empty if absent or reported.
    [[nodiscard]] std::string text(std::string_view name) const;
    [[nodiscard]] bool given(std::string_view name) const;          // also if reported
    [[nodiscard]] std::uint32_t line(std::string_view name) const;  // the heading's if absent
    [[nodiscard]] std::uint32_t line() const { return line_; }
    // The section's kind, as named in Key::only; empty: it has none, or it was reported.
    [[nodiscard]] std::string kind() const;
    [[nodiscard]] Reading const& reading() const { return reading_; }

    // "[[tool]] deploy: timeout"
    [[nodiscard]] std::string label(std::string_view name) const;
    void report(std::string_view name, std::string const& what, std::string_view advice) const;
    void forbid(std::string_view name, std::string const& why) const;
    void require(std::string_view name, std::string const& why) const;

private:
    void check_member(Member const& member);
    void unknown(Member const& member) const;
    void fill(void* out, std::type_info const& type) const;
    [[nodiscard]] bool was_reported(std::string_view name) const;

    Reading const& reading_;
    std::string_view section_;
    std::uint32_t line_;
    std::string title_;
    Node::Table const* table_ = nullptr;  // nullptr: it is not a table
    std::vector<std::string_view> bad_;   // reported keys
};

// A value for a message: quoted, escaped for terminals, cut after 60 bytes. Values that could be
// secrets are left out.
[[nodiscard]] std::string shown(std::string_view text);
// ": NAME" if it cannot be a pasted secret: by convention, variables have capital letters.
[[nodiscard]] std::string shown_variable(std::string_view name);

}  // namespace dormouse::config
