#include "trainer/inspect/inspect_command.h"

#include <cstdio>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "third_party/json.h"
#include "trainer/inspect/inspect_path.h"

namespace taas {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;

constexpr char kAbout[] =
    "Shows what files hold: the tensors of a checkpoint (its prefix, one of its files, or a\n"
    "directory: the newest), of a safetensors file or a SavedModel; the tags of event files; the\n"
    "examples of data files. Ends with 1 if something is damaged or cannot be read.";

}  // namespace

int RunInspectCommand(int argc, char** argv) {
  CLI::App app(kAbout, "taas-trainer inspect");
  std::vector<std::string> paths;
  InspectOptions options;
  std::string output = "text";
  app.add_option("PATH", paths, "files and directories")->required();
  app.add_flag("--values", options.values,
               "read all values: min, mean and max of each tensor; checks the checksums");
  app.add_option("-o,--output", output, "text or json, one line for each PATH")
      ->check(CLI::IsMember({"text", "json"}));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  PosixFileSystem files;
  int code = 0;
  for (const std::string& path : paths) {
    const auto report = InspectPath(files, path, options);
    if (!report.ok()) {
      std::fprintf(stderr, "inspect: %s\n", std::string(report.status().message()).c_str());
      code = kFailed;
      continue;
    }
    if (report->damaged) code = kFailed;
    const std::string text =
        output == "text"
            ? report->text
            : report->json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    std::fputs(text.c_str(), stdout);
  }
  return code;
}

}  // namespace taas
