// `taas validate`: what an API server and the trainer would say to manifests.

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/job_manifest.h"
#include "cli/job_warnings.h"
#include "cli/read_input.h"
#include "cli/verbs.h"
#include "operator/api/json_field.h"
#include "operator/api/manifest.h"
#include "operator/base/command_line.h"
#include "third_party/json.h"

namespace taas {
namespace {

// Of one text: how many jobs are in it, and how many complaints were printed.
struct Checked {
  int jobs = 0;
  int complaints = 0;
};

// Which of the objects of a text: "ml/mnist: ", "mnist: ", of one without a name "document 2: ".
// Empty where there is only one.
std::string WhichOf(const std::vector<std::string>& documents, size_t index) {
  if (documents.size() < 2) return "";
  const absl::StatusOr<nlohmann::json> object = ParseJsonObject(documents[index]);
  const nlohmann::json meta = object.ok() ? object->value("metadata", nlohmann::json()) : nullptr;
  std::string name = TextOf(meta, "name");
  if (name.empty()) name = TextOf(meta, "generateName");
  if (name.empty()) return "document " + std::to_string(index + 1) + ": ";
  const std::string ns = TextOf(meta, "namespace");
  return (ns.empty() ? name : ns + "/" + name) + ": ";
}

Checked CheckText(const CommandIo& io, const std::string& file, const std::string& text) {
  Checked checked;
  const auto complain = [&](const std::string& which, const std::string& words) {
    io.out << file << ": " << which << words << "\n";
    ++checked.complaints;
  };
  const absl::StatusOr<std::vector<std::string>> documents = ManifestDocuments(text);
  if (!documents.ok()) {
    complain("", std::string(documents.status().message()));
    return checked;
  }
  for (size_t i = 0; i < documents->size(); ++i) {
    const std::string& document = (*documents)[i];
    const std::string which = WhichOf(*documents, i);
    const ManifestKind kind = KindOf(document);
    if (!kind.job.has_value() && !kind.kind.empty()) {
      io.err << file << ": " << which << "an object of kind " << kind.kind
             << " is not checked\n";
      continue;
    }
    ++checked.jobs;
    const JobKind job_kind = kind.job.value_or(JobKind::kTrainingJob);
    const std::vector<FieldError> errors = CheckJob(job_kind, document);
    for (const FieldError& error : errors) complain(which, FormatFieldError(error));
    if (!errors.empty()) continue;
    for (const std::string& words : JobWarnings(job_kind, document)) {
      io.err << file << ": " << which << "warning: " << words << "\n";
    }
  }
  return checked;
}

int ValidateFiles(const CommandIo& io, const std::vector<std::string>& paths) {
  const absl::StatusOr<std::vector<std::string>> files = ManifestFiles(paths);
  if (!files.ok()) return Report(io, files.status());
  int exit_code = kExitOk;
  int jobs = 0;
  for (const std::string& file : *files) {
    const absl::StatusOr<std::string> text = ReadInput(file);
    if (!text.ok()) {
      exit_code = Report(io, text.status());
      continue;
    }
    const Checked checked = CheckText(io, file, *text);
    jobs += checked.jobs;
    if (checked.complaints > 0) exit_code = kExitFailed;
    if (checked.jobs == 0 && checked.complaints == 0) {
      io.err << file << ": there is no TrainingJob or TFJob in it\n";
    }
  }
  if (jobs == 0 && exit_code == kExitOk) return kExitFailed;
  if (exit_code == kExitOk) io.err << jobs << (jobs == 1 ? " job is" : " jobs are") << " valid\n";
  return exit_code;
}

}  // namespace

void AddValidateCommand(Command& app, const CommandIo& io, int* exit_code) {
  Command validate = app.AddCommand(
      {.name = "validate", .about = "Check manifests as an API server and the trainer would"});
  auto paths = std::make_shared<std::vector<std::string>>();
  validate
      .AddOption("-f,--filename", paths.get(),
                 "Manifest or directory, - reads standard input; may be given several times")
      .Required();
  validate.OnRun([&io, paths, exit_code] { *exit_code = ValidateFiles(io, *paths); });
}

}  // namespace taas
