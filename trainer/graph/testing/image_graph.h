// A small residual network for images, for tests and measurements: convolutions, batch
// normalization with its moving moments, pooling, dropout, an L2 loss.
//
// x[batch, size, size, 3] -> Conv, BatchNorm, Relu -> `blocks` times (Conv, BatchNorm, Relu, Conv,
// BatchNorm, Add, Relu) of `channels` -> AvgPool -> Dropout -> MatMul -> 10 classes. As in He et
// al. 2015, but without a change of width.
//
// Ownership: values. Threads: any. Errors: none.
//
//   const ImageGraph images = BuildImageGraph({.size = 8, .channels = 16, .blocks = 1});
//   auto session = Session::Compile(CpuRuntime(), images.graph, {.batch = 4, .loss = images.loss});
//   FillImageBatch(/*seed=*/1, session->get());

#ifndef TRAINER_GRAPH_TESTING_IMAGE_GRAPH_H_
#define TRAINER_GRAPH_TESTING_IMAGE_GRAPH_H_

#include <cstdint>
#include <string>

#include "trainer/graph/graph.h"
#include "trainer/graph/session.h"
#include "trainer/kernels/cpu/cpu_runtime.h"

namespace taas {

struct ImageGraphShape {
  int64_t size = 8;  // Even.
  int64_t channels = 16;
  int64_t blocks = 1;
  double l2 = 1e-3;  // 0: no such loss.
};

struct ImageGraph {
  Graph graph;
  std::string images = "images";
  std::string labels = "labels";
  std::string loss = "loss";
  std::string logits = "logits";
};

ImageGraph BuildImageGraph(const ImageGraphShape& shape);

// Images and labels drawn from the seed.
void FillImageBatch(uint64_t seed, Session* session);

}  // namespace taas

#endif  // TRAINER_GRAPH_TESTING_IMAGE_GRAPH_H_
