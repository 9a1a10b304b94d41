#include "trainer/graph/step_block.h"

namespace taas {

std::string FaultText(const Fault& fault) {
  const std::string at = std::to_string(fault.at);
  const auto whole = [&fault] { return std::to_string(static_cast<int64_t>(fault.value)); };
  const std::string bound = std::to_string(fault.bound);
  switch (fault.kind) {
    case Fault::Kind::kNone:
      return "";
    case Fault::Kind::kLabel:
      return "the label of row " + at + " is " + whole() + ", the model has " + bound +
             " classes from 0";
    case Fault::Kind::kId:
      return "id " + whole() + " at " + at + " is out of range, the table has " + bound + " rows";
    case Fault::Kind::kFraction:
      return "element " + at + " is " + std::to_string(fault.value) + ", not a whole number";
    case Fault::Kind::kLoss:
      return "the loss is " + std::to_string(fault.value);
  }
  return "";
}

}  // namespace taas
