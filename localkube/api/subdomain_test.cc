#include "localkube/api/subdomain.h"

#include <string>

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

}  // namespace
}  // namespace taas::localkube
