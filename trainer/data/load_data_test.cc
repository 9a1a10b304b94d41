#include "third_party/json.h"
#include "trainer/data/load_data.h"

#include <array>
#include <cmath>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "operator/base/status_matchers.h"
#include "trainer/data/example.h"
#include "trainer/data/gzip.h"
#include "trainer/data/idx.h"
#include "trainer/data/record_file.h"

namespace taas {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using Code = absl::StatusCode;

class LoadDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = ::testing::TempDir() + "/" +
           ::testing::UnitTest::GetInstance()->current_test_info()->name();
    ASSERT_THAT(files_.MakeDirs(dir_), IsOk());
  }
  void Write(const std::string& name, std::vector<int64_t> shape, const std::string& bytes) {
    ASSERT_THAT(files_.WriteAtomically(dir_ + "/" + name, GzipCompress(EncodeIdx(shape, bytes))),
                IsOk());
  }
  json Spec() {
    Write("x.gz", {3, 1, 2}, "abcdef");
    Write("y.gz", {3}, std::string("\0\1\2", 3));
    Write("tx.gz", {1, 1, 2}, "gh");
    Write("ty.gz", {1}, std::string("\1", 1));
    return {{"format", "idx"},
            {"train", {{"images", dir_ + "/x.gz"}, {"labels", dir_ + "/y.gz"}}},
            {"test", {{"images", dir_ + "/tx.gz"}, {"labels", dir_ + "/ty.gz"}}}};
  }
  PosixFileSystem files_;
  std::string dir_;
};

TEST_F(LoadDataTest, IdxFilesBecomeTrainAndTestSets) {
  const auto sets = LoadData(files_, Spec());
  ASSERT_THAT(sets, IsOk());
  EXPECT_EQ(sets->train.examples(), 3);
  EXPECT_EQ(sets->train.classes(), 3);
  ASSERT_TRUE(sets->test.has_value());
  EXPECT_EQ(sets->test->examples(), 1);
  EXPECT_EQ(sets->test->classes(), 3) << "as many as in training, whatever the test set holds";
  EXPECT_EQ(sets->source, dir_ + "/x.gz");
}

TEST_F(LoadDataTest, SourceIsWhatStandsBesideTheImages) {
  const json spec = Spec();
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/source.txt", "MNIST, downloaded\nmore\n"), IsOk());
  const auto sets = LoadData(files_, spec);
  ASSERT_THAT(sets, IsOk());
  EXPECT_EQ(sets->source, "MNIST, downloaded");
}

TEST_F(LoadDataTest, TestLabelThatTrainingNeverSawIsOutOfRange) {
  const json spec = Spec();
  Write("ty.gz", {1}, "\3");
  EXPECT_THAT(LoadData(files_, spec),
              StatusIs(Code::kInvalidArgument,
                       AllOf(HasSubstr(dir_ + "/ty.gz"), HasSubstr("label 3 of example 0"))));
}

TEST_F(LoadDataTest, TestImagesOfAnotherSizeAreRefused) {
  const json spec = Spec();
  Write("tx.gz", {1, 1, 3}, "ghi");
  EXPECT_THAT(LoadData(files_, spec),
              StatusIs(Code::kInvalidArgument,
                       AllOf(HasSubstr(dir_ + "/tx.gz"), HasSubstr("3 features"))));
}

TEST_F(LoadDataTest, MistakesOfColumnsNameTheirField) {
  struct Case {
    const char* spec;
    const char* text;
  };
  for (const Case& c : {
           Case{R"({"format":"generated","generated":{"pattern":"clicks"}})",
                "data.columns: is missing"},
           Case{R"({"format":"generated","generated":{"pattern":"clicks","features":3},
                    "columns":[{"name":"age","type":"numeric"}]})",
                "data.generated.features: unknown field"},
           Case{R"({"format":"generated","columns":[{"name":"age","type":"numeric"}]})",
                "data.columns: is of pattern clicks only"},
           Case{R"({"format":"csv","train":{"files":["a"]},"columns":[],
                    "csv":{"labelColumn":"y"}})",
                "data.columns: must be a list"},
           Case{R"({"format":"csv","train":{"files":["a"]},
                    "columns":[{"name":"age","type":"numeric"}],
                    "csv":{"labelColumn":"y","columns":["a"]}})",
                "data.csv.columns: must not be there beside data.columns"},
       }) {
    EXPECT_THAT(LoadData(files_, json::parse(c.spec)),
                StatusIs(Code::kInvalidArgument, HasSubstr(c.text)))
        << c.spec;
  }
}

