// The Python module: registers one class. The interpreter lock is released around everything that may take time.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "session.hpp"

namespace py = pybind11;
using tidewise::Library;
using tidewise::Session;

namespace {

std::unique_ptr<Session> load(const std::string& library, const std::string& model, int threads) {
  return std::make_unique<Session>(Library::open(library), model, threads);
}

py::dict run(Session& session, const py::dict& inputs, const std::vector<std::string>& outputs) {
  const tidewise::Inputs read = tidewise::read_inputs(inputs);
  std::vector<tidewise::OwnedTensor> tensors;
  {
    py::gil_scoped_release released;
    tensors = session.run(read.views, outputs);
  }
  py::dict answer;
  for (std::size_t index = 0; index < outputs.size(); ++index)
    answer[py::str(outputs[index])] = tidewise::to_array(outputs[index], std::move(tensors[index]));
  return answer;
}

}  // namespace

PYBIND11_MODULE(_engine, module) {
  py::register_exception<tidewise::OrtError>(module, "OrtError", PyExc_RuntimeError);
  module.def(
      "version", [](const std::string& library) { return Library::open(library).version(); }, py::arg("library"),
      py::call_guard<py::gil_scoped_release>());
  py::class_<Session, std::shared_ptr<Session>>(module, "Session")
      .def(py::init(&load), py::arg("library"), py::arg("model"), py::arg("threads"),
           py::call_guard<py::gil_scoped_release>())
      .def("run", &run, py::arg("inputs"), py::arg("outputs"))
      .def("close", &Session::close, py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("inputs", &Session::inputs)
      .def_property_readonly("outputs", &Session::outputs);
}
