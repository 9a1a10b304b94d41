#include "operator/controller/kept_fields.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

constexpr char kSent[] = R"({"state":"Running","ready":"1/1","conditions":[
    {"type":"Created","observedGeneration":1},{"type":"Running","observedGeneration":1}],
    "replicaStatuses":{"Worker":{"active":1,"desired":1}}})";
constexpr char kStored[] = R"({"kind":"TFJob","status":{"ready":"1/1","conditions":[
    {"type":"Created"},{"type":"Running"}],"replicaStatuses":{"Worker":{"active":1}}}})";

TEST(KeptFieldsTest, WhatTheServerDroppedIsNoDifference) {
  KeptFields kept;
  EXPECT_EQ(kept.Of(R"({"state":"Failed"})"), R"({"state":"Failed"})");
  kept.Learn(kSent, kStored);
  EXPECT_EQ(kept.Of(R"({"conditions":[{"type":"Failed","observedGeneration":7}],
                        "replicaStatuses":{"Worker":{"active":2,"desired":9}},
                        "ready":"0/1","state":"Failed"})"),
            R"({"conditions":[{"type":"Failed"}],"ready":"0/1",)"
            R"("replicaStatuses":{"Worker":{"active":2}}})");
  EXPECT_FALSE(kept.Keeps("state"));
  EXPECT_TRUE(kept.Keeps("ready"));
}

TEST(KeptFieldsTest, AValueThatIsAnotherWasNotDropped) {
  KeptFields kept;
  kept.Learn(R"({"ready":"1/1"})", R"({"status":{"ready":"2/2"}})");
  EXPECT_TRUE(kept.Keeps("ready"));
}

TEST(KeptFieldsTest, AfterTheCrdIsReplacedTheFieldsCount) {
  KeptFields kept;
  kept.Learn(R"({"state":"Running","message":"m"})", R"({"status":{}})");
  kept.Learn(R"({"state":"Failed"})", R"({"status":{"state":"Failed"}})");
  EXPECT_TRUE(kept.Keeps("state"));
  EXPECT_FALSE(kept.Keeps("message"));
}

TEST(KeptFieldsTest, AnAnswerThatIsNoObjectTeachesNothing) {
  KeptFields kept;
  for (const char* answer : {"<html>", "", "[]", R"({"status":7})", R"({"status":{)"}) {
    kept.Learn(kSent, answer);
  }
  EXPECT_TRUE(kept.Keeps("state"));
}

}  // namespace
}  // namespace taas