TEST_F(LoadDataTest, EveryMistakeInTheSpecificationNamesItsField) {
  struct Case {
    const char* spec;
    const char* text;
  };
  for (const Case& c : {
           Case{R"([])", "data: must be an object"},
           Case{R"({"format":"parquet"})", "data.format: unknown format \"parquet\""},
           Case{R"({"format":1})", "data.format"},
           Case{R"({})", "data.train: is missing"},
           Case{R"({"trian":{}})", "data.trian: unknown field"},
           Case{R"({"train":{"images":"a"}})", "data.train.labels: is missing"},
           Case{R"({"train":{"images":"","labels":"b"}})", "data.train.images"},
           Case{R"({"train":{"images":"a","labels":"b","x":1}})", "data.train.x: unknown field"},
           Case{R"({"format":"generated","train":{}})", "data.train: unknown field"},
           Case{R"({"format":"generated","generated":{"examples":0}})", "data.generated.examples"},
           Case{R"({"format":"generated","generated":{"classes":1.5}})",
                "data.generated.classes"},
           Case{R"({"format":"generated","generated":{"rows":1}})", "data.generated.rows"},
           Case{R"({"format":"generated","generated":{"pattern":"spots"}})",
                "data.generated.pattern: must be one of centres, waves, clicks"},
           Case{R"({"format":"generated","generated":{"pattern":"waves"}})",
                "data.generated.image: is missing"},
           Case{R"({"format":"generated","generated":{"image":[8,8,1]}})",
                "data.generated.image: is of pattern waves only"},
           Case{R"({"format":"generated","generated":{"pattern":"waves","image":[8,8]}})",
                "data.generated.image: must be height, width and channels"},
           Case{R"({"format":"generated","generated":{"pattern":"waves","image":[8,8,1],
                                                      "features":64}})",
                "data.generated.features: the image decides"},
           Case{R"({"format":"generated","generated":{"pattern":"waves","image":[8,8,1],
                                                      "classes":0}})",
                "data.generated.classes: waves have classes"},
           Case{R"({"classes":3,"train":{}})", "data.classes: unknown field"},
           Case{R"({"format":"cifar10","train":{"images":"a","labels":"b"}})",
                "data.train.images: unknown field"},
           Case{R"({"format":"cifar10","train":{}})", "data.train.files: is missing"},
           Case{R"({"format":"cifar10","train":{"files":"a"}})", "data.train.files: must be a"},
           Case{R"({"format":"cifar10","train":{"files":[""]}})", "data.train.files: must be a"},
           Case{R"({"format":"cifar10","cifar100":{}})", "data.cifar100: unknown field"},
           Case{R"({"format":"cifar100","cifar100":{"labels":"all"}})",
                "data.cifar100.labels: must be one of fine, coarse"},
           Case{R"({"format":"tfrecord"})", "data.tfrecord.label: is missing"},
           Case{R"({"format":"tfrecord","classes":-1})", "data.classes: must be a whole number"},
           Case{R"({"format":"csv"})", "data.csv.labelColumn: is missing"},
           Case{R"({"format":"csv","csv":{"labelColumn":"y","header":1}})", "data.csv.header"},
           Case{R"({"format":"csv","csv":{"labelColumn":"y","delimiter":"ab"}})",
                "data.csv.delimiter: must be one character"},
           Case{R"({"format":"csv","csv":{"labelColumn":"y","columns":[]}})", "data.csv.columns"},
           Case{R"({"format":"csv","csv":{"labelColumn":"y","rows":1}})", "data.csv.rows: unknown"},
           Case{R"({"format":"csv","csv":{"labelColumn":"y"}})", "data.train: is missing"},
           Case{R"({"format":"raw"})", "data.raw.shape: is missing"},
           Case{R"({"train":{"images":"a","labels":"b"},"augment":{"flip":1}})",
                "data.augment.flip: must be true or false"},
           Case{R"({"train":{"images":"a","labels":"b"},"augment":{"crop":{"padding":0}}})",
                "data.augment.crop.padding: must be a whole number from 1"},
           Case{R"({"train":{"images":"a","labels":"b"},"augment":{"turn":1}})",
                "data.augment.turn: unknown field"},
           Case{R"({"format":"generated","augment":{}})", "data.augment: unknown field"},
           Case{R"({"format":"csv","augment":{}})", "data.augment: unknown field"},
           Case{R"({"format":"raw","raw":{"shape":[1],"dtype":"int8"}})", "data.raw.dtype"},
           Case{R"({"format":"raw","raw":{"shape":[1],"labelDtype":"bool"}})",
                "data.raw.labelDtype"},
       }) {
    EXPECT_THAT(LoadData(files_, json::parse(c.spec)),
                StatusIs(Code::kInvalidArgument, HasSubstr(c.text)))
        << c.spec;
  }
}

