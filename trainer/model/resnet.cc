#include "trainer/model/resnet.h"

#include <string>

#include "trainer/model/model.h"

namespace taas {
namespace {

constexpr double kDecay = 0.9;
constexpr double kEpsilon = 1e-5;

struct Convolution {
  std::string name;
  int64_t filters = 0;
  int64_t side = 3;  // Of the window; the margin keeps the size of the image.
  int64_t stride = 1;
};

// A convolution without bias, which the normalization after it has.
void AddNormalized(const Convolution& conv, const char* activation, Chain* chain) {
  chain->Add({.kind = LayerKind::kConv,
              .name = conv.name,
              .units = conv.filters,
              .window = {conv.side, conv.side},
              .strides = {conv.stride, conv.stride},
              .padding = "EXPLICIT",
              .margin = conv.side / 2,
              .bias = false});
  chain->Add({.kind = LayerKind::kBatchNorm,
              .name = conv.name + "/BatchNorm",
              .activation = activation,
              .decay = kDecay,
              .epsilon = kEpsilon});
}

struct Block {
  std::string name;
  int64_t filters = 0;  // Of its 3 × 3 convolutions.
  int64_t stride = 1;
  bool projects = false;  // Its output has another shape than its input.
};

void AddBasicBlock(const Block& block, Chain* chain) {
  Chain shortcut = *chain;
  AddNormalized({block.name + "/conv1", block.filters, 3, block.stride}, "Relu", chain);
  AddNormalized({block.name + "/conv2", block.filters}, "", chain);
  if (block.projects) {
    AddNormalized({block.name + "/shortcut", block.filters, 1, block.stride}, "", &shortcut);
  }
  chain->Join(shortcut);
  chain->Add({.kind = LayerKind::kActivation, .activation = "Relu"});
}

// The 3 × 3 convolution works on a quarter of the channels.
void AddBottleneck(const Block& block, Chain* chain) {
  constexpr int64_t kWider = 4;
  Chain shortcut = *chain;
  AddNormalized({block.name + "/conv1", block.filters, 1}, "Relu", chain);
  AddNormalized({block.name + "/conv2", block.filters, 3, block.stride}, "Relu", chain);
  AddNormalized({block.name + "/conv3", kWider * block.filters, 1}, "", chain);
  if (block.projects) {
    AddNormalized({block.name + "/shortcut", kWider * block.filters, 1, block.stride}, "",
                  &shortcut);
  }
  chain->Join(shortcut);
  chain->Add({.kind = LayerKind::kActivation, .activation = "Relu"});
}

struct Stage {
  int64_t filters;
  int blocks;
};

// All stages but the first halve height and width.
void AddStages(std::initializer_list<Stage> stages, bool bottlenecks, Chain* chain) {
  int number = 0;
  for (const Stage& stage : stages) {
    ++number;
    for (int i = 1; i <= stage.blocks; ++i) {
      const Block block{.name = "block" + std::to_string(number) + "_" + std::to_string(i),
                        .filters = stage.filters,
                        .stride = number > 1 && i == 1 ? 2 : 1,
                        .projects = i == 1 && (number > 1 || bottlenecks)};
      if (bottlenecks) {
        AddBottleneck(block, chain);
      } else {
        AddBasicBlock(block, chain);
      }
    }
  }
  chain->Add({.kind = LayerKind::kGlobalAvgPool});
}

}  // namespace

void AddResnet20(const ModelSpec&, Chain* chain) {
  AddNormalized({"conv1", 16}, "Relu", chain);
  AddStages({{16, 3}, {32, 3}, {64, 3}}, /*bottlenecks=*/false, chain);
}

void AddResnet50(const ModelSpec&, Chain* chain) {
  AddNormalized({"conv1", 64, 7, 2}, "Relu", chain);
  chain->Add({.kind = LayerKind::kMaxPool,
              .window = {3, 3},
              .strides = {2, 2},
              .padding = "EXPLICIT",
              .margin = 1});
  AddStages({{64, 3}, {128, 4}, {256, 6}, {512, 3}}, /*bottlenecks=*/true, chain);
}

}  // namespace taas
