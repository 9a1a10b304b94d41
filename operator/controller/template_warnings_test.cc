#include "operator/controller/template_warnings.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taas {
namespace {

using testing::HasSubstr;

constexpr char kHeader[] = R"(299 - "unknown field \"spec.nodeSelecter\"")";

Job TwoRoles() {
  Job job;
  job.spec.roles[Role::kPs];
  job.spec.roles[Role::kWorker];
  return job;
}

TEST(TemplateWarningsTest, TheFirstPodOfARoleIsNewsAndTheOthersAreNot) {
  TemplateWarnings warnings;
  const Job job = TwoRoles();
  EXPECT_TRUE(warnings.Hear(job, Role::kWorker, kHeader));
  EXPECT_FALSE(warnings.Hear(job, Role::kWorker, kHeader));
  EXPECT_THAT(warnings.Of(Role::kWorker).text, HasSubstr("spec.nodeSelecter"));
  EXPECT_FALSE(warnings.Hear(job, Role::kPs, ""));
  EXPECT_THAT(warnings.KnownOf(job)->text, HasSubstr("spec.nodeSelecter"));
}

TEST(TemplateWarningsTest, NothingIsKnownUntilAllRolesHaveHadAPod) {
  TemplateWarnings warnings;
  const Job job = TwoRoles();
  EXPECT_FALSE(warnings.KnownOf(job).has_value());
  warnings.Hear(job, Role::kPs, "");
  EXPECT_FALSE(warnings.KnownOf(job).has_value());
  warnings.Hear(job, Role::kWorker, "");
  EXPECT_EQ(warnings.KnownOf(job), TemplateWarning());
}

TEST(TemplateWarningsTest, APodThatIsMadeWithoutAWarningTakesItBack) {
  TemplateWarnings warnings;
  Job job;
  job.spec.roles[Role::kWorker];
  warnings.Hear(job, Role::kWorker, kHeader);
  EXPECT_FALSE(warnings.Hear(job, Role::kWorker, ""));
  EXPECT_EQ(warnings.KnownOf(job), TemplateWarning());
  EXPECT_TRUE(warnings.Hear(job, Role::kWorker, kHeader));
}

TEST(TemplateWarningsTest, FieldsWithoutEffectComeBeforeOtherWarnings) {
  TemplateWarnings warnings;
  const Job job = TwoRoles();
  warnings.Hear(job, Role::kPs, R"(299 - "would violate PodSecurity")");
  EXPECT_FALSE(warnings.KnownOf(job)->of_fields);
  warnings.Hear(job, Role::kWorker, kHeader);
  EXPECT_TRUE(warnings.KnownOf(job)->of_fields);
}

}  // namespace
}  // namespace taas