TEST_F(LoadDataTest, AugmentationIsOfImages) {
  json spec = Spec();
  EXPECT_FALSE(LoadData(files_, spec)->augment.any());
  spec["augment"] = {{"flip", true}};
  auto sets = LoadData(files_, spec);
  ASSERT_THAT(sets, IsOk());
  EXPECT_TRUE(sets->augment.flip);
  EXPECT_EQ(sets->augment.crop_padding, 0);
  spec["augment"] = {{"crop", {{"padding", 1}}}};
  EXPECT_THAT(LoadData(files_, spec),
              StatusIs(Code::kInvalidArgument,
                       HasSubstr("data.augment.crop.padding: must be less than the images' 1")));
  Write("x.gz", {3, 9, 9}, std::string(3 * 81, 'x'));
  spec.erase("test");
  sets = LoadData(files_, spec);
  ASSERT_THAT(sets, IsOk());
  EXPECT_EQ(sets->augment.crop_padding, 1);
  spec["augment"]["crop"] = json::object();
  EXPECT_EQ(LoadData(files_, spec)->augment.crop_padding, 4);
  Write("x.gz", {3, 81}, std::string(3 * 81, 'x'));
  EXPECT_THAT(LoadData(files_, spec),
              StatusIs(Code::kInvalidArgument, HasSubstr("data.augment: the examples are no")));
}

TEST_F(LoadDataTest, GeneratedDataNeedsNoFiles) {
  const auto sets = LoadData(files_, json::parse(R"({"format":"generated","generated":
      {"examples":20,"testExamples":5,"features":4,"classes":3}})"), {.seed = 7});
  ASSERT_THAT(sets, IsOk());
  EXPECT_EQ(sets->train.examples(), 20);
  EXPECT_EQ(sets->train.classes(), 3);
  EXPECT_EQ(sets->test->examples(), 5);
  EXPECT_THAT(sets->source, HasSubstr("seed 7"));
  const auto regression = LoadData(files_, json::parse(R"({"format":"generated","generated":
      {"examples":20,"testExamples":0,"classes":0}})"));
  ASSERT_THAT(regression, IsOk());
  EXPECT_EQ(regression->train.target_width(), 1);
  EXPECT_FALSE(regression->test.has_value());
  const auto waves = LoadData(files_, json::parse(R"({"format":"generated","generated":
      {"examples":20,"pattern":"waves","image":[6,5,2]}})"));
  ASSERT_THAT(waves, IsOk());
  EXPECT_EQ(waves->train.features(), 60);
  EXPECT_EQ(waves->test->image(), (ImageShape{6, 5, 2}));
}

