#include "cli/submit_flag_names.h"

#include "gtest/gtest.h"

namespace taas {
namespace {

TEST(SubmitFlagNamesTest, AFieldIsOfTheFlagThatSetsItOrOneAboveIt) {
  const struct {
    const char* path;
    const char* flag;
  } kCases[] = {
      {"spec.trainer.maxSteps", "--steps"},
      {"spec.trainer.model.hidden[1]", "--hidden"},
      {"spec.trainer.model.name", "--model"},
      {"spec.trainer.data.format", "--dataset"},
      {"spec.trainer.data.train.labels", "--train-labels"},
      {"spec.roles.ps", "--ps"},
      {"spec.roles.worker.replicas", "--workers"},
      {"spec.roles.worker.gpus", "--gpus"},
      {"spec.roles.ps.template.spec.containers[0].image", "--image"},
      {"spec.roles.worker.env[0].name", "--env"},
      {"spec.volumes[2].mountPath", "--data"},
      {"spec.runPolicy.backoffLimit", "--retry"},
      {"spec.tfReplicaSpecs.Worker.replicas", "--workers"},
      {"spec.tfReplicaSpecs.PS.template.spec.containers[0].image", "--image"},
      {"metadata.labels.a.b/c", "--label"},
      {"spec.nodeLossSeconds", ""},
      {"spec.trainer.seed", ""},
  };
  for (const auto& [path, flag] : kCases) EXPECT_EQ(FlagOf(path), flag) << path;
}

// `taas submit --model mlp --workers 1 --steps 10` said "spec.trainer.model.hidden: Required
// value".
TEST(SubmitFlagNamesTest, ErrorsAreToldInWordsOfTheFlagsALineEach) {
  EXPECT_EQ(
      FormatFlagErrors({
          {"spec.trainer.maxSteps", std::string(kFieldRequired), "Required value"},
          {"spec.trainer.model.hidden", std::string(kFieldRequired),
           "Required value: mlp needs the size of at least one hidden layer"},
          {"spec.roles.ps", std::string(kFieldInvalid), "Invalid value: \"object\": needs one"},
          {"spec.trainer.batchSize", std::string(kFieldInvalid),
           "Invalid value: 0: spec.trainer.batchSize in body should be greater than or equal to 1"},
          {"spec.trainer.data.format", std::string(kFieldNotSupported),
           "Unsupported value: \"cvs\": supported values: \"csv\"", "did you mean \"csv\"?"},
          {"spec.x", std::string(kFieldUnknown), "unknown field \"spec.x\""},
          {"spec.nodeLossSeconds", std::string(kFieldInvalid), "Invalid value: -1"},
      }),
      "--steps: is needed\n"
      "--hidden: mlp needs the size of at least one hidden layer\n"
      "--ps: needs one\n"
      "--batch-size: 0: should be greater than or equal to 1\n"
      "--dataset: Unsupported value: \"cvs\": supported values: \"csv\" (did you mean \"csv\"?)\n"
      "unknown field \"spec.x\"\n"
      "spec.nodeLossSeconds: Invalid value: -1");
}

TEST(SubmitFlagNamesTest, WhatIsWrongInEachRoleIsToldOnce) {
  const auto cpu = [](const char* role) {
    return FieldError{"spec.roles." + std::string(role) + ".resources.limits.cpu",
                      std::string(kFieldInvalid), "Invalid value: \"-1\": is negative"};
  };
  EXPECT_EQ(FormatFlagErrors({cpu("ps"), cpu("worker")}), "--cpu: \"-1\": is negative");
}

}  // namespace
}  // namespace taas
