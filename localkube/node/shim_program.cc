#include <cstdio>

#include "localkube/node/shim.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: shim_program shim DIR\n");
    return 2;
  }
  return taas::localkube::RunShim(argv[2]);
}
