#include "tools/tidy/compiles_alone.h"

#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <iterator>
#include <string>
#include <vector>

extern char** environ;

namespace taas::tidy {

bool CompilesAlone(const std::string& top, const std::string& header, const std::string& prelude) {
  // Without code generation; the build's own warnings are not repeated here.
  std::vector<std::string> words = {"g++", "-std=c++20", "-fsyntax-only", "-w", "-iquote", top};
  if (!prelude.empty()) {
    // The flags that it was compiled with: with others it is read as text.
    const char* const more[] = {"-O2",
                                "-fPIC",
                                "-fstack-protector",
                                "-fno-omit-frame-pointer",
                                "-DBOOST_ASIO_DISABLE_CO_AWAIT",
                                "-iquote"};
    words.insert(words.end(), std::begin(more), std::end(more));
    words.insert(words.end(), {prelude, "-include", "prelude/library.h"});
  }
  words.insert(words.end(), {"-x", "c++", top + "/" + header});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t compiler = 0;
  if (posix_spawnp(&compiler, argv[0], nullptr, nullptr, argv.data(), environ) != 0) return false;
  int status = 0;
  while (waitpid(compiler, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace taas::tidy
