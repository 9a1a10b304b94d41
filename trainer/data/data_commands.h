// `taas-trainer data …`: commands that prepare data and look into it.
//
// `data fetch mnist DIR` lays out train-images.gz, train-labels.gz, test-images.gz, test-labels.gz
// and source.txt in DIR: from the directory $TAAS_DATA, else downloaded and checked, else
// generated.
// `data inspect FILE…` tells what each file is, how much is in it and whether it is whole; the exit
// code is 1 if one is damaged or cannot be read.
// `data convert --from idx --to tfrecord IMAGES LABELS TARGET` and back, `--from tfrecord --to idx
// SOURCE IMAGES LABELS`, and between other formats: see convert.h.
//
// Ownership: none. Threads: main's. Errors: a sentence on stderr and exit code 1; 2 for wrong
// usage.
//
//   if (argc > 1 && std::string_view(argv[1]) == "data") return RunDataCommand(argc - 1, argv + 1);

#ifndef TRAINER_DATA_DATA_COMMANDS_H_
#define TRAINER_DATA_DATA_COMMANDS_H_

namespace taas {

// `argv[0]` is the word "data". Returns the exit code.
int RunDataCommand(int argc, char** argv);

}  // namespace taas

#endif  // TRAINER_DATA_DATA_COMMANDS_H_
