// `taas-trainer graph …`: what a configuration's model is computed by, without training it.
//
// `graph [--format text|event|dot] [--to DIR] [--training] [flags as for training]`: text is a
// table of the ops in the order of execution with device, flops and bytes, and the memory plan;
// event an event file in DIR, whose page "Graphs" TensorBoard shows; dot is for Graphviz. The
// forward pass of one batch, or with --training the whole step: gradients and updates.
//
// Ownership: none. Threads: main's. Errors: a sentence on stderr and exit code 1; 2 for wrong
// usage.
//
//   if (std::string_view(argv[1]) == "graph") return RunGraphCommand(argc - 1, argv + 1, Env);

#ifndef TRAINER_CMD_GRAPH_COMMAND_H_
#define TRAINER_CMD_GRAPH_COMMAND_H_

#include "trainer/cmd/flags.h"

namespace taas {

// `argv[0]` is the word "graph". Returns the exit code.
int RunGraphCommand(int argc, char** argv, const GetEnv& env);

}  // namespace taas

#endif  // TRAINER_CMD_GRAPH_COMMAND_H_
