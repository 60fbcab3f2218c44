// The planner's core for Python: numbers in, numbers out. Only this file knows Python.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "kernel.hpp"

namespace py = pybind11;
using namespace tidewise::planner;

PYBIND11_MODULE(_planner, module) {
  module.doc() = "Exact decomposition of the allocation problem by application, and local search.";

  py::class_<Priced>(module, "Priced", "What every application would use at given prices of the devices.")
      .def_readonly("bound", &Priced::bound, "Upper bound on the objective.")
      .def_readonly("use", &Priced::use, "Devices of each type, by application.")
      .def_readonly("values", &Priced::values, "Objective of each application's column, before the devices' price.")
      .def_readonly("hostings", &Priced::hostings, "Devices per pair.")
      .def_readonly("found", &Priced::found, "Whether each application has a column at all.")
      .def_readonly("nodes", &Priced::nodes, "Search nodes visited.");

  py::class_<Joint>(module, "Joint", "The best join of enumerated columns.")
      .def_readonly("found", &Joint::found)
      .def_readonly("loss", &Joint::loss, "Bound less the objective.")
      .def_readonly("counts", &Joint::counts, "Devices per pair.")
      .def_readonly("dropped", &Joint::dropped, "Every join of less loss was looked at.")
      .def_readonly("states", &Joint::states);

  py::class_<Kernel>(module, "Kernel", "One problem, priced, enumerated, joined and locally improved.")
      .def(py::init<std::vector<int>, std::vector<double>, std::vector<double>, std::vector<double>, std::vector<int>,
                    std::vector<int>, std::vector<int>, std::vector<double>, std::vector<double>, std::vector<int>,
                    double>(),
           py::arg("devices"), py::arg("demand"), py::arg("least"), py::arg("floor"), py::arg("replicas"), py::arg("start"),
           py::arg("pair_type"), py::arg("capacity"), py::arg("worth"), py::arg("current"), py::arg("swap_cost"))
      .def_property_readonly("joinable", &Kernel::joinable, "Whether device vectors fit the join.")
      .def("price", &Kernel::price, py::arg("prices"), py::arg("most_nodes"), py::call_guard<py::gil_scoped_release>())
      .def("enumerate", &Kernel::enumerate, py::arg("excess"), py::arg("most_columns"), py::arg("most_nodes"),
           py::call_guard<py::gil_scoped_release>(), "Columns at the last prices; how far they are complete.")
      .def_property_readonly("columns", &Kernel::columns, "How many columns each application has.")
      .def("join", &Kernel::join, py::arg("limit"), py::arg("beam"), py::call_guard<py::gil_scoped_release>())
      .def("improve", &Kernel::improve, py::arg("counts"), py::arg("targets"), py::arg("charges"), py::arg("most"),
           py::call_guard<py::gil_scoped_release>(), "Counts after local search.");
}
