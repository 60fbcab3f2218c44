#include "catalogue.hpp"

#include <algorithm>

namespace tidewise::worker {

bool Spec::is_free() const { return std::find(shape.begin(), shape.end(), -1) != shape.end(); }

bool Spec::accepts(const Shape& given) const {
  if (given.size() != shape.size() + 1 || given[0] < 1) return false;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if ((shape[axis] != -1 && shape[axis] != given[axis + 1]) || given[axis + 1] < 0) return false;
  return true;
}

const char* datatype_name(Type type) {
  switch (type) {
    case Type::kBool: return "BOOL";
    case Type::kUint8: return "UINT8";
    case Type::kUint16: return "UINT16";
    case Type::kUint32: return "UINT32";
    case Type::kUint64: return "UINT64";
    case Type::kInt8: return "INT8";
    case Type::kInt16: return "INT16";
    case Type::kInt32: return "INT32";
    case Type::kInt64: return "INT64";
    case Type::kFloat16: return "FP16";
    case Type::kFloat32: return "FP32";
    case Type::kFloat64: return "FP64";
  }
  return "";
}

}  // namespace tidewise::worker
