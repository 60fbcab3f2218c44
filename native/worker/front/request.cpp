#include "request.hpp"

#include <cmath>
#include <cstring>

#include "../../router/wire.hpp"
#include "../../router/wording.hpp"

namespace tidewise::worker {
namespace {

using router::Field;
using router::WireError;
using router::WireReader;

constexpr unsigned kVarint = 0, kFixed = 1, kBytes = 2;
constexpr std::size_t kMostAxes = 32;

// Walk over a message's fields; false as soon as one cannot be read or `take` does not want it.
template <typename Take>
bool each_field(std::string_view bytes, Take take) {
  for (WireReader reader(bytes); !reader.at_end();) {
    Field field;
    if (reader.next(field) != WireError::none || !take(field)) return false;
  }
  return true;
}

// A text field that has not been set before; protobuf would take the last of several.
bool take_text(const Field& field, std::string_view& text) {
  if (field.type != kBytes || !text.empty() || !router::is_utf8(field.bytes)) return false;
  text = field.bytes;
  return true;
}

bool take_shape(const Field& field, Shape& shape) {
  if (field.type == kVarint) shape.push_back(std::int64_t(field.value));
  if (field.type == kVarint) return shape.size() <= kMostAxes;
  if (field.type != kBytes) return false;
  // Packed: bare varints, which read like the values of fields do once each is given a key.
  std::uint64_t value = 0;
  unsigned shift = 0;
  for (const char one : field.bytes) {
    const auto byte = static_cast<unsigned char>(one);
    if (shift > 63) return false;
    value |= std::uint64_t(byte & 0x7f) << shift;
    shift += 7;
    if (byte & 0x80) continue;
    shape.push_back(std::int64_t(value));
    value = shift = 0;
    if (shape.size() > kMostAxes) return false;
  }
  return shift == 0;
}

bool take_input(const Field& field, std::vector<Request::Tensor>& inputs) {
  if (field.type != kBytes) return false;
  Request::Tensor tensor;
  const bool usual = each_field(field.bytes, [&](const Field& inner) {
    switch (inner.number) {
      case 1: return take_text(inner, tensor.name);
      case 2: return take_text(inner, tensor.datatype);
      case 3: return take_shape(inner, tensor.shape);
      default: return false;  // parameters, typed contents
    }
  });
  if (usual) inputs.push_back(std::move(tensor));
  return usual;
}

bool take_output(const Field& field, std::vector<std::string_view>& outputs) {
  if (field.type != kBytes) return false;
  std::string_view name;
  const bool usual = each_field(field.bytes, [&](const Field& inner) { return inner.number == 1 && take_text(inner, name); });
  if (usual) outputs.push_back(name);
  return usual;
}

// The seconds of a deadline_ms parameter; every other parameter is unusual.
bool take_parameter(const Field& field, std::optional<double>& budget) {
  if (field.type != kBytes || budget) return false;
  std::string_view key;
  double milliseconds = std::nan("");
  const bool usual = each_field(field.bytes, [&](const Field& inner) {
    if (inner.number == 1) return take_text(inner, key);
    if (inner.number != 2 || inner.type != kBytes) return false;
    return each_field(inner.bytes, [&](const Field& choice) {
      if (choice.number == 2 && choice.type == kVarint) milliseconds = double(std::int64_t(choice.value));
      if (choice.number == 5 && choice.type == kVarint) milliseconds = double(choice.value);
      if (choice.number == 4 && choice.type == kFixed) std::memcpy(&milliseconds, &choice.value, sizeof milliseconds);
      return true;
    });
  });
  if (!usual || key != "deadline_ms" || !std::isfinite(milliseconds) || milliseconds <= 0) return false;
  budget = milliseconds / 1e3;
  return true;
}

}  // namespace

std::optional<Request> read_request(std::string_view bytes) {
  Request request;
  const bool usual = each_field(bytes, [&](const Field& field) {
    switch (field.number) {
      case 1: return take_text(field, request.name);
      case 2: return take_text(field, request.version);
      case 3: return take_text(field, request.id);
      case 4: return take_parameter(field, request.budget);
      case 5: return take_input(field, request.inputs);
      case 6: return take_output(field, request.outputs);
      case 7: request.raw.push_back(field.bytes); return field.type == kBytes;
      default: return false;
    }
  });
  if (!usual) return std::nullopt;
  return request;
}

}  // namespace tidewise::worker
