#include "tools/tidy/rules.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace taas::tidy {
namespace {

// A small tree without findings. Each fixture adds or replaces files of it.
std::vector<SourceFile> CleanTree() {
  return {
      {"part/x.h", "// What X is.\n\nint X();\n"},
      {"part/x.cc", "#include \"part/x.h\"\n\nint X() { return 1; }\n"},
      {"part/BUILD", "cc_library(name = \"x\", srcs = [\"x.cc\"], hdrs = [\"x.h\"])\n"},
      {"gpu/k.cu", "#include \"part/x.h\"\n\nextern \"C\" __global__ void K() {}\n"},
      {"gpu/BUILD", "cuda_images(srcs = [\"k.cu\"])\nemulated_kernels(srcs = [\"k.cu\"])\n"},
      {"README.md",
       "See [part](part/x.h), [the web](https://example.com) and [below](#end).\n# End\n"},
  };
}

std::vector<SourceFile> With(std::vector<SourceFile> files) {
  std::vector<SourceFile> tree = CleanTree();
  for (SourceFile& file : files) {
    const auto same =
        std::ranges::find_if(tree, [&](const SourceFile& f) { return f.path == file.path; });
    if (same != tree.end()) {
      *same = std::move(file);
    } else {
      tree.push_back(std::move(file));
    }
  }
  return tree;
}

// The line in a function; the headers that the lines below need are there.
SourceFile InX(const std::string& line) {
  return {"part/x.cc",
          "#include \"part/x.h\"\n\n#include <chrono>\n#include <iostream>\n#include <memory>\n"
          "#include <thread>\n\nint X() {\n  " + line + "\n}\n"};
}

std::string Lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "  x = 1;\n";
  return text;
}

// A BUILD file of so many targets; the first is the clean tree's.
std::string Targets(int count) {
  std::string text =
      "load(\"x.bzl\", name = \"y\")\n\npackage(default_visibility = [])\n\n"
      "licenses([\"notice\"])\n\nexports_files([\"x.txt\"])\n\n"
      "cc_library(\n    name = \"x\",\n    srcs = [\"x.cc\"],\n)\n";
  for (int i = 1; i < count; ++i) {
    text += "\nfilegroup(\n    name = \"f" + std::to_string(i) + "\",\n)\n";
  }
  return text;
}

struct Fixture {
  const char* name;
  std::string rule;
  std::vector<SourceFile> files;
};

const std::vector<Fixture>& Refused() {
  static const std::vector<Fixture> all = {
      {"a line of 101 columns", "line-length", {InX(std::string(99, 'x'))}},
      {"a long line of TypeScript", "line-length",
       {{"web/x.tsx", "// " + std::string(99, 'x') + "\n"}}},
      {"a long line in BUILD", "line-length",
       {{"BUILD", "# " + std::string(99, 'x') + "\n"}}},
      {"a long line in a kernel", "line-length",
       {{"gpu/k.cu", "// " + std::string(99, 'x') + "\n"}}},
      {"a function of 71 lines", "function-length", {InX(Lines(69))}},
      {"a file of 801 lines", "file-size",
       {{"part/x.h", "// X.\n" + Lines(800)}}},
      {"a BUILD file of 1001 lines", "file-size",
       {{"BUILD", "# X.\n" + Lines(1000)}}},
      {"a TODO without an issue", "todo-issue", {InX("// TO" "DO: later")}},
      {"sleep_for", "banned-sleep", {InX("std::this_thread::sleep_for(1s);")}},
      {"sleep_until", "banned-sleep", {InX("std::this_thread::sleep_until(t);")}},
      {"the wall clock", "banned-system-clock", {InX("t = std::chrono::system_clock::now();")}},
      {"rand", "banned-rand", {InX("return rand() % 6;")}},
      {"srand", "banned-rand", {InX("std::srand(1);")}},
      {"std::cout in a library", "banned-cout", {InX("std::cout << 1;")}},
      {"new", "banned-new", {InX("Foo* foo = new Foo(1);")}},
      {"new of an array", "banned-new", {InX("return new char[3];")}},
      {"catch all", "banned-catch-all", {InX("try { } catch (...) { }")}},
      {"cpprest outside its adapter", "cpprest-include",
       {{"part/x.cc", "#include \"part/x.h\"\n#include <cpprest/http_client.h>\n"}}},
      {"CLI11 outside its adapter", "cli11-include",
       {{"part/x.cc", "#include \"part/x.h\"\n#include \"CLI/CLI.hpp\"\n"}}},
      {"pplx outside its adapter", "cpprest-include",
       {{"part/x.cc", "#include \"part/x.h\"\n#include \"pplx/pplxtasks.h\"\n"}}},
      {"a header without an opening comment", "header-comment",
       {{"part/x.h", "#ifndef X\n// What X is.\n#endif\n"}}},
      {"a header that is nowhere first", "header-alone",
       {{"part/x.cc", "#include <vector>\n#include \"part/x.h\"\n"}}},
      {"a source in no BUILD", "build-once", {{"part/y.cc", "#include \"part/x.h\"\n"}}},
      {"a kernel in no BUILD", "build-once", {{"gpu/BUILD", "# None.\n"}}},
      {"a source in two targets", "build-once",
       {{"part/BUILD", "cc_library(srcs = [\"x.cc\"])\ncc_test(srcs = [\"x.cc\"])\n"}}},
      {"a link to nothing", "markdown-link", {{"README.md", "See [y](part/y.h).\n"}}},
      {"a link upwards to nothing", "markdown-link",
       {{"docs/guide.md", "See [y](../docs/absent.md#part).\n"}}},
      {"a link to a heading of another page that is not there", "markdown-link",
       {{"docs/guide.md", "See [y](a.md#part-one).\n"}, {"docs/a.md", "# Part\n## Part two\n"}}},
      {"a link to a heading in a fence", "markdown-link",
       {{"docs/guide.md", "See [y](#part).\n```\n# Part\n```\n"}}},
      {"a GPU figure without clocks and commit", "gpu-figure",
       {{"docs/benchmarks.md", "# MLP\nOn an H200 a step takes 18 µs.\n"}}},
      {"a GPU figure without a device", "gpu-figure",
       {{"docs/benchmarks.md",
         "On a GPU at 1980 MHz a step takes 18 ms (commit 0123abc).\n"}}},
      {"a name without the header that has it", "include-missing",
       {InX("std::vector<int> all;")}},
      {"six targets and no page", "folder-readme", {{"part/BUILD", Targets(6)}}},
      {"five targets, a list of them, and no page", "folder-readme",
       {{"part/BUILD", Targets(5) + "\n[sh_test(\n    name = n,\n) for n in N]\n"}}},
  };
  return all;
}