TEST_F(LoadDataTest, RecordsBecomeTrainAndTestSets) {
  const auto write = [&](const std::string& name, int64_t label) {
    ExampleBuilder builder;
    builder.AddBytes("image", "abcd");
    builder.AddInts("label", {&label, 1});
    auto writer = RecordWriter::Open(files_, dir_ + "/" + name);
    ASSERT_THAT(writer, IsOk());
    ASSERT_THAT((*writer)->Append(builder.Take()), IsOk());
    ASSERT_THAT((*writer)->Close(), IsOk());
  };
  write("train-1", 0);
  write("train-2", 1);
  write("test-1", 0);
  json spec = {{"format", "tfrecord"},
               {"train", {{"files", {dir_ + "/train-*"}}}},
               {"test", {{"files", {dir_ + "/test-1"}}}},
               {"tfrecord", json::parse(R"({"label":"label","badRecords":"skip","features":[
                   {"name":"image","dtype":"bytes","decode":"raw","shape":[2,2,1]},
                   {"name":"label","dtype":"int64"}]})")}};
  const auto sets = LoadData(files_, spec);
  ASSERT_THAT(sets, IsOk());
  EXPECT_EQ(sets->train.examples(), 2);
  EXPECT_EQ(sets->train.image(), (ImageShape{2, 2, 1}));
  EXPECT_EQ(sets->test->classes(), 2);
  EXPECT_EQ(sets->source, dir_ + "/train-1 and 1 more");
  std::string text = *files_.ReadAll(dir_ + "/train-2");
  text.resize(text.size() - 1);
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/train-2", text), IsOk());
  const auto skipped = LoadData(files_, spec);
  ASSERT_THAT(skipped, IsOk());
  EXPECT_THAT(skipped->source, HasSubstr("1 damaged records passed over"));
  spec["train"]["files"] = {dir_ + "/none-*"};
  EXPECT_THAT(LoadData(files_, spec), StatusIs(Code::kNotFound, HasSubstr("none-*")));
}

// Symptom: a training whose columns were normalised from then on went on from weights for others.
TEST_F(LoadDataTest, OtherColumnsAreOtherData) {
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/a.csv", "age,y\n30,0\n40,1\n"), IsOk());
  json spec = {{"format", "csv"},
               {"train", {{"files", {dir_ + "/a.csv"}}}},
               {"csv", {{"labelColumn", "y"}}},
               {"columns", json::parse(R"([{"name": "age", "type": "numeric"}])")}};
  const auto identity = [&] {
    const auto sets = LoadData(files_, spec);
    EXPECT_THAT(sets, IsOk());
    return sets.ok() ? sets->identity : "";
  };
  const std::string before = identity();
  EXPECT_THAT(before, HasSubstr(", columns "));
  EXPECT_EQ(identity(), before);
  spec["columns"][0]["normalise"] = {{"scale", 0.1}};
  EXPECT_NE(identity(), before);
}

// Of an evaluation, one would make a loss of NaN.
TEST_F(LoadDataTest, NumbersOfTestDataAreFiniteToo) {
  const auto write = [&](const std::string& name, float number) {
    ExampleBuilder builder;
    builder.AddFloats("x", {&number, 1});
    builder.AddInts("y", std::array<int64_t, 1>{0});
    auto writer = RecordWriter::Open(files_, dir_ + "/" + name);
    ASSERT_THAT(writer, IsOk());
    ASSERT_THAT((*writer)->Append(builder.Take()), IsOk());
    ASSERT_THAT((*writer)->Close(), IsOk());
  };
  write("train", 1);
  write("test", NAN);
  json spec = {{"format", "tfrecord"},
               {"classes", 2},
               {"train", {{"files", {dir_ + "/train"}}}},
               {"test", {{"files", {dir_ + "/test"}}}},
               {"tfrecord", json::parse(R"({"label":"y","features":[
                   {"name":"x","dtype":"float"},{"name":"y","dtype":"int64"}]})")}};
  for (const bool streams : {false, true}) {
    if (streams) spec["streaming"] = json::object();
    EXPECT_THAT(LoadData(files_, spec),
                StatusIs(Code::kInvalidArgument,
                         "read " + dir_ + "/test: record 0 at offset 0: feature \"x\": value 0: "
                         "want a finite number, it is NaN"));
  }
}

