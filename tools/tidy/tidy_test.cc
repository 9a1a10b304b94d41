// Applies the rules to this tree. The tree is found through the one file of it that the test is
// given.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tools/tidy/compiles_alone.h"
#include "tools/tidy/rules.h"

namespace taas::tidy {
namespace {

namespace fs = std::filesystem;

// A text larger than this is no text that somebody wrote.
constexpr uintmax_t kFileBytesMax = 2 << 20;

fs::path TopOfTree() {
  const char* const sources = std::getenv("TEST_SRCDIR");
  const char* const workspace = std::getenv("TEST_WORKSPACE");
  if (sources == nullptr || workspace == nullptr) return fs::current_path();
  return fs::canonical(fs::path(sources) / workspace / "LICENSE").parent_path();
}

bool IsOurs(const fs::path& path) {
  const std::string name = path.filename().string();
  // Hidden folders, what a build leaves behind, and rules that stand in for Bazel's own.
  return name[0] != '.' && name.rfind("bazel-", 0) != 0 && name != "bin" && name != "dist" &&
         name != "node_modules" && name != "__pycache__";
}

// Where the precompiled headers lie for this test; empty: it is run by hand.
std::string PreludeFolder() {
  const char* const sources = std::getenv("TEST_SRCDIR");
  const char* const workspace = std::getenv("TEST_WORKSPACE");
  if (sources == nullptr || workspace == nullptr) return "";
  return (fs::path(sources) / workspace / "third_party").string();
}

std::vector<SourceFile> ReadTree(const fs::path& top) {
  std::vector<SourceFile> files;
  for (auto it = fs::recursive_directory_iterator(top); it != fs::end(it); ++it) {
    if (!IsOurs(it->path())) {
      it.disable_recursion_pending();
      continue;
    }
    if (!it->is_regular_file() || it->is_symlink()) continue;
    SourceFile file{fs::relative(it->path(), top).string(), ""};
    if (it->file_size() <= kFileBytesMax) {
      std::ostringstream text;
      text << std::ifstream(it->path()).rdbuf();
      file.text = text.str();
    }
    files.push_back(std::move(file));
  }
  return files;
}

TEST(TidyTest, ThisTreeKeepsItsRules) {
  const fs::path top = TopOfTree();
  const std::vector<SourceFile> files = ReadTree(top);
  const auto sources = std::ranges::count_if(
      files, [](const SourceFile& file) { return file.path.ends_with(".cc"); });
  ASSERT_GT(sources, 20) << "the tree was not found at " << top;
  for (const Finding& finding : CheckTree(files)) {
    // The build shows that the other headers compile; for these few the compiler is asked.
    if (finding.rule == "header-alone" &&
        CompilesAlone(top.string(), finding.path, PreludeFolder())) {
      continue;
    }
    ADD_FAILURE() << finding.path << ":" << finding.line << ": " << finding.rule << ": "
                  << finding.message;
  }
}

}  // namespace
}  // namespace taas::tidy
