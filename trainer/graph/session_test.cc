#include "trainer/graph/session.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/check.h"
#include "operator/base/status_matchers.h"
#include "trainer/graph/kernel_registry.h"
#include "trainer/graph/op_registry.h"
#include "trainer/graph/testing/unusual_graph.h"
#include "trainer/kernels/cpu/cpu_kernels.h"
#include "trainer/kernels/cpu/cpu_runtime.h"
#include "trainer/testing/far_device.h"

namespace taas {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// loss = mean(relu(x w + b)), two columns.
Graph SmallGraph() {
  Graph graph;
  const Value x = graph.Input("x", {DType::kFloat32, Shape({Shape::kBatch, 2})});
  const Value w = graph.Variable("w", Shape({2, 2}), Initializer::Constant(1));
  const Value b = graph.Variable("b", Shape({2}), Initializer::Constant(-1));
  const Value product = graph.Add("MatMul", "product", {x, w});
  const Value sum = graph.Add("BiasAdd", "sum", {product, b});
  const Value y = graph.Add("Relu", "y", {sum});
  graph.Add("ReduceMean", "loss", {y});
  return graph;
}

// The node as a training run has it, "op device"; "" if there is none.
std::string OpOf(const Session& session, const std::string& name) {
  for (const OpInfo& op : session.ops(RunKind::kTrain)) {
    if (op.name == name) return op.op + " " + op.device;
  }
  return "";
}

void Set(std::span<float> to, std::vector<float> values) { std::ranges::copy(values, to.begin()); }

TEST(SessionTest, ForwardRunGivesLossAndFetches) {
  auto session = Session::Compile(CpuRuntime(), SmallGraph(),
                                  {.batch = 2, .loss = "loss", .fetches = {"y"}});
  ASSERT_THAT(session, IsOk());
  CHECK((*session)->InitializeVariables(1).ok()) << "initialize";
  Set((*session)->FloatInput("x"), {1, 2, -1, 0});
  ASSERT_THAT((*session)->Run(RunKind::kForward), IsOk());
  EXPECT_THAT((*session)->output("y").host(), ElementsAre(2, 2, 0, 0));
  EXPECT_FLOAT_EQ((*session)->loss(), 1);
}

TEST(SessionTest, TrainRunGivesGradients) {
  auto session = Session::Compile(CpuRuntime(), SmallGraph(), {.batch = 2, .loss = "loss"});
  ASSERT_THAT(session, IsOk());
  CHECK((*session)->InitializeVariables(1).ok()) << "initialize";
  Set((*session)->FloatInput("x"), {1, 2, -1, 0});
  ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
  EXPECT_THAT((*session)->gradient(0).host(), ElementsAre(0.25f, 0.25f, 0.5f, 0.5f));
  EXPECT_THAT((*session)->gradient(1).host(), ElementsAre(0.25f, 0.25f));
}

TEST(SessionTest, LossScaleIsInTheGradientsAndNotInTheLoss) {
  auto session =
      Session::Compile(CpuRuntime(), SmallGraph(), {.batch = 2, .loss = "loss", .loss_scale = 8});
  ASSERT_THAT(session, IsOk());
  CHECK((*session)->InitializeVariables(1).ok()) << "initialize";
  Set((*session)->FloatInput("x"), {1, 2, -1, 0});
  ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
  EXPECT_THAT((*session)->gradient(0).host(), ElementsAre(2, 2, 4, 4));
  EXPECT_FLOAT_EQ((*session)->loss(), 1);
}

TEST(SessionTest, ForwardRunLeavesGradientsAlone) {
  auto session = Session::Compile(CpuRuntime(), SmallGraph(), {.batch = 2, .loss = "loss"});
  ASSERT_THAT(session, IsOk());
  Set((*session)->gradient(1).host(), {7, 7});
  ASSERT_THAT((*session)->Run(RunKind::kForward), IsOk());
  EXPECT_THAT((*session)->gradient(1).host(), ElementsAre(7, 7));
}

TEST(SessionTest, VariablesAreListedInTheOrderOfTheirCreation) {
  auto session = Session::Compile(CpuRuntime(), SmallGraph(), {.loss = "loss"});
  ASSERT_THAT(session, IsOk());
  const std::vector<VariableInfo>& variables = (*session)->variables();
  ASSERT_EQ(variables.size(), 2u);
  EXPECT_EQ(variables[0].name, "w");
  EXPECT_EQ(variables[0].shape, Shape({2, 2}));
  EXPECT_EQ(variables[0].count, 4u);
  EXPECT_EQ(variables[0].bytes, 16u);
  EXPECT_EQ(variables[1].name, "b");
}

TEST(SessionTest, MemoryThatIsGivenIsReadAndWrittenInPlace) {
  auto session = Session::Compile(CpuRuntime(), SmallGraph(), {.batch = 1, .loss = "loss"});
  ASSERT_THAT(session, IsOk());
  std::vector<float> w = {2, 2, 2, 2}, b = {0, 0}, x = {1, 1};
  ASSERT_THAT((*session)->UseVariable(0, TensorRef(w)), IsOk());
  ASSERT_THAT((*session)->UseVariable(1, TensorRef(b)), IsOk());
  (*session)->BindInput("x", std::span<const float>(x));
  ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
  EXPECT_FLOAT_EQ((*session)->loss(), 4);
  EXPECT_THAT((*session)->gradient(0).host(), ElementsAre(0.5f, 0.5f, 0.5f, 0.5f));
  EXPECT_EQ((*session)->variable(0).host().data(), w.data());
  w = {3, 3, 3, 3};
  ASSERT_THAT((*session)->Run(RunKind::kForward), IsOk());
  EXPECT_FLOAT_EQ((*session)->loss(), 6);
}

TEST(SessionTest, OnAFarDeviceWhatTheHostHasIsCopied) {
  auto session = Session::Compile(FarRuntime(), SmallGraph(),
                                  {.batch = 1, .loss = "loss", .fetches = {"y"}});
  ASSERT_THAT(session, IsOk());
  std::vector<float> w = {2, 2, 2, 2}, b = {0, 0}, x = {1, 1}, y(2), gradient(4);
  ASSERT_THAT((*session)->UseVariable(0, TensorRef(w)), IsOk());
  ASSERT_THAT((*session)->UseVariable(1, TensorRef(b)), IsOk());
  (*session)->BindInput("x", std::span<const float>(x));
  ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
  EXPECT_FLOAT_EQ((*session)->loss(), 4);
  ASSERT_THAT((*session)->output("y").Read(std::span(y)), IsOk());
  EXPECT_THAT(y, ElementsAre(4, 4));
  ASSERT_THAT((*session)->gradient(0).Read(std::span(gradient)), IsOk());
  EXPECT_THAT(gradient, ElementsAre(0.5f, 0.5f, 0.5f, 0.5f));
  // What lies on the device is used where it lies; a nearer session copies it.
  auto other = Session::Compile(FarRuntime(), SmallGraph(), {.batch = 1, .loss = "loss"});
  auto near = Session::Compile(CpuRuntime(), SmallGraph(), {.batch = 1, .loss = "loss"});
  ASSERT_THAT((*other)->UseVariable(0, (*session)->variable(0)), IsOk());
  EXPECT_EQ((*other)->variable(0).data(), (*session)->variable(0).data());
  ASSERT_THAT((*near)->UseVariable(0, (*session)->variable(0)), IsOk());
  EXPECT_THAT((*near)->variable(0).host(), ElementsAre(2, 2, 2, 2));
  x = {NAN, 1};
  ASSERT_THAT((*session)->Run(RunKind::kForward), IsOk());
  EXPECT_EQ((*session)->FirstNonFinite(), "input x: element 0 is NaN of example 0 of the batch");
  x = {1e38f, 1};
  ASSERT_THAT((*session)->Run(RunKind::kForward), IsOk());
  w[0] = 1e30f;
  ASSERT_THAT((*session)->UseVariable(0, TensorRef(w)), IsOk());
  EXPECT_THAT((*session)->FirstNonFinite(), StartsWith("op "));
}

TEST(SessionTest, BiasAndReluAreMergedUnlessTheSumIsFetched) {
  auto merged = Session::Compile(CpuRuntime(), SmallGraph(), {.loss = "loss"});
  ASSERT_THAT(merged, IsOk());
  EXPECT_THAT(OpOf(**merged, "y"), StartsWith("BiasAddRelu "));
  auto apart = Session::Compile(CpuRuntime(), SmallGraph(),
                                {.batch = 1, .loss = "loss", .fetches = {"sum"}});
  ASSERT_THAT(apart, IsOk());
  EXPECT_THAT(OpOf(**apart, "sum"), StartsWith("BiasAdd "));
  EXPECT_THAT(OpOf(**apart, "y"), StartsWith("Relu "));
  CHECK((*apart)->InitializeVariables(1).ok()) << "initialize";
  ASSERT_THAT((*apart)->Run(RunKind::kForward), IsOk());
  EXPECT_THAT((*apart)->output("sum").host(), ElementsAre(-1, -1));
}

TEST(SessionTest, ConstantsAreFilled) {
  Graph graph;
  const Value c = graph.Constant("c", Shape({Shape::kBatch, 2}), 1.5);
  graph.Add("ReduceSum", "loss", {c});
  auto session = Session::Compile(CpuRuntime(), graph, {.batch = 4, .loss = "loss"});
  ASSERT_THAT(session, IsOk());
  ASSERT_THAT((*session)->Run(RunKind::kForward), IsOk());
  EXPECT_FLOAT_EQ((*session)->loss(), 12);
}

TEST(SessionTest, ArenaIsSmallerThanTheSumOfTheTensors) {
  const UnusualGraph unusual = BuildUnusualGraph();
  auto session = Session::Compile(CpuRuntime(), unusual.graph, {.batch = 64, .loss = unusual.loss});
  ASSERT_THAT(session, IsOk());
  const MemoryReport memory = (*session)->memory();
  EXPECT_GT(memory.arena_bytes, 0u);
  EXPECT_LT(memory.arena_bytes, memory.unshared_bytes * 2 / 3);
  EXPECT_EQ(memory.variable_bytes, memory.gradient_bytes);
}

TEST(SessionTest, CostIsThatOfTheMatrixProductsAndALittle) {
  auto session = Session::Compile(CpuRuntime(), SmallGraph(), {.batch = 10, .loss = "loss"});
  ASSERT_THAT(session, IsOk());
  const double product = 2.0 * 10 * 2 * 2;
  const double cost = (*session)->cost(RunKind::kForward).flops;
  EXPECT_GE(cost, product);
  EXPECT_LE(cost, product + 3 * 10 * 2);
}

TEST(SessionTest, BadLabelIsReportedWithItsRowAndTheNode) {
  Graph graph;
  const Value logits = graph.Input("logits", {DType::kFloat32, Shape({Shape::kBatch, 3})});
  const Value labels = graph.Input("labels", {DType::kInt32, Shape({Shape::kBatch})});
  graph.Add("SparseSoftmaxCrossEntropy", "loss", {logits, labels});
  auto session = Session::Compile(CpuRuntime(), graph, {.batch = 2, .loss = "loss"});
  ASSERT_THAT(session, IsOk());
  (*session)->Int32Input("labels")[1] = 3;
  EXPECT_THAT((*session)->Run(RunKind::kForward),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("run loss"), HasSubstr("the label of row 1 is 3"))));
}

