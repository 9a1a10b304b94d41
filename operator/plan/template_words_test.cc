#include "operator/plan/template_words.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

Job TfJobWith(const std::string& pod_template) {
  Job job;
  job.kind = JobKind::kTfJob;
  job.spec.bundled_trainer = false;
  job.spec.roles[Role::kWorker].pod_template = pod_template;
  return job;
}

TEST(TemplateWordsTest, ATemplateHasItsPathInTheManifest) {
  EXPECT_EQ(TemplatePathOf(TfJobWith(""), Role::kWorker), "spec.tfReplicaSpecs.Worker.template");
  EXPECT_EQ(TemplatePathOf(Job(), Role::kPs), "spec.roles.ps.template");
}

// A server drops `nodeSelecter` and says so to the operator only; the job ran anywhere.
TEST(TemplateWordsTest, AWarningOfAnUnknownFieldNamesTheFieldOfTheManifest) {
  const Job job = TfJobWith(R"({"spec":{"nodeSelecter":{},"containers":[
      {"name":"side","image":"i"},{"name":"tensorflow","image":"i","comand":["x"]}]}})");
  const TemplateWarning warning = TellWarnings(
      job, Role::kWorker,
      {"unknown field \"spec.containers[1].comand\"", "unknown field \"spec.nodeSelecter\""});
  EXPECT_TRUE(warning.of_fields);
  EXPECT_EQ(warning.text,
            "the API server warns of the pods made of spec.tfReplicaSpecs.Worker.template: unknown "
            "field \"spec.tfReplicaSpecs.Worker.template.spec.containers[1].comand\" (did you mean "
            "\"command\"?); unknown field \"spec.tfReplicaSpecs.Worker.template.spec."
            "nodeSelecter\" (did you mean \"nodeSelector\"?); unknown fields have no effect");
}

// The operator's own container stands before those of the template.
TEST(TemplateWordsTest, IndicesAreThoseOfTheManifest) {
  Job job;
  job.spec.roles[Role::kPs].pod_template =
      R"({"spec":{"containers":[{"name":"side","image":"i","prots":[]}]}})";
  EXPECT_THAT(
      TellWarnings(job, Role::kPs, {"unknown field \"spec.containers[1].prots\""}).text,
      HasSubstr("\"spec.roles.ps.template.spec.containers[0].prots\" (did you mean \"ports\"?)"));
}

TEST(TemplateWordsTest, OtherWarningsAreRepeated) {
  const TemplateWarning warning =
      TellWarnings(TfJobWith("{}"), Role::kWorker,
                   {"spec.containers[0].env[1]: hides previous definition of \"A\", which may be "
                    "dropped when using apply"});
  EXPECT_FALSE(warning.of_fields);
  EXPECT_THAT(warning.text, HasSubstr("template: spec.containers[0].env[1]: hides previous"));
  EXPECT_EQ(TellWarnings(TfJobWith("{}"), Role::kWorker, {}), TemplateWarning());
}

TEST(TemplateWordsTest, AFieldThatOnlyAnOlderServerDoesNotKnowIsNamedAsItSays) {
  EXPECT_THAT(TellWarnings(TfJobWith(R"({"spec":{"hostUsers":true}})"), Role::kWorker,
                           {"unknown field \"spec.hostUsers\""})
                  .text,
              HasSubstr("template: unknown field \"spec.hostUsers\"; unknown fields"));
}

// "quantities must match the regular expression …", and not of which field.
// Symptom: the message of a refused pod began with two lines of the server, and said the path of
// each field twice.
TEST(TemplateWordsTest, ARefusalBeginsWithWhatIsWrongInTheManifest) {
  const Job job = TfJobWith(R"({"spec":{"containers":[{"name":"tensorflow","image":"i",
      "resources":{"limits":{"memory":"1 GB"}}}]}})");
  const std::string said = TellRefusal(job, Role::kWorker, "create pod a/b: must match");
  EXPECT_THAT(said, StartsWith("spec.tfReplicaSpecs.Worker.template.spec.containers[0].resources."
                               "limits.memory: Invalid value: \"1 GB\""));
  EXPECT_THAT(said, EndsWith(" (so the API server refuses its pods: create pod a/b: must match)"));
  const std::string typed = TellRefusal(
      TfJobWith(R"({"spec":{"volumes":[3]}})"), Role::kWorker, "create pod a/b: cannot unmarshal");
  const std::string path = "spec.tfReplicaSpecs.Worker.template.spec.volumes[0]";
  EXPECT_THAT(typed, StartsWith(path + ": Invalid value: \"integer\": must be"));
  EXPECT_EQ(typed.find(path, 1), std::string::npos) << typed;
  EXPECT_THAT(TellRefusal(TfJobWith("{}"), Role::kWorker, "create pod a/b: no"),
              EndsWith("no (the pod is made of spec.tfReplicaSpecs.Worker.template)"));
}

TEST(TemplateWordsTest, WordsOfAnyNumberAndLengthFitIntoAnEvent) {
  std::vector<std::string> warnings;
  for (int i = 0; i < 1000; ++i) warnings.push_back(std::string(500, 'x') + std::to_string(i));
  EXPECT_LT(TellWarnings(TfJobWith("{}"), Role::kWorker, warnings).text.size(), 1000u);
  EXPECT_THAT(TellWarnings(TfJobWith("["), Role::kWorker, warnings).text,
              HasSubstr("and 994 more"));
}

}  // namespace
}  // namespace taas
