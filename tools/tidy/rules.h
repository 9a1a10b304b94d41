// The rules of STYLE.md that a machine enforces: texts of files in, findings out.
//
// A rule is here only with a fixture in rules_test.cc that it refuses.
//
// Ownership: values. Threads: any. Errors: none.
//
//   for (const Finding& f : CheckTree(files)) Print(f.path, f.line, f.rule, f.message);

#ifndef TOOLS_TIDY_RULES_H_
#define TOOLS_TIDY_RULES_H_

#include <string>
#include <string_view>
#include <vector>

namespace taas::tidy {

struct SourceFile {
  std::string path;  // From the top of the tree.
  std::string text;
};

struct Finding {
  std::string path;
  int line = 0;
  std::string rule;
  std::string message;
};

// Names of all rules, as in Finding::rule.
const std::vector<std::string>& RuleNames();

// All findings in all files, by path and line. `files` is the whole tree: some rules look at
// several.
std::vector<Finding> CheckTree(const std::vector<SourceFile>& files);

}  // namespace taas::tidy

#endif  // TOOLS_TIDY_RULES_H_