Graph GraphOnAGpu() {
  Graph graph;
  const Value x = graph.Input("x", {DType::kFloat32, Shape()});
  graph.SetDevice("/job:worker/task:0/device:GPU:0");
  graph.Add("Relu", "loss", {x});
  return graph;
}

TEST(SessionTest, AbsentDeviceIsRefusedWithTheNode) {
  EXPECT_THAT(Session::Compile(CpuRuntime(), GraphOnAGpu(), {.loss = "loss", .job = "worker"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("place loss (Relu)"), HasSubstr("GPU:0"),
                             HasSubstr("/job:worker/replica:0/task:0/device:CPU:0"))));
}

TEST(SessionTest, SoftPlacementRunsItOnTheSessionsDevice) {
  auto session = Session::Compile(CpuRuntime(), GraphOnAGpu(),
                                  {.loss = "loss", .job = "worker", .soft_placement = true});
  ASSERT_THAT(session, IsOk());
  (*session)->FloatInput("x")[0] = 3;
  ASSERT_THAT((*session)->Run(RunKind::kForward), IsOk());
  EXPECT_FLOAT_EQ((*session)->loss(), 3);
  EXPECT_EQ(OpOf(**session, "loss"), "Relu /job:worker/replica:0/task:0/device:CPU:0");
}

