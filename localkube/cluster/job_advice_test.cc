#include "localkube/cluster/job_advice.h"

#include <filesystem>
#include <fstream>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "third_party/json.h"

namespace taas::localkube {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class EmptyClaimsTest : public testing::Test {
 protected:
  EmptyClaimsTest() {
    std::filesystem::create_directories(dir_ + "/full");
    std::filesystem::create_directories(dir_ + "/empty");
    std::ofstream(dir_ + "/full/train-images.gz") << "x";
  }
  ~EmptyClaimsTest() override { std::filesystem::remove_all(dir_); }

  std::vector<std::string> Of(const json& volumes) {
    return EmptyClaims({{"spec", {{"volumes", volumes}}}},
                       [this](const std::string& claim) { return dir_ + "/" + claim; });
  }
  static json Claim(const std::string& name, bool read_only) {
    return {{"name", "v"},
            {"readOnly", read_only},
            {"source", {{"persistentVolumeClaim", {{"claimName", name}}}}}};
  }

  const std::string dir_ = testing::TempDir() + "/claims";
};

TEST_F(EmptyClaimsTest, OfAClaimThatIsReadAndHasNothingItIsSaid) {
  EXPECT_THAT(Of({Claim("full", true), Claim("empty", true), Claim("none", true)}),
              ElementsAre(HasSubstr("spec.volumes[1]: the claim empty has no data: on this cluster"
                                    " it is the directory " + dir_ + "/empty"),
                          HasSubstr("spec.volumes[2]: the claim none")));
}

// A misspelt claim of a volume without readOnly was made and read: "No such file".
TEST_F(EmptyClaimsTest, AClaimThatHoldsTheFilesOfTheDataIsRead) {
  json job = {{"spec", {{"volumes", {Claim("mnsit-data", false)}}}}};
  job["spec"]["volumes"][0]["mountPath"] = "/data";
  const auto of = [this](const json& job) {
    return EmptyClaims(job, [this](const std::string& claim) { return dir_ + "/" + claim; });
  };
  EXPECT_THAT(of(job), IsEmpty());
  job["spec"]["trainer"]["data"]["train"]["files"] = {"/data/a.csv"};
  EXPECT_THAT(of(job), ElementsAre(HasSubstr("taas local up --volume mnsit-data=DIR")));
  job["spec"]["trainer"]["data"]["train"]["files"] = {"/database/a.csv"};
  EXPECT_THAT(of(job), IsEmpty());
}

TEST_F(EmptyClaimsTest, TheSetOfAnExamplesClaimIsNamed) {
  EXPECT_THAT(Of({Claim("mnist-data", true), Claim("text-data", true)}),
              ElementsAre(HasSubstr("(MNIST: taas data fetch mnist " + dir_ + "/mnist-data)"),
                          HasSubstr("(taas data fetch text " + dir_ + "/text-data)")));
}

TEST_F(EmptyClaimsTest, OfOneThatIsWrittenAndOfOtherVolumesNothingIs) {
  EXPECT_THAT(Of({Claim("empty", false), {{"readOnly", true}, {"source", {{"emptyDir", {}}}}}}),
              IsEmpty());
  EXPECT_THAT(EmptyClaims(json::object(), nullptr), IsEmpty());
}

}  // namespace
}  // namespace taas::localkube
