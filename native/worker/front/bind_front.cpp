#include <pybind11/numpy.h>

#include "../../engine/arrays.hpp"
#include "../bindings.hpp"
#include "../gil.hpp"
#include "front.hpp"

namespace py = pybind11;

namespace tidewise::worker {
namespace {

using SpecTuple = std::tuple<std::string, std::string, py::dtype, Shape>;  // name, datatype, dtype, shape of one row
using KnownTuple = std::tuple<std::string, double, std::vector<SpecTuple>, std::vector<SpecTuple>,
                              std::vector<std::pair<std::string, std::string>>>;

std::vector<Spec> specs_of(const std::vector<SpecTuple>& tuples) {
  std::vector<Spec> specs;
  for (const auto& [name, datatype, dtype, shape] : tuples)
    specs.push_back({name, datatype, type_of(name, dtype), shape});
  return specs;
}

void know(Front& front, const std::vector<KnownTuple>& applications) {
  auto catalogue = std::make_shared<Catalogue>();
  for (const auto& [name, slo, inputs, outputs, variants] : applications)
    catalogue->applications[name] = {name, slo, specs_of(inputs), specs_of(outputs), variants};
  front.know(std::move(catalogue));
}

std::shared_ptr<Front> make_front(int listener, const std::string& python,
                                  const std::map<std::string, std::pair<std::shared_ptr<Station>, std::string>>& named,
                                  std::size_t max_message, std::vector<double> bounds) {
  Devices devices;
  for (const auto& [name, device] : named) devices[name] = {device.first, device.second};
  return released_without_lock(new Front(listener, python, std::move(devices), max_message, std::move(bounds)));
}

py::tuple histogram(const Histogram& one) { return py::make_tuple(one.counts, one.total); }

py::dict read(Front& front) {
  using namespace py::literals;
  const FrontTally::Reading found = front.tally().read();
  py::dict answered, lost, stages;
  for (const auto& [key, count] : found.answered) answered[py::make_tuple(key.first, key.second)] = count;
  for (const auto& [key, count] : found.lost) lost[py::make_tuple(key.first, kReasons[int(key.second)])] = count;
  for (const auto& [key, one] : found.stages)
    stages[py::make_tuple(std::get<0>(key), std::get<1>(key), std::get<2>(key))] =
        py::make_tuple(histogram(one[kTotal]), histogram(one[kQueue]), histogram(one[kBatch]),
                       histogram(one[kCompute]), histogram(one[kReply]));
  return py::dict("answered"_a = answered, "lost"_a = lost, "stages"_a = stages);
}

py::tuple take_losses(Front& front) {
  const FrontTally::Losses losses = front.tally().take_losses();
  py::list told;
  py::dict untold;
  for (const Loss& one : losses.told)
    told.append(py::make_tuple(one.application, kReasons[int(one.reason)], one.sentence, one.request_id, one.query_id,
                               one.worker, one.traceparent));
  for (const auto& [key, count] : losses.untold) untold[py::make_tuple(key.first, kReasons[int(key.second)])] = count;
  return py::make_tuple(told, untold);
}

}  // namespace

void bind_front(py::module_& module) {
  py::class_<Front, std::shared_ptr<Front>>(module, "Front", "The process's door for queries.")
      .def(py::init(&make_front), py::arg("listener"), py::arg("python"), py::arg("devices"), py::arg("max_message"),
           py::arg("bounds"))
      .def("know", &know, py::arg("applications"))
      .def("drain", &Front::drain)
      .def("close", &Front::close, py::call_guard<py::gil_scoped_release>())
      .def("read", &read)
      .def("take_losses", &take_losses)
      .def_property_readonly("connections", &Front::connections);
}

}  // namespace tidewise::worker
