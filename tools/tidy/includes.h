// Files that use a name of a library without including the header which has it.
//
// The build compiles the headers of the libraries once and puts them before each .cc, where they
// hide a missing include: the sanitizers, other compilers and editors compile without them.
//
// A header counts as included when the file, or a header of ours which it includes, includes it or
// a header that is known to bring it (header_names.h). Names are read, not resolved: code that the
// preprocessor leaves out counts, and names without their namespace are not seen.
//
// Ownership: values. Threads: any for the const methods. Errors: none.
//
//   IncludeGraph graph;
//   for (const auto& file : files) graph.Add(file.path, file.text, CodeOnly(file.text));
//   for (const MissingInclude& missing : graph.Missing()) Print(missing.path, missing.header);

#ifndef TOOLS_TIDY_INCLUDES_H_
#define TOOLS_TIDY_INCLUDES_H_

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/tidy/header_names.h"

namespace taas::tidy {

struct MissingInclude {
  std::string path;
  int line = 0;        // Where the name is used first.
  std::string name;    // "std::vector"
  std::string header;  // As an include line has it: "<vector>".
};

class IncludeGraph {
 public:
  // `path` is from the top of the tree, as include lines of ours are; `code` is CodeOnly(text).
  void Add(const std::string& path, std::string_view text, std::string_view code);

  // At most one for a file and a header, by path and line. Headers of ours that were not added,
  // because they are generated, include nothing.
  std::vector<MissingInclude> Missing() const;

 private:
  struct Use {
    size_t group = 0;  // Of `names_`.
    int line = 0;
    std::string name;
  };
  struct File {
    std::vector<std::string> includes;
    std::vector<Use> uses;  // The first of each group.
  };

  std::set<size_t> GroupsReached(const std::string& path) const;

  const HeaderNames names_;
  std::map<std::string, File, std::less<>> files_;
};

}  // namespace taas::tidy

#endif  // TOOLS_TIDY_INCLUDES_H_
