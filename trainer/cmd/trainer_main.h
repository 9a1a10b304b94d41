// taas-trainer: one replica of a training job, or a whole training in one process.
//
//   TF_CONFIG=… TAAS_TRAINER=… taas-trainer        as a pod of a job (docs/contract.md)
//   taas-trainer --config trainer.json             by itself
//   taas-trainer --ps_hosts=… --worker_hosts=… --job_name=worker --task_index=0 --data_dir=…
//                                                  as scripts of distributed TensorFlow are started
//   taas-trainer data fetch mnist DIR              data commands
//   taas-trainer graph --config trainer.json       the ops by which a model is computed
//   taas-trainer inspect PATH…                     what files hold
//   taas-trainer export|eval|predict|generate --checkpoint C
//                                                  what a trained model is for
//
// A program of one's own that has all of this, and models of its own, registers them and calls
// TrainerMain (docs/own-model.md).
//
// Ownership: none. Threads: once, from main. Errors: become exit codes (replica_process.h).

#ifndef TRAINER_CMD_TRAINER_MAIN_H_
#define TRAINER_CMD_TRAINER_MAIN_H_

namespace taas {

int TrainerMain(int argc, char** argv);

}  // namespace taas

#endif  // TRAINER_CMD_TRAINER_MAIN_H_
