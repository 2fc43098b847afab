#pragma once
// Texts with places to fill in, after Mustache: what `completion` and `man` print. Pure.
//
//   {{name}}              the text `name` of the innermost record that has one, escaped
//   {{name|filter}}       through a filter first
//   {{&name}}             as it is
//   {{#name}} … {{/name}} for each record of the list `name`, or once if the text is not empty
//   {{#name ", "}} …      the same, with something between two records
//   {{^name}} … {{/name}} if the list or text is empty
//   {{=name}} … {{/name}} a part, for {{>name}} later
//
// Of a line that holds nothing but a tag of these (not a value), or a part as a whole, only that is
// kept: neither its indentation nor its end.

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

// A record for each text, which is its {{.}}.
[[nodiscard]] std::vector<Record> records(std::vector<std::string> const& texts);

using Filter = std::function<std::string(std::string_view)>;

// REQUIRES: the sections of `text` are closed, and its filters are there.
[[nodiscard]] std::string filled(std::string_view text, Record const& data, Filter const& escape,
                                 std::map<std::string_view, Filter> const& filters = {});

}  // namespace dormouse::cli
