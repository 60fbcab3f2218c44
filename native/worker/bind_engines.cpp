#include <pybind11/numpy.h>

#include <cstring>
#include <stdexcept>

#include "../engine/arrays.hpp"
#include "bindings.hpp"
#include "engine.hpp"
#include "graveyard.hpp"

namespace py = pybind11;

namespace tidewise::worker {
namespace {

// A session that only Python knows: called with {name: array} and names, it gives arrays in that order, or a sentence.
class PythonEngine : public Engine {
 public:
  explicit PythonEngine(py::object run) : run_(kept(std::move(run))) {}

  std::vector<Tensor> run(const std::vector<TensorView>& inputs, std::int64_t,
                          const std::vector<std::string>& outputs) override {
    const py::gil_scoped_acquire acquired;
    try {
      return call(inputs, outputs);
    } catch (const py::error_already_set& error) {  // must not leave with the interpreter lock gone
      throw std::runtime_error(error.what());
    }
  }

 private:
  std::vector<Tensor> call(const std::vector<TensorView>& inputs, const std::vector<std::string>& outputs) {
    bury_dead();
    py::dict given;
    for (const TensorView& view : inputs) given[py::str(view.name)] = copied(view);
    const py::handle run(static_cast<PyObject*>(const_cast<void*>(run_.get())));
    py::object found = run(given, outputs);
    if (py::isinstance<py::str>(found)) throw std::runtime_error(found.cast<std::string>());
    std::vector<Tensor> tensors;
    for (const py::handle one : found) {
      auto array = py::array::ensure(one, py::array::c_style);
      Tensor tensor{nullptr, type_of(outputs[tensors.size()], array.dtype()), {}, static_cast<const char*>(array.data())};
      tensor.shape.assign(array.shape(), array.shape() + array.ndim());
      tensor.owner = kept(std::move(array));
      tensors.push_back(std::move(tensor));
    }
    return tensors;
  }

  static py::array copied(const TensorView& view) {
    const std::vector<py::ssize_t> shape(view.shape.begin(), view.shape.end());
    py::array array(dtype_of(view.name, view.type), shape);
    std::memcpy(array.mutable_data(), view.data, view.bytes);
    return array;
  }

  std::shared_ptr<const void> run_;
};

using Specs = std::vector<std::tuple<std::string, py::dtype, Shape>>;

std::vector<ZeroEngine::Spec> specs_of(const Specs& specs) {
  std::vector<ZeroEngine::Spec> found;
  for (const auto& [name, dtype, shape] : specs) found.push_back({name, type_of(name, dtype), shape});
  return found;
}

}  // namespace

void bind_engines(py::module_& module) {
  py::class_<Engine, std::shared_ptr<Engine>>(module, "Engine", "What runs batches on one loaded variant.");
  module.def("ort_engine", [](std::shared_ptr<Session> session) -> std::shared_ptr<Engine> {
    return std::make_shared<OrtEngine>(std::move(session));
  }, py::arg("session"));
  module.def("paced_engine", [](std::shared_ptr<Engine> engine, std::vector<double> medians) -> std::shared_ptr<Engine> {
    return std::make_shared<PacedEngine>(std::move(engine), std::move(medians));
  }, py::arg("engine"), py::arg("medians"));
  module.def("zero_engine", [](const Specs& inputs, const Specs& outputs) -> std::shared_ptr<Engine> {
    return std::make_shared<ZeroEngine>(specs_of(inputs), specs_of(outputs));
  }, py::arg("inputs"), py::arg("outputs"));
  module.def("python_engine", [](py::object run) -> std::shared_ptr<Engine> {
    return std::make_shared<PythonEngine>(std::move(run));
  }, py::arg("run"));
}

}  // namespace tidewise::worker
