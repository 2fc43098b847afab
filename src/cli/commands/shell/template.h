#pragma once
// A subset of Mustache templates, for the output of `completion` and `man`. Pure.
//
//   {{name}}              the text `name` of the innermost record that has one, escaped
//   {{name|filter}}       passed through a filter first
//   {{&name}}             unescaped
//   {{#name}} … {{/name}} for each record of the list `name`, or once if the text is not empty
//   {{#name ", "}} …      the same, with a separator between two records
//   {{^name}} … {{/name}} if the list or text is empty
//   {{=name}} … {{/name}} defines a part for a later {{>name}}
//
// A line that holds nothing but one of these tags (not a value) is removed from the output with its
// indentation and line break.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dormouse::cli {

struct Record {
    std::map<std::string, std::string, std::less<>> texts = {};
    std::map<std::string, std::vector<Record>, std::less<>> lists = {};
};

// Returns one record for each text; {{.}} is the text.
[[nodiscard]] std::vector<Record> records(std::vector<std::string> const& texts);

using Filter = std::function<std::string(std::string_view)>;

// REQUIRES: every section of `text` is closed and every filter it names exists.
[[nodiscard]] std::string filled(std::string_view text, Record const& data, Filter const& escape,
                                 std::map<std::string_view, Filter> const& filters = {});

}  // namespace dormouse::cli
