#include "trainer/cmd/trainer_main.h"

int main(int argc, char** argv) { return taas::TrainerMain(argc, argv); }
