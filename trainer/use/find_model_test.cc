#include "trainer/use/find_model.h"

#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"

namespace taas {
namespace {

class FindModelTest : public testing::Test {
 protected:
  FindModelTest() {
    for (const char* name : {"out/gpt2/model.ckpt-20.index", "out/gpt2/model.ckpt-20.data-00000",
                             "a/b/c/published/model.safetensors"}) {
      const std::string path = top_ + "/" + name;
      EXPECT_THAT(files_.MakeDirs(DirName(path)), IsOk());
      EXPECT_THAT(files_.WriteAtomically(path, "x"), IsOk());
    }
    EXPECT_THAT(files_.MakeDirs(top_ + "/out/gpt2/deeper"), IsOk());
  }
  std::string Said(const std::string& path) {
    return std::string(CheckThereIsAModel(files_, top_ + "/" + path).message());
  }

  PosixFileSystem files_;
  const std::string top_ = std::string(std::getenv("TEST_TMPDIR")) + "/" +
                           testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(FindModelTest, DirectoriesPrefixesAndFilesOfOthersAreModels) {
  for (const char* path : {"out/gpt2", "out/gpt2/", "out/gpt2/model.ckpt-20", "a/b/c/published",
                           "a/b/c/published/model.safetensors"}) {
    EXPECT_EQ(Said(path), "") << path;
  }
}

// Symptom: `taas-trainer generate` with a wrong directory asked for the volume of the data.
TEST_F(FindModelTest, OneThatIsNotThereIsSaidWithTheNearest) {
  const std::string nearest = "; the nearest is in " + top_ + "/out/gpt2";
  EXPECT_EQ(Said("nowhere/gpt2"),
            "no checkpoint in " + top_ + "/nowhere/gpt2: there is no such directory" + nearest);
  EXPECT_EQ(Said("out"),
            "no checkpoint in " + top_ + "/out: it has no model.ckpt-STEP.index" + nearest);
  EXPECT_EQ(Said("out/gpt2/deeper"), "no checkpoint in " + top_ +
                                         "/out/gpt2/deeper: it has no model.ckpt-STEP.index" +
                                         nearest);
  EXPECT_EQ(Said("out/gpt"),
            "no checkpoint in " + top_ + "/out/gpt: there is no such directory" + nearest);
}

TEST_F(FindModelTest, NoWholeMachineIsSearched) {
  EXPECT_EQ(CheckThereIsAModel(files_, "/taas-is-not-there/x").message(),
            "no checkpoint in /taas-is-not-there/x: there is no such directory; name the directory "
            "of a training, or a prefix");
}

}  // namespace
}  // namespace taas
