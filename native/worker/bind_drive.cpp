#include "../engine/arrays.hpp"
#include "bindings.hpp"
#include "drive.hpp"

namespace py = pybind11;

namespace tidewise::worker {
namespace {

// Seconds for `count` queries in a closed loop; see Drive.
double drive(Station& station, const std::string& application, const std::vector<py::dict>& queries,
             std::vector<std::string> outputs, std::size_t count, std::size_t window) {
  std::vector<tidewise::Inputs> read;
  std::vector<std::vector<Input>> inputs;
  for (const py::dict& one : queries) {
    read.push_back(read_inputs(one));
    inputs.emplace_back();
    for (const TensorView& view : read.back().views)
      inputs.back().push_back({view.name, view.type, view.shape, static_cast<const char*>(view.data)});
  }
  Drive driven(station, application, std::move(inputs), std::move(outputs));
  const py::gil_scoped_release released;
  return driven.run(count, window);
}

}  // namespace

void bind_drive(py::module_& module) {
  module.def("drive", &drive, py::arg("station"), py::arg("application"), py::arg("queries"), py::arg("outputs"),
             py::arg("count"), py::arg("window"), "Seconds for so many queries in a closed loop, for measurements.");
}

}  // namespace tidewise::worker
