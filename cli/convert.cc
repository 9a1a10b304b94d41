// `taas convert`: TFJobs as TrainingJobs.

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cli/job_manifest.h"
#include "cli/read_input.h"
#include "cli/verbs.h"
#include "operator/api/convert.h"
#include "operator/api/manifest.h"
#include "operator/base/command_line.h"
#include "operator/base/status.h"

namespace taas {
namespace {

struct ConvertFlags {
  std::vector<std::string> files;
  std::string output = "yaml";
};

absl::Status Convert(const CommandIo& io, const ConvertFlags& flags) {
  ASSIGN_OR_RETURN(const std::vector<std::string> files, ManifestFiles(flags.files));
  int converted = 0;
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(const std::string text, ReadInput(file));
    const absl::StatusOr<std::vector<std::string>> documents = ManifestDocuments(text);
    RETURN_IF_ERROR(documents.status()).With(file);
    for (const std::string& document : *documents) {
      const ManifestKind kind = KindOf(document);
      if (kind.job != JobKind::kTfJob) {
        io.err << file << ": an object of kind " << kind.kind << " is not converted\n";
        continue;
      }
      const absl::StatusOr<Conversion> job = ConvertTfJob(document);
      RETURN_IF_ERROR(job.status()).With(file);
      for (const std::string& warning : job->warnings) io.err << file << ": " << warning << "\n";
      if (converted++ > 0 && flags.output == "yaml") io.out << "---\n";
      RETURN_IF_ERROR(PrintObject(io, job->manifest, flags.output));
    }
  }
  if (converted > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(flags.files.front() + ": there is no TFJob in it");
}

}  // namespace

void AddConvertCommand(Command& app, const CommandIo& io, int* exit_code) {
  Command convert = app.AddCommand(
      {.name = "convert", .about = "Print TFJobs as the TrainingJobs that behave the same"});
  auto flags = std::make_shared<ConvertFlags>();
  convert
      .AddOption("-f,--filename", &flags->files,
                 "Manifest or directory, - reads standard input; may be given several times")
      .Required();
  convert.AddOption("-o,--output", &flags->output, "yaml or json (default: yaml)")
      .OneOf({"yaml", "json"});
  convert.OnRun([&io, flags, exit_code] { *exit_code = Report(io, Convert(io, *flags)); });
}

}  // namespace taas
