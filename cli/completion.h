// What a shell may offer next: verbs, flags, their values, and names from the cluster.
//
// The words come from the same Command that parses them, so nothing here knows any verb.
//
// Ownership: `app` is only read. Threads: one. Errors: none; where nothing is known nothing is
// offered, and a shell falls back to file names.
//
//   for (const std::string& word : Completions(app, {"logs", "mn"}, names)) out << word << "\n";

#ifndef CLI_COMPLETION_H_
#define CLI_COMPLETION_H_

#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"

namespace taas {

enum class NameKind { kJob, kNamespace, kNode };
// Names of the cluster that the words before say; empty where it does not answer.
using ClusterNames =
    std::function<std::vector<std::string>(NameKind kind, const ClusterFlags& cluster)>;

// `words`: all behind the program's name; the last is the one to complete, perhaps "".
std::vector<std::string> Completions(const Command& app, const std::vector<std::string>& words,
                                     const ClusterNames& names);

// For bash, zsh or fish.
std::string CompletionScript(const std::string& shell);

// The verb `completion`.
void AddCompletionCommand(Command& app, const CommandIo& io);
// What the scripts run. `words` as above. Prints one word a line.
void PrintCompletions(const Command& app, const CommandIo& io,
                      const std::vector<std::string>& words);

}  // namespace taas

#endif  // CLI_COMPLETION_H_