// Symptom: one empty part file of Spark or Hive among full ones ended the training.
TEST_F(LoadDataTest, FilesWithoutExamplesCountForNothing) {
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/empty", ""), IsOk());
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/head", "a,y\n"), IsOk());
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/csv", "a,y\n1,0\n2,1\n"), IsOk());
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/text", "some text"), IsOk());
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/cifar", std::string(3073, '\1')), IsOk());
  ExampleBuilder builder;
  const int64_t label = 0;
  builder.AddInts("y", {&label, 1});
  builder.AddInts("x", {&label, 1});
  auto writer = RecordWriter::Open(files_, dir_ + "/records");
  ASSERT_THAT((*writer)->Append(builder.Take()), IsOk());
  ASSERT_THAT((*writer)->Close(), IsOk());
  const std::string records = R"("tfrecord":{"label":"y","features":[
      {"name":"x","dtype":"int64"},{"name":"y","dtype":"int64"}]})";
  struct Case {
    const char* good;
    const char* empty;
    std::string fields;
  };
  const Case cases[] = {
      {"records", "empty", R"("format":"tfrecord","classes":2,)" + records},
      {"records", "empty", R"("format":"tfrecord","classes":2,"streaming":{},)" + records},
      {"csv", "empty", R"("format":"csv","csv":{"labelColumn":"y"})"},
      {"csv", "head", R"("format":"csv","csv":{"labelColumn":"y"})"},
      {"text", "empty", R"("format":"text","text":{"context":4})"},
      {"cifar", "empty", R"("format":"cifar10")"},
  };
  for (const Case& c : cases) {
    json spec = json::parse("{" + c.fields + "}");
    spec["train"]["files"] = {dir_ + "/" + c.good};
    EXPECT_THAT(LoadData(files_, spec), IsOk()) << c.fields;
    spec["train"]["files"].push_back(dir_ + "/" + c.empty);
    testing::internal::CaptureStderr();
    const auto data = LoadData(files_, spec);
    const std::string log = testing::internal::GetCapturedStderr();
    EXPECT_THAT(data, IsOk()) << c.fields;
    EXPECT_THAT(log, HasSubstr("files without examples count for nothing")) << c.fields;
    EXPECT_THAT(log, HasSubstr("1 of 2")) << c.fields;
    spec["train"]["files"] = {dir_ + "/" + c.empty, dir_ + "/" + c.empty};
    EXPECT_THAT(LoadData(files_, spec),
                StatusIs(Code::kInvalidArgument,
                         HasSubstr("read " + dir_ + "/" + c.empty + ": it has no examples, nor")))
        << c.fields;
  }
}

TEST_F(LoadDataTest, EachOtherFormatIsRead) {
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/cifar", "\x01\x02" + std::string(3072, 'x')), IsOk());
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/csv", "1;2;0.5\n3;4;1\n"), IsOk());
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/x", "abcdef"), IsOk());
  ASSERT_THAT(files_.WriteAtomically(dir_ + "/y", std::string("\0\1", 2)), IsOk());
  const auto spec = [&](std::string text) {
    for (size_t at; (at = text.find("DIR")) != std::string::npos;) text.replace(at, 3, dir_);
    return json::parse(text);
  };
  const auto fine =
      LoadData(files_, spec(R"({"format":"cifar100","train":{"files":["DIR/cifar"]}})"));
  ASSERT_THAT(fine, IsOk());
  EXPECT_EQ(fine->train.labels()[0], 2);
  const auto coarse = LoadData(files_, spec(R"({"format":"cifar100",
      "train":{"files":["DIR/cifar"]},"cifar100":{"labels":"coarse"}})"));
  ASSERT_THAT(coarse, IsOk());
  EXPECT_EQ(coarse->train.labels()[0], 1);
  EXPECT_THAT(LoadData(files_, spec(R"({"format":"cifar10","train":{"files":["DIR/cifar"]}})")),
              StatusIs(Code::kDataLoss, HasSubstr("record 1"))) << "it is of CIFAR-100";
  const auto csv = LoadData(files_, spec(R"({"format":"csv","classes":0,
      "train":{"files":["DIR/csv"]},"test":{"files":["DIR/csv"]},
      "csv":{"header":false,"delimiter":";","labelColumn":"2","columns":["1"]}})"));
  ASSERT_THAT(csv, IsOk());
  EXPECT_EQ(csv->train.features(), 1);
  EXPECT_EQ(csv->test->target_width(), 1);
  const auto raw = LoadData(files_, spec(R"({"format":"raw","classes":7,
      "train":{"images":"DIR/x","labels":"DIR/y"},"raw":{"shape":[3]}})"));
  ASSERT_THAT(raw, IsOk());
  EXPECT_EQ(raw->train.classes(), 7);
  EXPECT_EQ(raw->train.features(), 3);
}

}  // namespace
}  // namespace taas