TEST(RulesTest, CleanTreeHasNoFindings) {
  for (const Finding& finding : CheckTree(CleanTree())) {
    ADD_FAILURE() << finding.path << ":" << finding.line << " " << finding.rule;
  }
}

TEST(RulesTest, EveryFixtureIsRefusedByItsRuleAndNoOther) {
  for (const Fixture& fixture : Refused()) {
    const std::vector<Finding> findings = CheckTree(With(fixture.files));
    EXPECT_FALSE(findings.empty()) << fixture.name;
    for (const Finding& finding : findings) {
      EXPECT_EQ(finding.rule, fixture.rule) << fixture.name << ": " << finding.message;
    }
  }
}

TEST(RulesTest, EveryRuleHasAFixture) {
  for (const std::string& rule : RuleNames()) {
    EXPECT_TRUE(std::ranges::any_of(Refused(), [&](const Fixture& f) { return f.rule == rule; }))
        << rule;
  }
}

TEST(RulesTest, WhatIsAllowedIsNotRefused) {
  const std::vector<Fixture> allowed = {
      {"100 columns of two bytes each", "", {InX("// " + std::string(94, 'x') + "é")}},
      {"a TODO with an issue", "", {InX("// TO" "DO(#12): later")}},
      {"words in comments and literals", "", {InX("f(\"new Foo(rand())\");  // catch (...)")}},
      {"a private constructor", "", {InX("return std::unique_ptr<Foo>(new Foo(1));")}},
      {"a member named new", "", {InX("a.renew (b); brand(1);")}},
      {"printing in a program", "",
       {{"cli/cmd/main.cc", "#include <iostream>\nint main() { std::cout << 1; }\n"},
        {"cli/cmd/BUILD", "cc_binary(srcs = [\"main.cc\"])\n"}}},
      {"cpprest where it is measured by itself", "",
       {{"bench/operator/x.cc", "#include <cpprest/http_client.h>\nint main() {}\n"},
        {"bench/operator/BUILD", "cc_binary(srcs = [\"x.cc\"])\n"}}},
      {"a name whose header comes with a header of ours", "",
       {{"part/x.h", "// What X is.\n\n#include <vector>\n"}, InX("std::vector<int> all;")}},
      {"a link to a folder", "", {{"README.md", "See [part](part/).\n"}}},
      {"a link to the second of two headings, with signs in them", "",
       {{"README.md", "See [a](docs/a.md#what-taas-top-says-1).\n"},
        {"docs/a.md", "## What `taas top` says\n## What taas top says?\n"}}},
      {"a link in a fenced example", "", {{"README.md", "```\n[x](nowhere)\n```\n"}}},
      {"a full GPU figure", "",
       {{"docs/benchmarks.md",
         "# MLP\nOn an H200 at 1980 MHz a step takes 18 µs (commit 0123abc).\n"}}},
      {"five targets without a page", "", {{"part/BUILD", Targets(5)}}},
      {"six targets with a page", "",
       {{"part/BUILD", Targets(6)}, {"part/README.md", "# Part\n"}}},
      {"a figure of a CPU", "", {{"docs/benchmarks.md", "# CPU\nA step takes 5 ms.\n"}}},
  };
  for (const Fixture& fixture : allowed) {
    for (const Finding& finding : CheckTree(With(fixture.files))) {
      ADD_FAILURE() << fixture.name << ": " << finding.rule << " " << finding.message;
    }
  }
}

TEST(RulesTest, FindingNamesFileAndLine) {
  const std::vector<Finding> findings = CheckTree(With({InX("std::srand(1);")}));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].path, "part/x.cc");
  EXPECT_EQ(findings[0].line, 9);
}

}  // namespace
}  // namespace taas::tidy
