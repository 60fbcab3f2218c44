#include "bindings.hpp"
#include "machine.hpp"

namespace py = pybind11;

namespace tidewise::worker {
namespace {

py::tuple started(const Batch& batch) {
  py::list parts;
  for (const Part& part : batch.parts) parts.append(py::make_tuple(part.query->id, part.start, part.rows));
  const py::tuple servable = py::make_tuple(tuple_of(batch.servable->model), batch.servable->latency);
  return py::make_tuple("start", servable, parts, batch.rows, batch.size,
                        kCauses[int(batch.cause)], batch.started, batch.plan_version);
}

py::list tuples(const Actions& actions) {
  py::list found;
  for (const Action& one : actions) switch (one.kind) {
      case Action::Kind::start: found.append(started(*one.batch)); break;
      case Action::Kind::answered: found.append(py::make_tuple("answered", one.query->id)); break;
      case Action::Kind::ended:
        found.append(py::make_tuple("ended", one.query->id, kReasons[int(one.reason)], one.text));
        break;
      case Action::Kind::released: found.append(py::make_tuple("released", tuple_of(one.model))); break;
    }
  return found;
}

py::list arrived(Machine& machine, std::uint64_t id, const std::string& application, const std::string& pin,
                 const std::vector<Shape>& shapes, double since, double deadline, std::int64_t rows, double now) {
  auto query = std::make_shared<Query>();
  query->id = id;
  query->lane = {application, pin, shapes};
  query->arrived = since;
  query->deadline = deadline;
  query->rows = rows;
  return tuples(machine.arrived(query, now));
}

}  // namespace

void bind_machine(py::module_& module) {
  py::class_<Machine>(module, "Machine", "worker/device.py without its hosting; actions come as tuples.")
      .def(py::init([](const std::string& rule, const std::string& choice, std::size_t max_queue, double reserve,
                       double linger, std::vector<double> bounds) {
             return std::make_unique<Machine>(policy_of(rule, choice, max_queue, reserve, linger), std::move(bounds));
           }),
           py::arg("rule"), py::arg("choice"), py::arg("max_queue"), py::arg("reserve"), py::arg("linger"),
           py::arg("bounds"))
      .def("arrived", &arrived, py::arg("id"), py::arg("application"), py::arg("pin"), py::arg("shapes"),
           py::arg("since"), py::arg("deadline"), py::arg("rows"), py::arg("now"))
      .def("batch_done", [](Machine& machine, double now, const Machine::Failures& failures) {
             return tuples(machine.batch_done(now, failures));
           }, py::arg("now"), py::arg("failures"))
      .def("timer", [](Machine& machine, double now) { return tuples(machine.timer(now)); }, py::arg("now"))
      .def("cancelled", [](Machine& machine, std::uint64_t id, double now, const std::string& reason) {
             return tuples(machine.cancelled(id, now, reason_of(reason)));
           }, py::arg("id"), py::arg("now"), py::arg("reason"))
      .def("hosted", [](Machine& machine, const std::vector<std::shared_ptr<Order>>& switches,
                        const std::vector<py::tuple>& leaving, const std::string& serving, double now) {
             return tuples(machine.hosted(hosted_of(switches, leaving, serving), now));
           }, py::arg("switches"), py::arg("leaving"), py::arg("serving"), py::arg("now"))
      .def("drain", [](Machine& machine, double now) { return tuples(machine.drain(now)); }, py::arg("now"))
      .def("set_linger", [](Machine& machine, double seconds) { machine.repertoire().linger = seconds; })
      .def("counters", [](const Machine& machine) { return dict_of(machine.counters()); })
      .def_property_readonly("wake", &Machine::wake)
      .def_property_readonly("margin", &Machine::margin)
      .def_property_readonly("gone", &Machine::gone)
      .def_property_readonly("busy", [](const Machine& machine) { return machine.running() != nullptr; })
      .def_property_readonly("queued", [](const Machine& machine) { return machine.queue().size(); });
}

}  // namespace tidewise::worker
