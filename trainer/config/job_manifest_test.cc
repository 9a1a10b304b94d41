#include "trainer/config/job_manifest.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "third_party/json.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using nlohmann::json;

constexpr char kJob[] = R"(
# A job, with something else before it.
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
---
apiVersion: taas.dev/v1
kind: TrainingJob
metadata: {name: gpt2}
spec:
  trainer:
    model: {name: gpt2, blocks: 2}
    data:
      format: text
      train: {files: [/data/train.txt, /data/more/*.txt, /database/x, rest.txt]}
      test: {files: [/data/deep/test.txt]}
      text: {context: 64}
    maxSteps: 600
    checkpoint: {dir: /out/checkpoints}
    export: {dir: /out, format: safetensors}
    summaries: {dir: /out/events}
    engine: {trace: {file: /out/trace.json}}
  volumes:
    - {name: data, mountPath: /data, source: {emptyDir: {}}}
    - {name: deep, mountPath: /data/deep/, source: {emptyDir: {}}}
    - {name: out, mountPath: /out, source: {emptyDir: {}}}
)";

json Trainer(std::string_view text, const std::vector<VolumeDir>& volumes,
             const NeededPaths& needed = {}) {
  const auto trainer = TrainerOfConfig(text, "job.yaml", volumes, needed);
  EXPECT_THAT(trainer, IsOk());
  return trainer.ok() ? json::parse(*trainer) : json();
}

std::string Error(std::string_view text, const std::vector<VolumeDir>& volumes = {},
                  const NeededPaths& needed = {}) {
  return std::string(TrainerOfConfig(text, "job.yaml", volumes, needed).status().message());
}

TEST(JobManifestTest, PathsInVolumesAreTheirDirectoriesHere) {
  const json trainer =
      Trainer(kJob, {{"data", "text-data"}, {"out", "/home/me/out"}, {"deep", "d"}});
  EXPECT_EQ(trainer["data"]["train"]["files"],
            json({"text-data/train.txt", "text-data/more/*.txt", "/database/x", "rest.txt"}));
  EXPECT_EQ(trainer["data"]["test"]["files"], json({"d/test.txt"})) << "of the inner volume";
  EXPECT_EQ(trainer["checkpoint"]["dir"], "/home/me/out/checkpoints");
  EXPECT_EQ(trainer["export"]["dir"], "/home/me/out");
  EXPECT_EQ(trainer["summaries"]["dir"], "/home/me/out/events");
  EXPECT_EQ(trainer["engine"]["trace"]["file"], "/home/me/out/trace.json");
  EXPECT_EQ(trainer["model"], json({{"name", "gpt2"}, {"blocks", 2}}));
  EXPECT_EQ(trainer["maxSteps"], 600);
}

TEST(JobManifestTest, ImagesAndLabelsArePathsToo) {
  const json trainer = Trainer(
      R"({"kind":"TrainingJob","spec":{"trainer":{"data":{"format":"cifar100",
          "cifar100":{"labels":"/d/fine"},"train":{"images":"/d/a","labels":"/d/b"}}},
          "volumes":[{"name":"d","mountPath":"/d"}]}})",
      {{"d", "here"}});
  EXPECT_EQ(trainer["data"]["train"], json({{"images", "here/a"}, {"labels", "here/b"}}));
  EXPECT_EQ(trainer["data"]["cifar100"]["labels"], "/d/fine") << "that is no path";
}

TEST(JobManifestTest, AVolumeThatIsNeededAndNotGivenIsNamedWithItsFlag) {
  EXPECT_THAT(Error(kJob, {{"out", "o"}, {"deep", "d"}}),
              AllOf(HasSubstr("--volume data=DIR is missing: data.train.files[0] is "
                              "/data/train.txt, which is in volume data of the job")));
  EXPECT_THAT(Error(kJob, {{"data", "d"}, {"deep", "d"}}),
              HasSubstr("--volume out=DIR is missing: checkpoint.dir is /out/checkpoints"));
  EXPECT_THAT(Error(kJob, {{"data", "d"}, {"deep", "d"}}, {.checkpoint = false}),
              HasSubstr("--volume out=DIR is missing: export.dir"));
  const json trainer = Trainer(kJob, {}, {.data = false, .checkpoint = false, .others = false});
  EXPECT_EQ(trainer["checkpoint"]["dir"], "/out/checkpoints") << "as in the pod";
  EXPECT_THAT(Error(kJob, {}, {.data = false, .others = false}), HasSubstr("checkpoint.dir"));
}

TEST(JobManifestTest, AVolumeThatTheJobHasNotIsRefused) {
  EXPECT_EQ(Error(kJob, {{"dta", "x"}}),
            "--volume dta=x: the job of job.yaml has no such volume, it has data, deep, out");
  EXPECT_THAT(Error(R"({"maxSteps":3})", {{"data", "x"}}),
              HasSubstr("--volume data=x: job.yaml is no manifest of a job"));
}

TEST(JobManifestTest, TheObjectItselfIsTakenAsItIs) {
  EXPECT_EQ(Trainer(R"( {"maxSteps": 3, "data": {"train": {"files": ["/data/a"]}}})", {}),
            json::parse(R"({"maxSteps": 3, "data": {"train": {"files": ["/data/a"]}}})"));
  EXPECT_EQ(Trainer("maxSteps: 3\nmodel: {name: softmax}\n", {}),
            json::parse(R"({"maxSteps": 3, "model": {"name": "softmax"}})"));
}

TEST(JobManifestTest, WhatHasNoTrainingJobOrSeveralIsRefused) {
  EXPECT_THAT(Error("kind: TFJob\n"), HasSubstr("job.yaml: it has no TrainingJob; give a file"));
  const std::string two = std::string(kJob) + "---" + kJob;
  EXPECT_THAT(Error(two), HasSubstr("job.yaml: it has 2 TrainingJobs"));
  EXPECT_THAT(Error("kind: TrainingJob\nspec: {roles: {}}\n"), HasSubstr("has no spec.trainer"));
  for (const char* text : {"", "[]", "- 1\n", "hello", "a: 1\n---\nb: 2\n"}) {
    EXPECT_THAT(Error(text), HasSubstr("job.yaml: no object")) << text;
  }
  EXPECT_THAT(Error("{\"a\": }"), HasSubstr("job.yaml: not JSON: line 1, column 7"));
  EXPECT_THAT(Error("a: [\n"), AllOf(HasSubstr("job.yaml: "), HasSubstr("line")));
}

// Whatever stands in their places: the API server would refuse it, a file has been to none.
TEST(JobManifestTest, FieldsOfOtherTypesEndNothing) {
  for (const char* spec :
       {R"({"trainer":{"data":3}})", R"({"trainer":{"data":{"train":[1]}}})",
        R"({"trainer":{"data":{"train":{"files":"/data/a"}}},"volumes":"x"})",
        R"({"trainer":{"checkpoint":[]},"volumes":[1,{"name":2},{"mountPath":"/"}]})",
        R"({"trainer":{"engine":{"trace":"/out"}},"volumes":{"name":"a"}})"}) {
    EXPECT_THAT(TrainerOfConfig(R"({"kind":"TrainingJob","spec":)" + std::string(spec) + "}", "x",
                                {}, {}),
                IsOk())
        << spec;
  }
  EXPECT_THAT(Error(R"({"kind":"TrainingJob","spec":[]})"), HasSubstr("no spec.trainer"));
}

TEST(JobManifestTest, VolumesAreANameAndADirectory) {
  const auto volume = ParseVolumeDir("text-data=/a=b/");
  ASSERT_THAT(volume, IsOk());
  EXPECT_EQ(volume->name, "text-data");
  EXPECT_EQ(volume->dir, "/a=b");
  for (const char* text : {"", "a", "=b", "a="}) {
    EXPECT_THAT(ParseVolumeDir(text).status().message(), HasSubstr("is not NAME=DIR")) << text;
  }
}

}  // namespace
}  // namespace taas
