// Whether a header compiles with nothing of ours before it, by asking the compiler.
//
// For headers that no .cc includes first; the others are shown to compile by the build itself. As
// there the precompiled headers of libraries come before; what they hide is for includes.h to find.
//
// Ownership: none. Threads: any. Errors: none; a compiler that cannot be run counts as "no".
//
//   if (!CompilesAlone("/path/to/tree", "operator/api/pod.h")) ...

#ifndef TOOLS_TIDY_COMPILES_ALONE_H_
#define TOOLS_TIDY_COMPILES_ALONE_H_

#include <string>

namespace taas::tidy {

// `header` is a path from `top`, which is the only directory of ours on the include path but for
// `prelude`: there lies prelude/library.h, compiled or not. Empty: nothing comes before.
bool CompilesAlone(const std::string& top, const std::string& header,
                   const std::string& prelude = "");

}  // namespace taas::tidy

#endif  // TOOLS_TIDY_COMPILES_ALONE_H_
