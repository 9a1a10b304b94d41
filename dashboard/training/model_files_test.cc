#include "dashboard/training/model_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

#include "dashboard/training/tar_header.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/file_system.h"
#include "operator/base/status_matchers.h"

namespace taas::dashboard {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class ModelFilesTest : public testing::Test {
 protected:
  ModelFilesTest() { EXPECT_NE(mkdtemp(top_.data()), nullptr); }

  void Put(const std::string& name, const std::string& bytes) {
    const std::string path = top_ + "/" + name;
    ASSERT_THAT(files_.MakeDirs(DirName(path)), IsOk());
    ASSERT_THAT(files_.WriteAtomically(path, bytes), IsOk());
  }
  void PutCheckpoint(int64_t step) {
    const std::string prefix = "ckpt/model.ckpt-" + std::to_string(step);
    Put(prefix + ".index", "index");
    Put(prefix + ".data-00000-of-00001", std::string(1'000, 'd'));
  }
  FolderPlace In(const std::string& below) const { return {.top = top_, .below = below}; }
  ModelFiles Open(const ModelPlaces& places) {
    auto model = FindModelFiles(places);
    EXPECT_THAT(model, IsOk());
    return model.ok() ? *std::move(model) : ModelFiles();
  }
  static std::vector<std::string> NamesOf(const ModelFiles& model) {
    std::vector<std::string> names;
    for (const ModelFiles::Member& member : model.members) names.push_back(member.name);
    return names;
  }
  static std::string Read(ModelFiles model, size_t most = 300) {
    ModelBytes bytes(std::move(model), "mnist");
    const uint64_t total = bytes.total();
    std::string out;
    for (;;) {
      const auto some = bytes.Next(most);
      EXPECT_THAT(some, IsOk());
      if (!some.ok() || some->empty()) break;
      EXPECT_LE(some->size(), std::max(most, kTarEndBytes));
      out += *some;
    }
    EXPECT_EQ(out.size(), total);
    return out;
  }
  // What the system's tar makes of it.
  std::string Tar(const std::string& archive, const std::string& command) {
    Put("archive.tar", archive);
    FILE* const pipe = popen(("tar " + command + " " + top_ + "/archive.tar").c_str(), "r");
    std::string out;
    char some[4'096];
    for (size_t got; (got = fread(some, 1, sizeof some, pipe)) > 0;) out.append(some, got);
    EXPECT_EQ(pclose(pipe), 0) << command;
    return out;
  }

  PosixFileSystem files_;
  std::string top_ = testing::TempDir() + "/model.XXXXXX";
};

TEST_F(ModelFilesTest, ASavedModelIsATarThatTarReads) {
  Put("export/saved_model.pb", "graph");
  Put("export/variables/variables.index", "index");
  Put("export/variables/variables.data-00000-of-00001", std::string(70'000, 'v'));
  Put("export/notes.txt", "mine");
  PutCheckpoint(7);
  ModelFiles model = Open(
      {.exported = In("export"), .saved_model = true, .checkpoints = In("ckpt")});
  EXPECT_EQ(model.kind, ModelFiles::Kind::kSavedModel);
  const std::string archive = Read(std::move(model));
  EXPECT_EQ(Tar(archive, "-tf"),
            "mnist/saved_model.pb\nmnist/variables/variables.data-00000-of-00001\n"
            "mnist/variables/variables.index\n");
  EXPECT_EQ(Tar(archive, "-xOf"), "graph" + std::string(70'000, 'v') + "index");
}

TEST_F(ModelFilesTest, SafetensorsAreOneFileWithoutATarUnlessThereIsAConfig) {
  Put("out/model.safetensors", "tensors");
  ModelFiles model = Open({.exported = In("out")});
  EXPECT_EQ(model.kind, ModelFiles::Kind::kSafetensors);
  EXPECT_EQ(Read(std::move(model)), "tensors");
  Put("out/config.json", "{}");
  EXPECT_THAT(NamesOf(Open({.exported = In("out")})),
              ElementsAre("model.safetensors", "config.json"));
  Put("out/small.safetensors", "small");
  EXPECT_EQ(Read(Open({.exported = In("out/small.safetensors")})), "small");
  Put("at-the-top.safetensors", "top");
  EXPECT_EQ(Read(Open({.exported = In("at-the-top.safetensors")})), "top");
}

TEST_F(ModelFilesTest, WithoutAnExportItIsTheNewestCheckpointAndNothingElse) {
  PutCheckpoint(9);
  PutCheckpoint(90);
  Put("ckpt/checkpoint", "names the newest");
  Put("ckpt/model.ckpt-900.data-00000-of-00001", "no index yet");
  for (const bool asked : {false, true}) {
    ModelPlaces places{.checkpoints = In("ckpt")};
    if (asked) places.exported = In("export");  // The job failed before it wrote that.
    const ModelFiles model = Open(places);
    EXPECT_EQ(model.kind, ModelFiles::Kind::kCheckpoint);
    EXPECT_THAT(NamesOf(model), ElementsAre("model.ckpt-90.data-00000-of-00001",
                                            "model.ckpt-90.index"));
  }
  EXPECT_THAT(Tar(Read(Open({.checkpoints = In("ckpt")})), "-tf"),
              HasSubstr("mnist/model.ckpt-90.index\n"));
}

TEST_F(ModelFilesTest, WhereThereIsNoneItIsSaidWhy) {
  EXPECT_THAT(FindModelFiles({}).status().message(), HasSubstr("keeps no model"));
  ASSERT_THAT(files_.MakeDirs(top_ + "/ckpt"), IsOk());
  EXPECT_THAT(FindModelFiles({.checkpoints = In("ckpt")}).status().message(),
              HasSubstr("has no checkpoint"));
  EXPECT_THAT(FindModelFiles({.exported = In("x")}).status().message(), HasSubstr(top_ + "/x"));
}

// Symptom: of a job that was deleted and made anew on the same volume, and failed soon, the page
// offered what the one before it had exported.
TEST_F(ModelFilesTest, WhatIsOlderThanTheJobIsAnotherRuns) {
  Put("export/model.safetensors", "of before");
  PutCheckpoint(9);
  const timespec before[2] = {{1'000, 0}, {1'000, 0}}, after[2] = {{3'000, 0}, {3'000, 0}};
  const auto touch = [this](const std::string& name, const timespec* times) {
    ASSERT_EQ(utimensat(AT_FDCWD, (top_ + "/" + name).c_str(), times, 0), 0);
  };
  const ModelPlaces places{.exported = In("export"),
                           .checkpoints = In("ckpt"),
                           .since = std::chrono::seconds(2'000)};
  EXPECT_EQ(Open(places).kind, ModelFiles::Kind::kSafetensors);
  touch("export/model.safetensors", before);
  EXPECT_EQ(Open(places).kind, ModelFiles::Kind::kCheckpoint);
  touch("ckpt/model.ckpt-9.index", before);
  EXPECT_THAT(FindModelFiles(places).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("another one wrote it")));
  touch("ckpt/model.ckpt-9.index", after);
  EXPECT_EQ(Open(places).kind, ModelFiles::Kind::kCheckpoint);
}

// Whoever writes into a volume could have any file of the machine sent.
TEST_F(ModelFilesTest, NoLinkIsFollowedAndNothingOutOfTheVolumeIsSent) {
  Put("secret", "secret");
  PutCheckpoint(5);
  const std::string link = top_ + "/ckpt/model.ckpt-5.data-00001-of-00002";
  ASSERT_EQ(symlink((top_ + "/secret").c_str(), link.c_str()), 0);
  EXPECT_FALSE(FindModelFiles({.checkpoints = In("ckpt")}).ok());
  ASSERT_THAT(files_.MakeDirs(top_ + "/export/variables"), IsOk());
  Put("export/saved_model.pb", "graph");
  ASSERT_EQ(symlink((top_ + "/secret").c_str(),
                    (top_ + "/export/variables/variables.index").c_str()),
            0);
  EXPECT_FALSE(FindModelFiles({.exported = In("export"), .saved_model = true}).ok());
  ASSERT_EQ(symlink(top_.c_str(), (top_ + "/ckpt/up").c_str()), 0);
  Put("model.safetensors", "of another");
  for (const char* below : {"ckpt/up", "ckpt/..", "ckpt/../model.safetensors"}) {
    EXPECT_FALSE(FindModelFiles({.exported = In(below)}).ok()) << below;
  }
  ASSERT_EQ(mkfifo((top_ + "/ckpt/model.safetensors").c_str(), 0600), 0);
  EXPECT_FALSE(FindModelFiles({.exported = In("ckpt")}).ok()) << "a pipe would never end";
}

TEST_F(ModelFilesTest, AFileThatBecomesShorterMeanwhileIsNoWholeAnswer) {
  PutCheckpoint(5);
  ModelBytes bytes(Open({.checkpoints = In("ckpt")}), "mnist");
  ASSERT_THAT(bytes.Next(100), IsOk()) << "its header";
  ASSERT_THAT(bytes.Next(100), IsOk());
  ASSERT_EQ(truncate((top_ + "/ckpt/model.ckpt-5.data-00000-of-00001").c_str(), 10), 0);
  EXPECT_THAT(bytes.Next(100).status().message(), HasSubstr("became shorter"));
}

TEST_F(ModelFilesTest, AFileThatIsReplacedBeforeItsTurnIsNotTakenForTheOneThatWasSeen) {
  PutCheckpoint(5);
  for (const bool same_size : {false, true}) {
    ModelBytes bytes(Open({.checkpoints = In("ckpt")}), "mnist");
    ASSERT_THAT(bytes.Next(1'000), IsOk());
    ASSERT_THAT(bytes.Next(1'000), IsOk());
    Put("ckpt/model.ckpt-5.index", same_size ? "other" : "longer than it was");
    absl::StatusOr<std::string> some = bytes.Next(1'000);
    while (some.ok() && !some->empty()) some = bytes.Next(1'000);
    EXPECT_THAT(some.status().message(), HasSubstr("was changed since")) << same_size;
    Put("ckpt/model.ckpt-5.index", "index");
  }
}

// Symptom: `model.ckpt-007.index` counted as the checkpoint of step 7, of which there were no
// files, and the process died of a model without members.
TEST_F(ModelFilesTest, OddlyNamedFilesAreNoModel) {
  for (const char* name : {"ckpt/model.ckpt-007.index", "ckpt/model.ckpt--0.index",
                           "ckpt/model.ckpt-8.x\"\r\nX: y", "ckpt/model.ckpt-8.index\r\nX: y"}) {
    Put(name, "odd");
  }
  EXPECT_THAT(FindModelFiles({.checkpoints = In("ckpt")}).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("has no checkpoint")));
  PutCheckpoint(8);
  Put("ckpt/model.ckpt-8.meta", "a graph");
  EXPECT_THAT(NamesOf(Open({.checkpoints = In("ckpt")})),
              ElementsAre("model.ckpt-8.data-00000-of-00001", "model.ckpt-8.index"));
}

// Symptom: each download kept all its files open, and to tell a model's size opened them, too.
TEST_F(ModelFilesTest, ADownloadHasOneFileOpenAndAQuestionNone) {
  const auto open = [] {
    const auto fds = std::filesystem::directory_iterator("/proc/self/fd");
    return std::distance(begin(fds), end(fds));
  };
  PutCheckpoint(5);
  for (int i = 1; i < 20; ++i) {
    Put("ckpt/model.ckpt-5.data-000" + std::to_string(10 + i) + "-of-00030", "more");
  }
  const auto before = open();
  ModelBytes bytes(Open({.checkpoints = In("ckpt")}), "mnist");
  EXPECT_EQ(open(), before);
  for (auto some = bytes.Next(100); some.ok() && !some->empty(); some = bytes.Next(100)) {
    EXPECT_LE(open(), before + 1);
  }
  EXPECT_EQ(open(), before);
}

TEST(TarHeaderTest, SizesFromEightGibibytesOnAreBinary) {
  const auto small = TarHeader({.folder = "m", .name = "a", .bytes = 0777, .modified_s = 1});
  const auto large = TarHeader({.folder = "m", .name = "a", .bytes = (1ULL << 33) + 5});
  ASSERT_THAT(small, IsOk());
  ASSERT_THAT(large, IsOk());
  EXPECT_EQ(small->substr(124, 12), std::string("00000000777\0", 12));
  EXPECT_EQ(large->substr(124, 12), std::string("\x80\0\0\0\0\0\0\2\0\0\0\5", 12));
  EXPECT_FALSE(TarHeader({.folder = "m", .name = std::string(101, 'n')}).ok());
}

}  // namespace
}  // namespace taas::dashboard
