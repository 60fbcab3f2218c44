// What the binding files share. Only the files named bind_*, graveyard and module.cpp know Python.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "counters.hpp"
#include "machine.hpp"

namespace tidewise::worker {

void bind_nouns(pybind11::module_& module);
void bind_machine(pybind11::module_& module);
void bind_engines(pybind11::module_& module);
void bind_station(pybind11::module_& module);
void bind_drive(pybind11::module_& module);
void bind_front(pybind11::module_& module);  // only where libnghttp2 is

// The policy of these names. Throws py::value_error naming an unknown one.
Policy policy_of(const std::string& rule, const std::string& choice, std::size_t max_queue, double reserve,
                 double linger);
Reason reason_of(const std::string& name);
Model model_of(const pybind11::tuple& model);
pybind11::tuple tuple_of(const Model& model);
Hosted hosted_of(const std::vector<std::shared_ptr<Order>>& switches, const std::vector<pybind11::tuple>& leaving,
                 const std::string& serving);
pybind11::dict dict_of(const Counters& counters);

}  // namespace tidewise::worker
