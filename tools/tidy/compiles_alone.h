// Whether a header compiles with nothing before it, by asking the compiler.
//
// For headers that no .cc includes first; the others are shown to compile by the build itself.
//
// Ownership: none. Threads: any. Errors: none; a compiler that cannot be run counts as "no".
//
//   if (!CompilesAlone("/path/to/tree", "operator/api/pod.h")) ...

#ifndef TOOLS_TIDY_COMPILES_ALONE_H_
#define TOOLS_TIDY_COMPILES_ALONE_H_

#include <string>

namespace taas::tidy {

// `header` is a path from `top`, which is the only directory of ours on the include path.
bool CompilesAlone(const std::string& top, const std::string& header);

}  // namespace taas::tidy

#endif  // TOOLS_TIDY_COMPILES_ALONE_H_
