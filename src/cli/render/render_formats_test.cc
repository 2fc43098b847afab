#include "cli/render/render_formats.h"

#include <gtest/gtest.h>

namespace dormouse::cli {
namespace {

std::string yaml(std::string_view json) { return yaml_text(json::View(json)); }

TEST(Yaml, Values_BlockStyle) {
    EXPECT_EQ(yaml(R"({"id":"ses_1","seq":7,"ok":true,"none":null,"empty":{},"list":[]})"),
              "id: ses_1\nseq: 7\nok: true\nnone: null\nempty: {}\nlist: []\n");
    EXPECT_EQ(yaml(R"({"items":[{"id":"a1","in":{"xs":[1,[2]]}},"b2"]})"),
              "items:\n  - id: a1\n    in:\n      xs:\n        - 1\n        - - 2\n  - b2\n");
    EXPECT_EQ(yaml("7"), "7\n");
}

TEST(Yaml, Texts_QuotedIfTheyCouldBeRead_AsSomethingElse) {
    EXPECT_EQ(yaml(R"(["yes","Null","1.5","","a b","a: b","- a","x\ny","\u202e"])"),
              "- \"yes\"\n- \"Null\"\n- \"1.5\"\n- \"\"\n- \"a b\"\n- \"a: b\"\n- \"- a\"\n"
              "- \"x\\ny\"\n- \"\\u202e\"\n");
    EXPECT_EQ(yaml(R"({"yes":1,"a b":2})"), "\"yes\": 1\n\"a b\": 2\n");
}

TEST(Names, Names_OfAListOrAnObject) {
    EXPECT_EQ(names_text(json::View(R"({"items":[{"id":"a"},{"name":"b"},{}],"next":null})")),
              "a\nb\n");
    EXPECT_EQ(names_text(json::View(R"({"pendingID":"p","id":"i"})")), "i\n");
    EXPECT_EQ(names_text(json::View(R"({"sessionID":"\u001b[2J"})")), "\\u{1b}[2J\n");
}

}  // namespace
}  // namespace dormouse::cli
