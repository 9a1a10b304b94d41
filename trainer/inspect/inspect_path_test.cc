#include "trainer/inspect/inspect_path.h"

#include <array>
#include <cmath>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/fake_clock.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"
#include "trainer/checkpoint/bundle_writer.h"
#include "trainer/checkpoint/checkpoint_dir.h"
#include "trainer/export/export_model.h"
#include "trainer/formats/safetensors.h"
#include "trainer/inspect/inspect_command.h"
#include "trainer/model/model.h"
#include "trainer/summary/event_file.h"

namespace taas {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

int RunInspect(std::vector<std::string> words) {
  words.insert(words.begin(), "inspect");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  return RunInspectCommand(static_cast<int>(argv.size()), argv.data());
}

class InspectPathTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_THAT(files_.RemoveAll(dir_), IsOk());
    ASSERT_THAT(files_.MakeDirs(dir_), IsOk());
  }

  std::vector<TensorView> Tensors() const {
    return {FloatTensor("hidden1/weights", {2, 2}, weights_), step_.View(), words_.View()};
  }
  // Steps 5 and 7.
  void MakeCheckpoints() {
    auto dir = CheckpointDir::Open(files_, clock_, {.dir = dir_, .owner = {"default/m", "uid-1"}});
    ASSERT_THAT(dir, IsOk());
    for (const int64_t step : {5, 7}) ASSERT_THAT((*dir)->Save(step, Tensors()), IsOk());
  }

  FakeClock clock_;
  PosixFileSystem files_;
  const std::string dir_ = ::testing::TempDir() + "/inspect";
  const std::array<float, 4> weights_ = {1, 2, 3, -4};
  const std::array<int64_t, 1> seven_ = {7};
  const TensorValue step_ = Int64Tensor("global_step", {}, seven_);
  const TensorValue words_ = StringTensor("taas/optimizer", {}, {"sgd"});
};

TEST_F(InspectPathTest, ACheckpointIsATableOfItsTensors) {
  MakeCheckpoints();
  const std::string prefix = dir_ + "/model.ckpt-7";
  for (const std::string& path :
       {prefix, prefix + ".index", prefix + ".data-00000-of-00001"}) {
    const auto report = InspectPath(files_, path, {});
    ASSERT_THAT(report, IsOk());
    EXPECT_EQ(report->text, prefix +
                                ": TensorFlow V2 checkpoint, 3 tensors, 32 bytes in 1 data file\n"
                                "  NAME             DTYPE    SHAPE  BYTES\n"
                                "  global_step      int64    []     8\n"
                                "  hidden1/weights  float32  [2,2]  16\n"
                                "  taas/optimizer   string   []     8\n");
  }
}

TEST_F(InspectPathTest, ValuesAreMeasured) {
  MakeCheckpoints();
  const auto report = InspectPath(files_, dir_ + "/model.ckpt-7", {.values = true});
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->text, HasSubstr("1 data file, checksums right\n"));
  EXPECT_THAT(report->text, HasSubstr("  hidden1/weights  float32  [2,2]  16     -4   0.5   3\n"));
  EXPECT_THAT(report->text,
              HasSubstr("  taas/optimizer   string   []     8      -    -     -    \"sgd\"\n"));
  const nlohmann::json& weights = report->json["tensors"][1];
  EXPECT_EQ(weights["shape"], (nlohmann::json{2, 2}));
  EXPECT_EQ(weights["mean"], 0.5);
}

TEST_F(InspectPathTest, ADirectoryShowsItsCheckpointsAndTheNewestOnesTensors) {
  MakeCheckpoints();
  auto report = InspectPath(files_, dir_ + "/", {.values = true});
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->text, HasSubstr(dir_ + ": 2 checkpoints\n  owner: job default/m"));
  EXPECT_THAT(report->text, HasSubstr("  step 5: checksums right\n  step 7: checksums right\n"));
  EXPECT_EQ(report->json["newest"]["path"], dir_ + "/model.ckpt-7");
  EXPECT_FALSE(report->damaged);
  const std::string data = dir_ + "/model.ckpt-5.data-00000-of-00001";
  std::string bytes = *files_.ReadAll(data);
  bytes[0] ^= 1;
  ASSERT_THAT(files_.WriteAtomically(data, bytes), IsOk());
  report = InspectPath(files_, dir_, {.values = true});
  ASSERT_THAT(report, IsOk());
  EXPECT_TRUE(report->damaged);
  EXPECT_THAT(report->text, HasSubstr("step 5: damaged: read checkpoint"));
  EXPECT_EQ(RunInspect({dir_, "--values"}), 1);
  EXPECT_EQ(RunInspect({dir_ + "/model.ckpt-7", "--values", "-o", "json"}), 0);
}

TEST_F(InspectPathTest, SafetensorsShowTypesAndMetadata) {
  const std::string path = dir_ + "/model";
  const std::array<float, 4> odd = {1, NAN, INFINITY, 3};
  const std::vector<TensorView> tensors = {FloatTensor("w", {4}, odd)};
  ASSERT_THAT(WriteSafetensors(files_, path, tensors, {.metadata = {{"global_step", "7"}}}),
              IsOk());
  const auto report = InspectPath(files_, path, {.values = true});
  ASSERT_THAT(report, IsOk());
  EXPECT_EQ(report->text, path +
                              ": safetensors, 1 tensor, 16 bytes\n"
                              "  NAME  DTYPE  SHAPE  BYTES  MIN  MEAN  MAX  REMARK\n"
                              "  w     F32    [4]    16     1    2     3    2 not finite\n"
                              "  metadata  global_step  7\n");
}