TEST(SessionTest, DefaultDeviceIsThatOfNodesThatNameNone) {
  Graph graph = SmallGraph();
  graph.SetDevice("/device:CPU:0");
  graph.Add("Identity", "kept", {*graph.Find("y")});
  auto session = Session::Compile(CpuRuntime().Virtual(4), graph,
                                  {.loss = "loss",
                                   .fetches = {"kept"},
                                   .job = "worker",
                                   .task = 1,
                                   .device = "/job:worker/task:1/device:CPU:3"});
  ASSERT_THAT(session, IsOk());
  const std::string placement = (*session)->Placements();
  EXPECT_THAT(placement,
              HasSubstr("product: (MatMul): /job:worker/replica:0/task:1/device:CPU:3\n"));
  EXPECT_THAT(placement,
              HasSubstr("kept: (Identity): /job:worker/replica:0/task:1/device:CPU:0\n"));
  EXPECT_THAT(placement, HasSubstr("w: (Variable): "));
}

TEST(SessionTest, AGradientLiesOnTheDeviceOfItsOp) {
  Graph graph;
  graph.SetDevice("/device:CPU:1");
  const Value w = graph.Variable("w", Shape({2}), Initializer::Constant(1));
  const Value y = graph.Add("Tanh", "y", {w});
  graph.SetDevice("");
  graph.Add("ReduceSum", "loss", {y});
  auto session = Session::Compile(CpuRuntime().Virtual(2), graph, {.loss = "loss"});
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT(OpOf(**session, "gradients/TanhGrad"), HasSubstr("device:CPU:1"));
  EXPECT_THAT(OpOf(**session, "gradients/Expand"), HasSubstr("device:CPU:0"));
}

