#pragma once
// One table of the file, checked against the rows of keys.h when it is made: what is unknown, of
// the wrong type, out of bounds or missing is reported, all of it, and then reads as absent.

#include "config/keys.h"
#include "config/node.h"
#include "config/world.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::config {

// Where all problems of a file come together.
class Report {
public:
    void add(std::uint32_t line, std::string what, std::string_view advice);
    // In the order of the file.
    [[nodiscard]] std::vector<Problem> take();
    [[nodiscard]] bool empty() const { return problems_.empty(); }

private:
    std::vector<Problem> problems_;
};

struct Reading {
    Report& report;
    World const& world;
    std::string folder;  // of the file, absolute

    // A name as it is seen from that folder.
    [[nodiscard]] std::string beside(std::string const& name) const;
};

class Section {
public:
    // All outlive this. `line`: where its heading is.
    Section(Reading const& reading, std::string_view section, Node const& node, std::uint32_t line);

    // Stores each value by its row; what is absent or reported leaves its member as it is. What is
    // for another kind is reported. CHECKs that T is what the section's rows are of.
    template <class T> void fill(T& out) const { fill(&out, typeid(T)); }

    // The value as it stands, of the right kind; nullptr when absent or reported.
    [[nodiscard]] Node const* node(std::string_view name) const;
    // The same of a text; empty when absent or reported.
    [[nodiscard]] std::string text(std::string_view name) const;
    [[nodiscard]] bool given(std::string_view name) const;          // also when it was reported
    [[nodiscard]] std::uint32_t line(std::string_view name) const;  // the heading's when absent
    [[nodiscard]] std::uint32_t line() const { return line_; }
    // Which kind it is, of those that Key::only names; empty: of none, or its kind was reported.
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
    Node::Table const* table_ = nullptr;  // nullptr: it is no table
    std::vector<std::string_view> bad_;   // reported
};

// A value for a message: quoted, made safe for a terminal, cut after 60 bytes. What could be a
// secret is left out.
[[nodiscard]] std::string shown(std::string_view text);
// ": NAME" when that can be no pasted secret: variables are in capitals by custom.
[[nodiscard]] std::string shown_variable(std::string_view name);

}  // namespace dormouse::config
