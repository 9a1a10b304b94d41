#include "cli/checkpoint_place.h"

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// `dir`: of its checkpoints. A claim is mounted at /out, a folder that ends with its pod at /tmp.
SeenJob JobWith(const std::string& dir, const std::string& state) {
  const absl::StatusOr<SeenJob> job = ReadSeenJob(
      JobKind::kTrainingJob,
      R"({"apiVersion":"taas.dev/v1","kind":"TrainingJob","metadata":{"namespace":"team",
          "name":"mnist","uid":"u"},"spec":{"trainer":{"model":{"name":"softmax"},
          "checkpoint":{"dir":")" + dir + R"("}},"roles":{"worker":{"replicas":1}},"volumes":[
          {"name":"out","mountPath":"/out",
           "source":{"persistentVolumeClaim":{"claimName":"mnist-out"}}},
          {"name":"tmp","mountPath":"/tmp","source":{"emptyDir":{}}}]},
          "status":{"state":")" + state + R"(","progress":{"step":2000,"maxSteps":2000}}})");
  EXPECT_THAT(job.status(), IsOk());
  return job.ok() ? *job : SeenJob();
}

std::string Folder() {
  PosixFileSystem files;
  const std::string top = std::string(std::getenv("TEST_TMPDIR")) + "/claim";
  EXPECT_THAT(files.MakeDirs(top + "/checkpoints"), IsOk());
  const auto write = [&](const std::string& name, size_t bytes) {
    EXPECT_THAT(files.WriteAtomically(top + "/checkpoints/" + name, std::string(bytes, 'x')),
                IsOk());
  };
  write("checkpoint", 7);
  // The newest is neither first nor last, in whichever order a disk lists them.
  write("model.ckpt-900.index", 10);
  write("model.ckpt-900.data-00000-of-00001", 50'000);
  write("model.ckpt-1500.index", 12);
  write("model.ckpt-1500.data-00000-of-00002", 1'000'000);
  write("model.ckpt-1500.data-00001-of-00002", 1'000'000);
  write("model.ckpt-1000.index", 10);
  write("model.ckpt-1000.data-00000-of-00001", 50'000);
  write("model.ckpt-99999", 1);  // None of a checkpoint.
  return top;
}

TEST(CheckpointPlaceTest, AJobThatSucceededHasSavedItsLastStep) {
  const SeenJob job = JobWith("/out/checkpoints", "Succeeded");
  const auto place = CheckpointPlaceOf(job);
  ASSERT_TRUE(place.has_value());
  EXPECT_TRUE(place->stays);
  EXPECT_EQ(place->claim, "mnist-out");
  EXPECT_EQ(place->inside, "checkpoints");
  EXPECT_THAT(CheckpointLines(job, *place),
              ElementsAre("Newest checkpoint: /out/checkpoints on claim mnist-out, step 2000",
                          HasSubstr("`taas eval mnist`")));
}

// Symptom: at the end of a job that had learned a text `taas predict` was offered, which refuses.
TEST(CheckpointPlaceTest, OfATextNoClassIsPredicted) {
  SeenJob job = JobWith("/out/checkpoints", "Succeeded");
  EXPECT_THAT(CheckpointLines(job, *CheckpointPlaceOf(job)).back(),
              AllOf(HasSubstr("`taas predict mnist`"), testing::Not(HasSubstr("generate"))));
  job.spec.trainer.config = R"({"data": {"format": "text"}})";
  EXPECT_THAT(CheckpointLines(job, *CheckpointPlaceOf(job)).back(),
              AllOf(HasSubstr("`taas generate mnist --prompt TEXT`"),
                    testing::Not(HasSubstr("predict"))));
}

TEST(CheckpointPlaceTest, AFolderOfThisMachineIsLookedInto) {
  const SeenJob job = JobWith("/out/checkpoints", "Failed");
  auto place = CheckpointPlaceOf(job);
  ASSERT_TRUE(place.has_value());
  EXPECT_THAT(CheckpointLines(job, *place), IsEmpty()) << "whether there is one is not known";
  const std::string top = Folder();
  LookInFolder(top, &*place);
  EXPECT_THAT(
      CheckpointLines(job, *place),
      ElementsAre("Newest checkpoint: /out/checkpoints on claim mnist-out, step 1500, 2 MB",
                  "On this machine: " + top + "/checkpoints", HasSubstr("taas predict")));
}

TEST(CheckpointPlaceTest, AFolderWithoutCheckpointsHasNone) {
  const SeenJob job = JobWith("/out/elsewhere", "Succeeded");
  auto place = CheckpointPlaceOf(job);
  ASSERT_TRUE(place.has_value());
  LookInFolder(Folder(), &*place);
  EXPECT_FALSE(place->step.has_value());
  EXPECT_THAT(CheckpointLines(job, *place), IsEmpty());
}

TEST(CheckpointPlaceTest, WhatEndsWithItsPodIsSaidToBeGone) {
  const SeenJob job = JobWith("/tmp/checkpoints", "Succeeded");
  const auto place = CheckpointPlaceOf(job);
  ASSERT_TRUE(place.has_value());
  EXPECT_THAT(CheckpointLines(job, *place),
              ElementsAre(AllOf(HasSubstr("Nothing is left of the model"),
                                HasSubstr("volume tmp"), HasSubstr("persistentVolumeClaim"))));
  const SeenJob beside = JobWith("/var/x", "Succeeded");
  EXPECT_THAT(CheckpointLines(beside, *CheckpointPlaceOf(beside)),
              ElementsAre(HasSubstr("/var/x, on no volume")));
}

// It said that nothing is left, and the next job went on from what lay there.
TEST(CheckpointPlaceTest, WhatLiesOnThisMachineWithoutAVolumeIsNotSaidToBeGone) {
  const std::string dir = Folder() + "/checkpoints";
  const SeenJob job = JobWith(dir, "Succeeded");
  auto place = CheckpointPlaceOf(job);
  ASSERT_TRUE(place.has_value());
  place->stays = true;  // As FindCheckpoints says of a local cluster.
  LookInFolder(dir, &*place);
  EXPECT_THAT(CheckpointLines(job, *place),
              ElementsAre("Newest checkpoint: " + dir + ", on no volume, step 1500, 2 MB",
                          "On this machine: " + dir, HasSubstr("goes on from there"),
                          HasSubstr("taas eval")));
}

TEST(CheckpointPlaceTest, AJobWithoutCheckpointsHasNoPlaceOfThem) {
  SeenJob job = JobWith("/out", "Succeeded");
  job.spec.trainer.checkpoint_dir.clear();
  EXPECT_FALSE(CheckpointPlaceOf(job).has_value());
  job = JobWith("/out", "Succeeded");
  job.spec.bundled_trainer = false;
  EXPECT_FALSE(CheckpointPlaceOf(job).has_value());
}

TEST(CheckpointPlaceTest, SizesHaveThreeDigits) {
  CheckpointPlace place{.dir = "/out", .stays = true, .bytes = 999};
  EXPECT_THAT(PlaceText(place), HasSubstr("999 B"));
  place.bytes = 1'234'567;
  EXPECT_THAT(PlaceText(place), HasSubstr("1.23 MB"));
  place.bytes = 999'999'999;
  EXPECT_THAT(PlaceText(place), HasSubstr("1 GB"));
}

}  // namespace
}  // namespace taas
