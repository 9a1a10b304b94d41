#include "cli/taas_app.h"

#include <new>
#include <optional>
#include <ostream>
#include <string>

#include "cli/completion.h"
#include "cli/exit_code.h"
#include "cli/terminal_stream.h"
#include "cli/verbs.h"
#include "operator/base/command_line.h"
#include "operator/base/version.h"
#include "third_party/json.h"

namespace taas {

void AddVerbs(Command& app, const CommandIo& io, const MoreCommands& more, int* exit_code) {
  app.RequireCommand();
  app.SetFooter(
      "Exit codes: 0 ok, 1 failed, 2 usage, 3 not found, 4 timed out.\n"
      "A JOB is NAME, or tj/NAME and tfjob/NAME where both kinds have one.");
  AddSubmitCommand(app, io, exit_code);
  AddListCommand(app, io, exit_code);
  AddGetCommand(app, io, exit_code);
  AddDescribeCommand(app, io, exit_code);
  AddLogsCommand(app, io, exit_code);
  AddWaitCommand(app, io, exit_code);
  AddUseCommands(app, io, exit_code);
  AddSuspendCommands(app, io, exit_code);
  AddScaleCommand(app, io, exit_code);
  AddDeleteCommand(app, io, exit_code);
  AddTopCommand(app, io, exit_code);
  AddValidateCommand(app, io, exit_code);
  AddConvertCommand(app, io, exit_code);
  AddDoctorCommand(app, io, exit_code);
  AddCompletionCommand(app, io);
  // main.cc hands these words on before anything is parsed; here it has its place in the help.
  app.AddCommand(
         {.name = "data", .about = "Fetch, inspect and convert data sets (taas-trainer data)"})
      .OnRun([&io] { io.err << "taas: `taas-trainer data` does this\n"; });
  app.AddVersionFlag(std::string("taas ") + kVersion);
  app.AddCommand({.name = "version", .about = "Print the version"}).OnRun([&io] {
    io.out << "taas " << kVersion << "\n";
  });
  if (more != nullptr) more(app, exit_code);
}

int RunTaas(std::vector<std::string> arguments, const CommandIo& plain_io,
            const MoreCommands& more) {
  int exit_code = kExitOk;
  // Whatever a verb prints, its words were written by others in part.
  TerminalStream out(plain_io.out);
  TerminalStream err(plain_io.err);
  const CommandIo io{.out = out.stream(),
                     .err = err.stream(),
                     .env = plain_io.env,
                     .color = plain_io.color,
                     .raw = &plain_io.out,
                     .claim_folder = plain_io.claim_folder};
  CommandLine app({.name = "taas", .about = "Training jobs on Kubernetes or on this machine"});
  AddVerbs(app, io, more, &exit_code);
  // What the words before the cursor are is no command line that parses.
  if (!arguments.empty() && arguments[0] == "__complete") {
    PrintCompletions(app, io, {arguments.begin() + 1, arguments.end()});
    return kExitOk;
  }
  try {
    const std::optional<int> ended = app.Parse(arguments, {.out = io.out, .err = io.err});
    if (ended.has_value()) return *ended;
  } catch (const nlohmann::json::exception& e) {
    // A manifest or a reply of a form that no check has foreseen is no reason to die of a signal.
    io.err << "taas: read an object: a field is not of the kind that was expected: " << e.what()
           << "\n";
    return kExitFailed;
  } catch (const std::bad_alloc&) {
    io.err << "taas: this machine has not enough memory for it\n";
    return kExitFailed;
  }
  return exit_code;
}

}  // namespace taas