TEST(SessionTest, DeviceBeyondTheVirtualOnesIsRefused) {
  EXPECT_THAT(Session::Compile(CpuRuntime().Virtual(2), SmallGraph(),
                               {.loss = "loss", .device = "/device:CPU:2"}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("place product (MatMul)"), HasSubstr("/device:CPU:2"),
                             HasSubstr("there is /job:localhost/replica:0/task:0/device:CPU:0, "
                                       "/job:localhost/replica:0/task:0/device:CPU:1"))));
}

// Two devices with memories of their own, as processors of other machines have.
TEST(SessionTest, AllOfItLiesOnOneDevice) {
  class Other : public Device {
   public:
    std::string_view type() const override { return "CPU"; }
    std::string name() const override { return "other"; }
    size_t alignment() const override { return 4096; }
    bool host_sees_memory() const override { return true; }
    absl::StatusOr<Buffer> Allocate(size_t bytes, MemoryKind kind) override {
      allocated += bytes;
      return CpuRuntime().devices[0]->Allocate(bytes, kind);
    }
    std::unique_ptr<Stream> MakeStream() override { return CpuRuntime().devices[0]->MakeStream(); }
    std::unique_ptr<Event> MakeEvent() override { return CpuRuntime().devices[0]->MakeEvent(); }

    size_t allocated = 0;
  } other;
  const Runtime two{{CpuRuntime().devices[0], &other}, CpuRuntime().kernels};
  auto session =
      Session::Compile(two, SmallGraph(), {.loss = "loss", .device = "/device:CPU:1"});
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT(OpOf(**session, "product"), HasSubstr("device:CPU:1"));
  EXPECT_GT(other.allocated, 0u);
  EXPECT_EQ((*session)->memory().arena_bytes % 4096, 0u);

  Graph parted = SmallGraph();
  parted.SetDevice("/device:CPU:1");
  parted.Add("Identity", "kept", {*parted.Find("y")});
  EXPECT_THAT(Session::Compile(two, parted, {.loss = "loss", .fetches = {"kept"}}),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("place kept (Identity)"), HasSubstr("device:CPU:1"),
                             HasSubstr("a session lies on one device"))));
  // Soft placement does not part it.
  EXPECT_THAT(Session::Compile(two, GraphOnAGpu(),
                               {.loss = "loss",
                                .job = "worker",
                                .device = "/device:CPU:1",
                                .soft_placement = true}),
              IsOk());
  EXPECT_THAT(Session::Compile(two, SmallGraph(),
                               {.loss = "loss", .device = "/device:GPU:1", .soft_placement = true}),
              IsOk());
}

