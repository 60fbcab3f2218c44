// Any bytes as a query: what is admitted points into those bytes and nowhere else.
#include <cstdlib>

#include "../front/admission.hpp"

using namespace tidewise::worker;

namespace {

struct World {
  Catalogue catalogue;
  Devices devices;

  World() {
    Known& pets = catalogue.applications["pets"];
    pets = {"pets", 1.0, {{"x", "FP32", Type::kFloat32, {2}}, {"m", "BOOL", Type::kBool, {-1}}},
            {{"y", "FP32", Type::kFloat32, {1}}, {"z", "FP32", Type::kFloat32, {1}}}, {{"small", "1"}}};
    devices["w0"] = {nullptr, "any"};
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const World world;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto request = read_request(bytes);
  if (!request) return 0;
  Caller caller;
  const auto admitted = admit(world.devices, world.catalogue, *request, nullptr, caller);
  if (!admitted) return 0;
  for (const Input& input : caller.inputs) {
    const std::size_t length = std::size_t(input.rows()) * input.row_bytes();
    if (input.data < bytes.data() || input.data + length > bytes.data() + size) std::abort();
  }
  if (caller.rows < 1 || caller.outputs.empty() || !(admitted->budget > 0)) std::abort();
  return 0;
}
