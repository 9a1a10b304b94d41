#include "trainer/data/data_commands.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/file_system.h"
#include "trainer/data/fetch_mnist.h"
#include "trainer/data/http_get.h"

namespace taas {
namespace {

constexpr int kOk = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;

constexpr char kHelp[] =
    "usage: data fetch mnist DIR [--generate]\n"
    "\n"
    "Lays out train-images.gz, train-labels.gz, test-images.gz, test-labels.gz and source.txt in\n"
    "DIR: from the directory $TAAS_DATA if it is set (the four classic files, or the two t10k\n"
    "files, of which nine tenths become training data); else downloaded; without a network, or\n"
    "with --generate, drawn from a seed. Does nothing if DIR is complete.\n";

int Fetch(const std::string& target, bool generate) {
  // The resolver's default is to ask every server twice for 5 s each.
  ::setenv("RES_OPTIONS", "timeout:2 attempts:1", 0);
  FetchOptions options;
  options.target = target;
  const char* const data = std::getenv("TAAS_DATA");
  if (data != nullptr && !generate) options.data_dir = data;
  if (!generate) {
    options.download = [](const std::string& url) { return HttpGet(url, HttpGetOptions{}); };
  }
  options.progress = [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); };
  PosixFileSystem files;
  const absl::StatusOr<FetchedMnist> mnist = FetchMnist(files, options);
  if (!mnist.ok()) {
    std::fprintf(stderr, "data fetch mnist %s: %s\n", target.c_str(),
                 std::string(mnist.status().message()).c_str());
    return kFailed;
  }
  std::printf("%s%s: %s\n", target.c_str(), mnist->was_complete ? " is complete" : "",
              mnist->source.c_str());
  return kOk;
}

}  // namespace

int RunDataCommand(int argc, char** argv) {
  std::vector<std::string> words;
  bool generate = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--help" || word == "-h") {
      std::fputs(kHelp, stdout);
      return kOk;
    }
    if (word == "--generate") {
      generate = true;
    } else if (word.substr(0, 1) == "-") {
      std::fprintf(stderr, "data: unknown option %s\n%s", argv[i], kHelp);
      return kUsage;
    } else {
      words.emplace_back(word);
    }
  }
  if (words.size() == 3 && words[0] == "fetch" && words[1] == "mnist" && !words[2].empty()) {
    return Fetch(words[2], generate);
  }
  std::fputs(kHelp, stderr);
  return kUsage;
}

}  // namespace taas