TEST(SessionTest, ProgramsBringKernelsOfTheirOwn) {
  OpRegistry ops = StandardOps();
  ASSERT_THAT(ops.Add({.name = "Cube",
                       .infer = [](const OpCall& call) -> absl::StatusOr<std::vector<TensorType>> {
                         return std::vector<TensorType>{call.inputs[0]};
                       },
                       .cost = [](const OpCall&, std::span<const TensorType>) {
                         return OpCost{.flops = 2, .bytes = 8};
                       }}),
              IsOk());
  KernelRegistry kernels;
  kernels.Add("Cube", "CPU", DType::kFloat32, [](const KernelSpec&) -> absl::StatusOr<Kernel> {
    return Kernel{.run =
                      [](const KernelCall& call) {
                        float* scratch = static_cast<float*>(call.scratch);
                        scratch[15] = *call.in(0);
                        *call.out() = scratch[15] * scratch[15] * scratch[15];
                        return absl::OkStatus();
                      },
                  .scratch_bytes = 64};
  });
  const Runtime runtime{CpuRuntime().devices, kernels};
  Graph graph(&ops);
  graph.Add("Cube", "loss", {graph.Input("x", {DType::kFloat32, Shape()})});
  auto session =
      Session::Compile(runtime, graph, {.loss = "loss", .trainable = false});
  ASSERT_THAT(session, IsOk());
  (*session)->FloatInput("x")[0] = 3;
  ASSERT_THAT((*session)->Run(RunKind::kForward), IsOk());
  EXPECT_FLOAT_EQ((*session)->loss(), 27);
}

// A program's own registries, without what merged ops would need.
TEST(SessionTest, NothingIsMergedThatTheProgramHasNoKernelFor) {
  KernelRegistry kernels;
  for (const char* op : {"MatMul", "BiasAdd", "Relu", "Tanh", "Square", "ReduceMean"}) {
    const KernelFactory* const factory = StandardKernels().Find(op, "CPU", DType::kFloat32);
    kernels.Add(op, "CPU", DType::kFloat32, *factory);
  }
  const Runtime runtime{CpuRuntime().devices, kernels};
  Graph graph = SmallGraph();
  graph.Add("Square", "more", {graph.Add("Tanh", "", {*graph.Find("y")})});
  auto session = Session::Compile(
      runtime, graph, {.loss = "loss", .fetches = {"more"}, .trainable = false});
  ASSERT_THAT(session, IsOk());
  EXPECT_THAT((*session)->Run(RunKind::kForward), IsOk());
}

// One moving mean, as batch normalization has it.
Graph MovingGraph() {
  Graph graph;
  const Value x = graph.Input("x", {DType::kFloat32, Shape({Shape::kBatch, 2})});
  const Value scale = graph.Variable("scale", Shape({2}), Initializer::Constant(1));
  const Value offset = graph.Variable("offset", Shape({2}), Initializer::Zeros());
  const Value mean = graph.Variable("mean", Shape({2}), Initializer::Zeros(), false);
  const Value norm = graph.Add("BatchNorm", "norm", {x, scale, offset});
  graph.AddUpdate(
      graph.Add("MovingAverage", "move", {mean, {norm.node, 1}}, {{"decay", 0.75}}));
  graph.Add("ReduceSum", "loss", {norm});
  return graph;
}

TEST(SessionTest, UpdatesAreWrittenToTheirVariablesByTrainingRunsOnly) {
  auto session = Session::Compile(CpuRuntime(), MovingGraph(), {.batch = 2, .loss = "loss"});
  ASSERT_THAT(session, IsOk());
  CHECK((*session)->InitializeVariables(1).ok()) << "initialize";
  Set((*session)->FloatInput("x"), {1, 8, 3, 16});
  ASSERT_THAT((*session)->Run(RunKind::kForward), IsOk());
  EXPECT_THAT((*session)->variable(2).host(), ElementsAre(0, 0));
  ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
  EXPECT_THAT((*session)->variable(2).host(), ElementsAre(0.5f, 3.0f));
  std::vector<float> mine = {2, 12};
  ASSERT_THAT((*session)->UseVariable(2, TensorRef(mine)), IsOk());
  ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
  EXPECT_THAT(mine, ElementsAre(2, 12));
  Set(mine, {0, 0});
  ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
  EXPECT_THAT(mine, ElementsAre(0.5f, 3.0f));
}

