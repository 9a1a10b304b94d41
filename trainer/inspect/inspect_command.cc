#include "trainer/inspect/inspect_command.h"

#include <cstdio>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "operator/base/command_line.h"
#include "operator/base/file_system.h"
#include "operator/base/terminal_text.h"
#include "third_party/json.h"
#include "trainer/inspect/inspect_path.h"

namespace taas {
namespace {

constexpr int kFailed = 1;

constexpr char kAbout[] =
    "Shows what files hold: the tensors of a checkpoint (its prefix, one of its files, or a\n"
    "directory: the newest), of a safetensors file or a SavedModel; the tags of event files; the\n"
    "examples of data files. Ends with 1 if something is damaged or cannot be read.";

// A file may say that it has more than the memory holds, in more ways than one.
absl::StatusOr<PathReport> Inspect(FileSystem& files, const std::string& path,
                                   const InspectOptions& options) {
  try {
    return InspectPath(files, path, options);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("read " + path +
                                        ": there is not enough memory for what it says it has");
  }
}

}  // namespace

int RunInspectCommand(int argc, char** argv) {
  CommandLine app({.name = "taas-trainer inspect", .about = kAbout});
  std::vector<std::string> paths;
  InspectOptions options;
  std::string output = "text";
  app.AddOption("PATH", &paths, "files and directories").Required();
  app.AddFlag("--values", &options.values,
              "read all values: min, mean and max of each tensor; checks the checksums");
  app.AddOption("-o,--output", &output, "text or json, one line for each PATH")
      .OneOf({"text", "json"});
  const std::optional<int> ended = app.Parse(argc, argv);
  if (ended.has_value()) return *ended;
  PosixFileSystem files;
  int code = 0;
  for (const std::string& path : paths) {
    const auto report = Inspect(files, path, options);
    if (!report.ok()) {
      const std::string why(report.status().message());
      std::fprintf(stderr, "inspect: %s\n", TerminalText(why).c_str());
      code = kFailed;
      continue;
    }
    if (report->damaged) code = kFailed;
    const std::string text =
        output == "text"
            ? report->text
            : report->json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    // Names of tensors and tags are whoever's wrote the file.
    std::fputs(TerminalText(text).c_str(), stdout);
  }
  return code;
}

}  // namespace taas
