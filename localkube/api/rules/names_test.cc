#include "localkube/api/rules/names.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas::localkube {
namespace {

TEST(SubdomainTest, LabelsBetweenDotsAreOne) {
  for (const std::string& name : {std::string("a"), std::string("1"), std::string("a-b.c.9"),
                                  std::string("a--b"), std::string(253, 'a')}) {
    EXPECT_TRUE(IsSubdomain(name)) << name;
  }
}

TEST(SubdomainTest, WhatAKubeApiserverRefusesIsNone) {
  for (const std::string& name :
       {std::string(), std::string("A"), std::string("a_b"), std::string("."), std::string(".."),
        std::string("a."), std::string(".a"), std::string("a..b"), std::string("-a"),
        std::string("a-"), std::string("a-.b"), std::string("a.-b"), std::string("../x"),
        std::string("a/b"), std::string("a\n"), std::string("\xc3\xa9"), std::string(254, 'a')}) {
    EXPECT_FALSE(IsSubdomain(name)) << name;
  }
}

TEST(QualifiedNameTest, ANameMayHaveAPrefix) {
  for (const std::string& name : {std::string("a"), std::string("A.b_c-9"),
                                  std::string("example.com/Name"), std::string(63, 'a'),
                                  std::string(253, 'a') + "/" + std::string(63, 'B')}) {
    EXPECT_THAT(QualifiedNameFlaws(name), testing::IsEmpty()) << name;
  }
}

TEST(QualifiedNameTest, WhatIsWrongIsSaidForEachPart) {
  using testing::ElementsAre;
  using testing::StartsWith;
  EXPECT_THAT(QualifiedNameFlaws("a b c"), ElementsAre(StartsWith("name part must consist of")));
  EXPECT_THAT(QualifiedNameFlaws(""), ElementsAre("name part must be non-empty",
                                                  StartsWith("name part must consist of")));
  EXPECT_THAT(QualifiedNameFlaws(std::string(64, 'a')),
              ElementsAre("name part must be no more than 63 characters"));
  EXPECT_THAT(QualifiedNameFlaws("/a"), ElementsAre("prefix part must be non-empty"));
  EXPECT_THAT(QualifiedNameFlaws("A_b/c"),
              ElementsAre(StartsWith("prefix part a lowercase RFC 1123 subdomain")));
  EXPECT_THAT(QualifiedNameFlaws("a/b/c"),
              ElementsAre(StartsWith("a qualified name must consist of")));
  EXPECT_THAT(QualifiedNameFlaws("a/"), testing::SizeIs(2));
  EXPECT_THAT(QualifiedNameFlaws("a\n"), testing::SizeIs(1));
}

TEST(LabelValueTest, AValueIsShortAndPlainOrEmpty) {
  for (const std::string& value : {std::string(), std::string("a"), std::string(63, '9')}) {
    EXPECT_THAT(LabelValueFlaws(value), testing::IsEmpty()) << value;
  }
  EXPECT_THAT(LabelValueFlaws(std::string(98, 'a')),
              testing::ElementsAre("must be no more than 63 characters"));
  for (const char* value : {"a b", "-a", "a.", "a/b", "\xc3\xa9"}) {
    EXPECT_THAT(LabelValueFlaws(value), testing::SizeIs(1)) << value;
  }
}

}  // namespace
}  // namespace taas::localkube
