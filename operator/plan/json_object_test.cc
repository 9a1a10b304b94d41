#include "operator/plan/json_object.h"

#include <map>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace taas {
namespace {

using nlohmann::json;

TEST(JsonObjectTest, HasTheMembersThatAreNamed) {
  const std::map<std::string, std::string> labels = {{"a", "1"}};
  EXPECT_EQ(JsonObject("name", std::string("w"), "port", 2222, "tls", true, "labels", labels),
            json::parse(R"({"name":"w","port":2222,"tls":true,"labels":{"a":"1"}})"));
  EXPECT_EQ(JsonObject(), json::object());
}

// Two texts in a list in braces would be taken for a member.
TEST(JsonObjectTest, ListsStayLists) {
  EXPECT_EQ(JsonObject("drop", json::array({"ALL", "NET_RAW"})).dump(),
            R"({"drop":["ALL","NET_RAW"]})");
}

TEST(JsonObjectTest, WhatIsMovedInIsNotCopied) {
  json inner = JsonObject("text", "of some length, so that it is not kept inside");
  const char* const text = inner["text"].get_ref<const std::string&>().data();
  const json outer = JsonObject("inner", std::move(inner));
  EXPECT_EQ(outer["inner"]["text"].get_ref<const std::string&>().data(), text);
}

}  // namespace
}  // namespace taas
