#include "cli/commands/shell/template.h"

#include <gtest/gtest.h>

#include <cctype>

namespace dormouse::cli {
namespace {

std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::toupper(c));
    return out;
}

std::string in_brackets(std::string_view text) { return "<" + std::string(text) + ">"; }

std::string filled_with(std::string_view text) {
    Record const data{.texts = {{"name", "a"}, {"none", ""}},
                      .lists = {{"items", {{.texts = {{"name", "b"}}}, {.texts = {{"name", "c"}}}}},
                                {"words", records({"x", "y"})},
                                {"nothing", {}}}};
    return filled(text, data, in_brackets, {{"upper", upper}});
}

TEST(Template, Values_EscapedFilteredOrAsTheyAre) {
    EXPECT_EQ(filled_with("{{name}} {{name|upper}} {{&name}} {{none}}"), "<a> <A> a <>");
}

TEST(Template, List_EachRecordBeforeTheOuterOne) {
    EXPECT_EQ(filled_with("{{#items}}{{&name}}{{/items}}{{&name}}"), "bca");
    EXPECT_EQ(filled_with("{{#words \", \"}}{{&.}}{{/words}}"), "x, y");
    EXPECT_EQ(filled_with("{{#nothing}}x{{/nothing}}{{^nothing}}none{{/nothing}}"), "none");
}

TEST(Template, TextAsSection_OnceUnlessEmpty) {
    EXPECT_EQ(filled_with("{{#name}}yes{{/name}}{{#none}}no{{/none}}{{^none}}!{{/none}}"), "yes!");
}

TEST(Template, SectionsOfOneName_Nest) {
    EXPECT_EQ(filled_with("{{#name}}({{#name}}x{{/name}}){{/name}}"), "(x)");
}

TEST(Template, LinesOfTags_LeaveNoLine) {
    EXPECT_EQ(filled_with("a\n  {{#words}}\n- {{&.}}\n  {{/words}}\nb\n"), "a\n- x\n- y\nb\n");
}

TEST(Template, Part_PutWhereItIsNamed) {
    EXPECT_EQ(filled_with("{{=part}}[{{&.}}]{{/part}}\n{{#words}}{{>part}}{{/words}}"), "[x][y]");
    EXPECT_EQ(filled_with("{{=part}}\n[{{&.}}]\n{{/part}}\n{{#words}}\n{{>part}}\n{{/words}}"),
              "[x]\n[y]\n");
}

}  // namespace
}  // namespace dormouse::cli
