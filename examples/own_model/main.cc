#include "examples/own_model/highway.h"
#include "trainer/cmd/trainer_main.h"
#include "trainer/model/model.h"

int main(int argc, char** argv) {
  taas::RegisterModel(
      {.name = "highway", .add = taas::examples::AddHighway, .fields = {"hidden"}});
  return taas::TrainerMain(argc, argv);
}
