// docs/engine.md shows how an op is added by code of this tree: each of its blocks must stand in
// the file that the page names before it, so that what is shown is what is built and tested.

#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace taas {
namespace {

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The last "`…/name.cc`" of a line; "" if there is none.
std::string FileNamedIn(const std::string& line) {
  const size_t end = line.rfind(".cc`");
  if (end == std::string::npos) return "";
  const size_t begin = line.rfind('`', end);
  return line.substr(begin + 1, end + 3 - begin - 1);
}

TEST(EnginePageTest, ItsCodeStandsInTheFilesThatItNames) {
  std::istringstream page(Read("docs/engine.md"));
  std::string file;
  std::set<std::string> files;
  int blocks = 0;
  for (std::string line; std::getline(page, line);) {
    if (const std::string named = FileNamedIn(line); !named.empty()) file = named;
    if (line != "```cpp") continue;
    std::string block;
    while (std::getline(page, line) && line != "```") block += line + "\n";
    ++blocks;
    files.insert(file);
    EXPECT_NE(Read(file).find(block), std::string::npos) << file << " does not hold\n" << block;
  }
  EXPECT_GE(blocks, 6);
  EXPECT_GE(files.size(), 4u);
}

}  // namespace
}  // namespace taas