TEST_F(InspectPathTest, EventFilesShowTheirTags) {
  auto writer = EventWriter::Open(files_, clock_, dir_);
  ASSERT_THAT(writer, IsOk());
  ASSERT_THAT((*writer)->Start(clock_.WallNow(), 1), IsOk());
  for (const int step : {1, 9}) {
    summary::Summary summary;
    summary::Summary::Value* const value = summary.add_value();
    value->set_tag("loss");
    value->set_simple_value(1.0f / static_cast<float>(step + 1));
    ASSERT_THAT((*writer)->Write(clock_.WallNow(), step, summary), IsOk());
  }
  for (const std::string& path : {(*writer)->path(), dir_}) {
    const auto report = InspectPath(files_, path, {});
    ASSERT_THAT(report, IsOk());
    EXPECT_EQ(report->text, path +
                                ": event file, 4 events\n"
                                "  TAG                   KIND    EVENTS  STEPS   LAST\n"
                                "  (start of a process)  start   1       1       -\n"
                                "  loss                  scalar  2       1 to 9  0.1\n");
  }
}

TEST_F(InspectPathTest, ASavedModelShowsItsSignatureAndItsVariables) {
  const Model model = *BuildModel({.name = "softmax", .data = {.features = 2, .classes = 2}});
  const std::array<float, 2> biases = {0.5, 0.25};
  ASSERT_THAT(ExportModel(files_, dir_,
                          {.model = &model, .values = {weights_, biases}, .step = 7}),
              IsOk());
  const auto report = InspectPath(files_, dir_ + "/", {.values = true});
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->text, MatchesRegex(dir_ + ": SavedModel, [1-9][0-9]+ nodes\n" +
      "  serving_default: features float32\\[-1,2\\] → classes int64\\[-1\\], "
      "logits float32\\[-1,2\\], probabilities float32\\[-1,2\\]\n" + dir_ +
      "/variables/variables: TensorFlow V2 checkpoint, 2 tensors, 24 bytes in 1 data file, "
      "checksums right\n(.*\n)*"));
  EXPECT_THAT(report->text, HasSubstr("  softmax_linear/weights  float32  [2,2]  16     -4"));
  EXPECT_EQ(report->json["format"], "savedModel");
  EXPECT_GT(report->json["nodes"], 9);
  const nlohmann::json& signature = report->json["signatures"]["serving_default"];
  EXPECT_EQ(signature["inputs"], "features float32[-1,2]");
  EXPECT_EQ(report->json["tensors"].size(), 2u);
  EXPECT_EQ(report->json["tensors"][0]["mean"], 0.375);
}

TEST_F(InspectPathTest, ADamagedSavedModelIsSaidToBeNone) {
  const std::string path = dir_ + "/saved_model.pb";
  for (const std::string bytes : {"", "no message"}) {
    ASSERT_THAT(files_.WriteAtomically(path, bytes), IsOk());
    const absl::Status status = InspectPath(files_, dir_, {}).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(status.message(), HasSubstr("read " + path + ": it is no SavedModel"));
    EXPECT_EQ(RunInspect({dir_}), 1);
  }
}

TEST_F(InspectPathTest, DataFilesAreShownAsDataInspectShowsThem) {
  const std::string path = dir_ + "/a.csv";
  ASSERT_THAT(files_.WriteAtomically(path, "x,y\n1,2\n"), IsOk());
  const auto report = InspectPath(files_, path, {});
  ASSERT_THAT(report, IsOk());
  EXPECT_THAT(report->text, HasSubstr("a.csv: CSV, 2 lines, 2 columns\n"));
  EXPECT_EQ(report->json["lines"][1], "  x: the first: 1");
}

// Symptom: the name of a tensor in somebody's checkpoint set the title of the terminal in which it
// was inspected.
TEST_F(InspectPathTest, NamesInAFileAreShownAndNotCarriedOut) {
  const std::string path = dir_ + "/model";
  const std::vector<TensorView> tensors = {
      FloatTensor("w\x1b]0;title\x07\u202e", {4}, weights_)};
  ASSERT_THAT(WriteSafetensors(files_, path, tensors, {.metadata = {{"by", "\x1b[2J"}}}), IsOk());
  for (const char* output : {"text", "json"}) {
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(RunInspect({path, "-o", output}), 0);
    const std::string said = ::testing::internal::GetCapturedStdout();
    EXPECT_EQ(said.find('\x1b'), std::string::npos) << output;
    EXPECT_EQ(said.find('\x07'), std::string::npos) << output;
    EXPECT_THAT(said, HasSubstr("w\\u001b]0;title\\u0007\\u202e")) << output;
    EXPECT_THAT(said, HasSubstr("\\u001b[2J")) << output;
  }
}

TEST_F(InspectPathTest, WhatIsNotThereAndWrongUsageHaveCodes) {
  // `taas-trainer inspect` said "inspect: inspect DIR".
  EXPECT_THAT(InspectPath(files_, dir_, {}).status(),
              StatusIs(absl::StatusCode::kNotFound, StartsWith(dir_ + ": there is no checkpoint")));
  EXPECT_EQ(RunInspect({dir_ + "/none"}), 1);
  EXPECT_EQ(RunInspect({}), 2);
  EXPECT_EQ(RunInspect({dir_, "-o", "yaml"}), 2);
  EXPECT_EQ(RunInspect({"--help"}), 0);
}

}  // namespace
}  // namespace taas
