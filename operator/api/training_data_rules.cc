#include "operator/api/training_data_rules.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace taas {
namespace {

using Json = nlohmann::json;
using Predicate = RuleTwin::Predicate;

Predicate OnlyOf(const char* format, const char* field) {
  return [format, field](const Json& self, const Json*) {
    return ValueAt(self, {"format"}) == format || !self.contains(field);
  };
}

Predicate JustOf(const char* format) {
  return [format](const Json& self, const Json*) {
    return (ValueAt(self, {"format"}) == format) == self.contains(format);
  };
}

bool IsGenerated(const Json& data) { return ValueAt(data, {"format"}) == "generated"; }

bool IsOneOf(const Json& value, std::initializer_list<const char*> texts) {
  return std::any_of(texts.begin(), texts.end(), [&](const char* text) { return value == text; });
}

Predicate FilesOfFormat(const char* set) {
  return [set](const Json& self, const Json*) {
    return IsGenerated(self) || !self.contains(set) ||
           self[set].contains("files") ==
               IsOneOf(ValueAt(self, {"format"}),
                       {"cifar10", "cifar100", "tfrecord", "csv", "text"});
  };
}

Predicate Needs(const char* field, const char* other) {
  return [field, other](const Json& self, const Json*) {
    return self.contains(other) || !self.contains(field);
  };
}

std::vector<RuleTwin> FileRules(const std::string& at) {
  return {
      {at, "images need labels", ".labels", Needs("images", "labels")},
      {at, "labels need images", ".images", Needs("labels", "images")},
      {at, "has either images and labels or files", "",
       [](const Json& self, const Json*) {
         return self.contains("files") != (self.contains("images") || self.contains("labels"));
       }},
  };
}

bool LabelIsAFeature(const Json& self, const Json*) {
  const Json& features = ValueAt(self, {"features"});
  return std::any_of(features.begin(), features.end(), [&](const Json& feature) {
    return ValueAt(feature, {"name"}) == ValueAt(self, {"label"});
  });
}

// What is streamed is not read through to count its classes.
bool StreamsWithClasses(const Json& self, const Json*) {
  if (!self.contains("streaming") || !self.contains("tfrecord") || self.contains("classes")) {
    return true;
  }
  const Json& features = ValueAt(self, {"tfrecord", "features"});
  return std::any_of(features.begin(), features.end(), [&](const Json& feature) {
    return ValueAt(feature, {"name"}) == ValueAt(self, {"tfrecord", "label"}) &&
           (ValueAt(feature, {"dtype"}) == "float" || ValueAt(feature, {"rawDtype"}) == "float32");
  });
}

std::vector<RuleTwin> RecordRules() {
  const std::string at = "spec.trainer.data.tfrecord";
  return {
      {at, "is none of the features", ".label", LabelIsAFeature},
      {at + ".features[]", "bytes needs decode, raw or text; other types take none", ".decode",
       [](const Json& self, const Json*) {
         return (ValueAt(self, {"dtype"}) == "bytes") == self.contains("decode");
       }},
      {at + ".features[]", "is of decode raw only", ".rawDtype",
       [](const Json& self, const Json*) {
         return ValueAt(self, {"decode"}) == "raw" || !self.contains("rawDtype");
       }},
      {at + ".features[]", "VarLen needs the shape of the most values", ".shape",
       [](const Json& self, const Json*) {
         return self.contains("shape") || ValueAt(self, {"kind"}) != "VarLen";
       }},
  };
}

// The field is there if the column is of one of the types, and only then.
RuleTwin ColumnHas(const char* field, const char* message, std::vector<std::string> types) {
  return {"spec.trainer.data.columns[]", message, std::string(".") + field,
          [field, types = std::move(types)](const Json& self, const Json*) {
            const Json& type = ValueAt(self, {"type"});
            const auto named = std::ranges::find_if(
                types, [&](const std::string& one) { return type == one; });
            return (named != types.end()) == self.contains(field);
          }};
}

RuleTwin ColumnMayHave(const char* field, const char* message, const char* type, bool may) {
  return {"spec.trainer.data.columns[]", message, std::string(".") + field,
          [=](const Json& self, const Json*) {
            return (ValueAt(self, {"type"}) == type) == may || !self.contains(field);
          }};
}

std::vector<RuleTwin> ColumnRules() {
  return {
      ColumnHas("sources", "a crossed column has sources, and no other has", {"crossed"}),
      ColumnMayHave("source", "a crossed column has sources instead", "crossed", false),
      ColumnMayHave("default", "a crossed column has none", "crossed", false),
      ColumnHas("buckets", "identity, hashed and crossed columns have them, and no other has",
                {"identity", "hashed", "crossed"}),
      ColumnHas("boundaries", "a bucketized column has them, and no other has", {"bucketized"}),
      ColumnHas("values", "a vocabulary column has them, and no other has", {"vocabulary"}),
      ColumnMayHave("oovBuckets", "is of a vocabulary column only", "vocabulary", true),
      ColumnMayHave("normalise", "is of a numeric column only", "numeric", true),
  };
}

std::vector<RuleTwin> DataRules() {
  const std::string at = "spec.trainer.data";
  const std::string files = "formats idx and raw have images and labels, the others files";
  const std::string just = " needs these options, and no other takes them";
  return {
      {at, "all formats but generated need the files to train on", ".train",
       [](const Json& self, const Json*) { return IsGenerated(self) || self.contains("train"); }},
      {at, "format generated reads no files", ".train",
       [](const Json& self, const Json*) {
         return !IsGenerated(self) || !(self.contains("train") || self.contains("test"));
       }},
      {at, files, ".train", FilesOfFormat("train")},
      {at, files, ".test", FilesOfFormat("test")},
      {at, "is of formats tfrecord, csv and raw only", ".classes",
       [](const Json& self, const Json*) {
         return IsOneOf(ValueAt(self, {"format"}), {"tfrecord", "csv", "raw"}) ||
                !self.contains("classes");
       }},
      {at, "is of images, which this format does not have", ".augment",
       [](const Json& self, const Json*) {
         return !IsOneOf(ValueAt(self, {"format"}), {"generated", "csv", "text"}) ||
                !self.contains("augment");
       }},
      {at, "only format tfrecord can be streamed", ".streaming", OnlyOf("tfrecord", "streaming")},
      {at, "what is streamed is not compressed", ".streaming",
       [](const Json& self, const Json*) {
         return !self.contains("streaming") ||
                !IsOneOf(ValueAt(self, {"tfrecord", "compression"}), {"gzip", "zlib"});
       }},
      {at, "must be given for data that is streamed, unless the label is a float", ".classes",
       StreamsWithClasses},
      {at, "is of formats tfrecord, csv and generated only", ".columns",
       [](const Json& self, const Json*) {
         return IsOneOf(ValueAt(self, {"format"}), {"tfrecord", "csv", "generated"}) ||
                !self.contains("columns");
       }},
      {at, "must not be there beside data.columns, which says all", ".csv.columns",
       [](const Json& self, const Json*) {
         return !self.contains("columns") || !ValueAt(self, {"csv"}).contains("columns");
       }},
      {at, "generated data of pattern clicks needs columns, and of the others has none", ".columns",
       [](const Json& self, const Json*) {
         return !IsGenerated(self) || self.contains("columns") ==
                                          (ValueAt(self, {"generated", "pattern"}) == "clicks");
       }},
      {at, "only format generated takes these options", ".generated",
       OnlyOf("generated", "generated")},
      {at, "only format cifar100 takes these options", ".cifar100",
       OnlyOf("cifar100", "cifar100")},
      {at, "only format text takes these options", ".text", OnlyOf("text", "text")},
      {at, "format tfrecord" + just, ".tfrecord", JustOf("tfrecord")},
      {at, "format csv" + just, ".csv", JustOf("csv")},
      {at, "format raw" + just, ".raw", JustOf("raw")},
  };
}

}  // namespace

std::vector<RuleTwin> TrainingDataRules() {
  std::vector<RuleTwin> all = DataRules();
  for (const auto& part : {RecordRules(), ColumnRules(), FileRules("spec.trainer.data.train"),
                           FileRules("spec.trainer.data.test")}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace taas
