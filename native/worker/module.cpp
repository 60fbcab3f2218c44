// The Python module: registers the machine alone, for tests and comparison, and the station that runs it.
#include "bindings.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_worker, module) {
  module.doc() = "A worker's device in C++: queue, batching, variant choice, batches on a thread of their own.";
  py::module_::import("tidewise.native._engine");  // whose sessions are taken
  tidewise::worker::bind_nouns(module);
  tidewise::worker::bind_machine(module);
  tidewise::worker::bind_engines(module);
  tidewise::worker::bind_station(module);
  tidewise::worker::bind_drive(module);
#ifdef TIDEWISE_FRONT
  tidewise::worker::bind_front(module);
#endif
}
