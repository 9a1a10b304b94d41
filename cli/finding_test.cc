#include "cli/finding.h"

#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas {
namespace {

const std::vector<Finding> kTwo = {{Finding::Level::kOk, "nodes", "1 of 1 ready", ""},
                                   {Finding::Level::kFail, "operator", "none runs", "start one"}};

TEST(FindingTest, WhatToDoStandsBelowWhatWasFound) {
  EXPECT_EQ(FormatFindings(kTwo),
            "ok    nodes     1 of 1 ready\n"
            "fail  operator  none runs\n"
            "                -> start one\n");
}

TEST(FindingTest, OnlyAFailureIsOne) {
  EXPECT_TRUE(AnyFails(kTwo));
  EXPECT_FALSE(AnyFails({{Finding::Level::kWarn, "disk", "full", "make room"}}));
}

TEST(FindingTest, JsonHasTheSameLines) {
  const auto json = nlohmann::json::parse(FindingsJson(kTwo));
  EXPECT_EQ(json[1], (nlohmann::json{{"check", "operator"},
                                     {"level", "fail"},
                                     {"text", "none runs"},
                                     {"todo", "start one"}}));
}

}  // namespace
}  // namespace taas