TEST(SessionTest, AnUpdateOfAVariableThatIsTrainedIsRefused) {
  Graph graph;
  const Value w = graph.Variable("w", Shape({2}), Initializer::Zeros());
  graph.AddUpdate(graph.Add("MovingAverage", "move", {w, w}, {{"decay", 0.5}}));
  EXPECT_THAT(graph.status(), StatusIs(absl::StatusCode::kInvalidArgument,
                                       AllOf(HasSubstr("move"), HasSubstr("not trainable"))));
}

TEST(SessionTest, RandomNumbersFollowFromSeedLayerAndStep) {
  const auto drop = [](uint64_t seed, int64_t step, const char* name) {
    Graph graph;
    const Value x = graph.Variable("x", Shape({64}), Initializer::Constant(1));
    const Value y = graph.Add("Dropout", name, {x}, {{"rate", 0.5}});
    graph.Add("Identity", "y", {y});
    graph.Add("ReduceSum", "loss", {y});
    auto session =
        Session::Compile(CpuRuntime(), graph, {.loss = "loss", .fetches = {"y"}, .seed = seed});
    CHECK(session.ok()) << session.status().ToString();
    CHECK((*session)->InitializeVariables(1).ok()) << "initialize";
    (*session)->SetStep(step);
    CHECK((*session)->Run(RunKind::kTrain).ok()) << "run";
    const std::span<const float> y_values = (*session)->output("y").host();
    std::vector<float> values(y_values.begin(), y_values.end());
    // What passed forwards passes backwards.
    EXPECT_TRUE(std::ranges::equal(values, (*session)->gradient(0).host()));
    return values;
  };
  const std::vector<float> first = drop(1, 1, "a");
  EXPECT_EQ(drop(1, 1, "a"), first);
  EXPECT_NE(drop(2, 1, "a"), first);
  EXPECT_NE(drop(1, 2, "a"), first);
  EXPECT_NE(drop(1, 1, "b"), first);
}

TEST(SessionTest, BadOptionsAreRefused) {
  EXPECT_THAT(Session::Compile(CpuRuntime(), SmallGraph(), {.batch = 0, .loss = "loss"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("batch size is 0")));
  EXPECT_THAT(Session::Compile(CpuRuntime(), SmallGraph(), {.loss = "los"}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"los\"")));
  EXPECT_THAT(Session::Compile(CpuRuntime(), SmallGraph(), {.loss = "y"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not a float32 scalar")));
  EXPECT_THAT(Session::Compile(CpuRuntime(), SmallGraph(), {.loss = "loss", .fetches = {"z"}}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("\"z\"")));
}

TEST(SessionTest, GraphInErrorIsRefusedWithItsError) {
  Graph graph;
  const Value x = graph.Input("x", {DType::kFloat32, Shape({2, 3})});
  graph.Add("MatMul", "bad", {x, x});
  EXPECT_THAT(Session::Compile(CpuRuntime(), graph, {}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("bad")));
}

TEST(SessionTest, TheFirstNumberThatIsNoneIsNamed) {
  Graph graph;
  const Value x = graph.Input("x", {DType::kFloat32, Shape({Shape::kBatch, 2})});
  const Value w = graph.Variable("w", Shape({2, 1}), Initializer::Constant(1));
  const Value y = graph.Add("MatMul", "y", {x, w});
  const Value squares = graph.Add("Square", "squares", {y});
  graph.Add("ReduceMean", "loss", {squares});
  auto session = Session::Compile(CpuRuntime(), graph, {.batch = 3, .loss = "loss"});
  ASSERT_THAT(session, IsOk());
  CHECK((*session)->InitializeVariables(1).ok()) << "initialize";
  const std::span<float> input = (*session)->FloatInput("x");
  std::ranges::fill(input, 1.0f);
  ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
  EXPECT_EQ((*session)->FirstNonFinite(), "");
  input[4] = 1e30f;
  ASSERT_THAT((*session)->Run(RunKind::kTrain), IsOk());
  EXPECT_EQ((*session)->FirstNonFinite(),
            "op squares (Square): element 2 is infinite, of finite inputs");
  (*session)->variable(0).host()[1] = NAN;
  EXPECT_EQ((*session)->FirstNonFinite(), "variable w: element 1 is NaN");
  input[3] = -INFINITY;
  EXPECT_EQ((*session)->FirstNonFinite(),
            "input x: element 1 is infinite of example 1 of the batch");
}

}  // namespace
}  // namespace taas
