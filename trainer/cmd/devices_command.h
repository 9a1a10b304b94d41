// `taas-trainer devices [--format text|json]`: which NVIDIA GPUs this machine has, its driver and
// libraries with their versions, and why what is missing cannot be used.
//
// Ownership: none. Threads: main's. Errors: what is missing is part of the answer, which ends with
// 0; 2 for wrong usage.
//
//   if (std::string_view(argv[1]) == "devices") return RunDevicesCommand(argc - 1, argv + 1);

#ifndef TRAINER_CMD_DEVICES_COMMAND_H_
#define TRAINER_CMD_DEVICES_COMMAND_H_

namespace taas {

// `argv[0]` is the word "devices". Returns the exit code.
int RunDevicesCommand(int argc, char** argv);

}  // namespace taas

#endif  // TRAINER_CMD_DEVICES_COMMAND_H_
