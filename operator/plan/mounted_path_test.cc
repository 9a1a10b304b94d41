#include "operator/plan/mounted_path.h"

#include <string>

#include "gtest/gtest.h"

namespace taas {
namespace {

nlohmann::json Pod() {
  return nlohmann::json::parse(R"x({"spec":{
      "containers":[{"name":"trainer","volumeMounts":[
          {"name":"out","mountPath":"/out/","subPath":"team/"},
          {"name":"scratch","mountPath":"/out/tmp"},
          {"name":"data","mountPath":"/data","readOnly":true},
          {"name":"settings","mountPath":"/etc/settings"},
          {"name":"disk","mountPath":"/disk"},
          {"name":"mine","mountPath":"/mine","subPathExpr":"$(TAAS_JOB)"},
          {"name":"nowhere","mountPath":"/nowhere"}]}],
      "volumes":[
          {"name":"out","persistentVolumeClaim":{"claimName":"mnist-out"}},
          {"name":"scratch","emptyDir":{}},
          {"name":"data","persistentVolumeClaim":{"claimName":"mnist-data"}},
          {"name":"settings","configMap":{"name":"s"}},
          {"name":"disk","hostPath":{"path":"/srv/disk"}},
          {"name":"mine","ephemeral":{}}]}})x");
}

TEST(MountedPathTest, ThePathIsFoundInItsVolume) {
  const auto at = FindMountedPath(Pod(), "trainer", "/out/checkpoints/");
  ASSERT_TRUE(at.has_value());
  EXPECT_EQ(at->volume, "out");
  EXPECT_EQ(at->claim, "mnist-out");
  EXPECT_EQ(at->inside, "team/checkpoints");
  EXPECT_FALSE(at->read_only);
  EXPECT_FALSE(at->ends_with_pod);
  EXPECT_EQ(FindMountedPath(Pod(), "trainer", "/out")->inside, "team");
  EXPECT_EQ(FindMountedPath(Pod(), "trainer", "/disk/a/b")->host_path, "/srv/disk");
  EXPECT_EQ(FindMountedPath(Pod(), "trainer", "/disk/a/b")->inside, "a/b");
}

TEST(MountedPathTest, TheInnermostMountCounts) {
  const auto at = FindMountedPath(Pod(), "trainer", "/out/tmp/checkpoints");
  ASSERT_TRUE(at.has_value());
  EXPECT_EQ(at->volume, "scratch");
  EXPECT_TRUE(at->ends_with_pod);
}

TEST(MountedPathTest, WhatNobodyCanWriteToIsReadOnly) {
  EXPECT_TRUE(FindMountedPath(Pod(), "trainer", "/data/x")->read_only);
  EXPECT_TRUE(FindMountedPath(Pod(), "trainer", "/etc/settings/x")->read_only);
}

TEST(MountedPathTest, AnExpressionLeavesOpenWhereInTheVolumeItIs) {
  const auto at = FindMountedPath(Pod(), "trainer", "/mine/x");
  ASSERT_TRUE(at.has_value());
  EXPECT_FALSE(at->inside.has_value());
  EXPECT_TRUE(at->ends_with_pod);
}

TEST(MountedPathTest, APathBesideAllMountsIsInNone) {
  for (const char* path : {"/outer", "/", "", "out/checkpoints", "/nowhere/x", "/etc",
                           "/out/../x", "/out/.."}) {
    EXPECT_FALSE(FindMountedPath(Pod(), "trainer", path).has_value()) << path;
  }
  EXPECT_FALSE(FindMountedPath(Pod(), "other", "/out").has_value());
  EXPECT_FALSE(FindMountedPath(nlohmann::json(), "trainer", "/out").has_value());
}

}  // namespace
}  // namespace taas
