#include "admission.hpp"

#include <algorithm>

namespace tidewise::worker {
namespace {

const Device* find_device(const Devices& devices, const std::string* worker) {
  if (worker == nullptr) return devices.size() == 1 ? &devices.begin()->second : nullptr;
  const auto found = devices.find(*worker);
  return found == devices.end() ? nullptr : &found->second;
}

bool find_pin(const Known& application, std::string_view version, std::string& pin) {
  if (version.empty()) return true;
  for (const auto& [name, number] : application.variants) {
    if (version != name && version != number) continue;
    pin = name;
    return true;
  }
  return false;
}

// Any byte but 0 is true, but only 0 and 1 are defined.
bool is_sound(const Spec& spec, std::string_view raw) {
  return spec.type != Type::kBool || std::all_of(raw.begin(), raw.end(), [](char one) { return one == 0 || one == 1; });
}

bool take_input(const Known& application, const Request::Tensor& tensor, std::string_view raw, Caller& caller) {
  const auto spec = std::find_if(application.inputs.begin(), application.inputs.end(),
                                 [&](const Spec& one) { return one.name == tensor.name; });
  if (spec == application.inputs.end() || tensor.datatype != spec->datatype || !spec->accepts(tensor.shape)) return false;
  for (const Input& other : caller.inputs)
    if (other.name == spec->name) return false;
  std::size_t bytes = item_size(spec->type);
  for (const std::int64_t axis : tensor.shape)
    if (__builtin_mul_overflow(bytes, std::size_t(axis), &bytes)) return false;
  if (raw.size() != bytes || !is_sound(*spec, raw)) return false;
  if (!caller.inputs.empty() && caller.inputs.front().rows() != tensor.shape.front()) return false;
  caller.inputs.push_back({spec->name, spec->type, tensor.shape, raw.data()});
  return true;
}

bool take_outputs(const Known& application, const Request& request, Caller& caller) {
  for (const std::string_view name : request.outputs) {
    const bool known = std::any_of(application.outputs.begin(), application.outputs.end(),
                                   [name](const Spec& one) { return one.name == name; });
    const bool twice = std::find(caller.outputs.begin(), caller.outputs.end(), name) != caller.outputs.end();
    if (!known || twice) return false;
    caller.outputs.emplace_back(name);
  }
  if (caller.outputs.empty())
    for (const Spec& one : application.outputs) caller.outputs.push_back(one.name);
  return true;
}

// The trailing shapes of the inputs with a free axis, in the application's order.
std::vector<Shape> free_shapes(const Known& application, const Caller& caller) {
  std::vector<Shape> shapes;
  for (const Spec& spec : application.inputs)
    if (spec.is_free())
      for (const Input& input : caller.inputs)
        if (input.name == spec.name) shapes.emplace_back(input.shape.begin() + 1, input.shape.end());
  return shapes;
}

}  // namespace

std::optional<Admitted> admit(const Devices& devices, const Catalogue& catalogue, const Request& request,
                              const std::string* worker, Caller& caller) {
  const Device* device = find_device(devices, worker);
  const Known* application = catalogue.find(request.name);
  if (device == nullptr || application == nullptr || !find_pin(*application, request.version, caller.lane.pin)) return {};
  const std::size_t count = request.inputs.size();
  if (count != application->inputs.size() || count != request.raw.size() || count == 0) return {};
  for (std::size_t place = 0; place < count; ++place)
    if (!take_input(*application, request.inputs[place], request.raw[place], caller)) return {};
  if (!take_outputs(*application, request, caller)) return {};
  caller.lane.application = application->name;
  caller.lane.shapes = free_shapes(*application, caller);
  caller.rows = caller.inputs.front().rows();
  return Admitted{device, application, std::min(application->slo, request.budget.value_or(kNever))};
}

}  // namespace tidewise::worker
