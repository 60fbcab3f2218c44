#include <pybind11/numpy.h>

#include <cstring>

#include "../engine/arrays.hpp"
#include "bindings.hpp"
#include "gil.hpp"
#include "graveyard.hpp"
#include "outbox.hpp"
#include "station.hpp"

namespace py = pybind11;

namespace tidewise::worker {
namespace {

std::shared_ptr<Station> make_station(std::string name, const std::string& rule, const std::string& choice,
                                      std::size_t max_queue, double reserve, double linger,
                                      std::vector<double> bounds, std::shared_ptr<Clockwork> clockwork,
                                      std::shared_ptr<Outbox> outbox, bool emulated, double noise) {
  auto released = [outbox](const Model& model, std::uint64_t epoch) { outbox->released(model, epoch); };
  return released_without_lock(new Station(std::move(name), policy_of(rule, choice, max_queue, reserve, linger),
                                           std::move(bounds), std::move(clockwork), std::move(released), emulated, noise));
}

void submit(Station& station, Outbox& outbox, std::uint64_t id, const std::string& application, const std::string& pin,
            const std::vector<Shape>& shapes, double deadline, std::int64_t rows, const py::dict& inputs,
            std::vector<std::string> outputs) {
  auto caller = std::make_shared<Caller>();
  caller->id = id;
  caller->lane = {application, pin, shapes};
  caller->deadline = deadline;
  caller->rows = rows;
  caller->outputs = std::move(outputs);
  caller->sink = &outbox;
  tidewise::Inputs read = read_inputs(inputs);
  for (TensorView& view : read.views)
    caller->inputs.push_back(
        {std::move(view.name), view.type, std::move(view.shape), static_cast<const char*>(view.data)});
  py::tuple arrays(read.arrays.size());
  for (std::size_t place = 0; place < read.arrays.size(); ++place) arrays[place] = std::move(read.arrays[place]);
  caller->keep = kept(std::move(arrays));
  station.submit(caller);
}

// One output of an answer: of one piece, a view of the engine's memory; of several, a copy of them all.
py::array joined(const std::string& name, const std::vector<Piece>& pieces, std::size_t place) {
  const Tensor& first = pieces.front()[place];
  std::vector<py::ssize_t> shape(first.shape.begin(), first.shape.end());
  if (pieces.size() == 1) {
    auto* owner = new std::shared_ptr<const void>(first.owner);
    py::capsule capsule(owner, [](void* held) { delete static_cast<std::shared_ptr<const void>*>(held); });
    return py::array(dtype_of(name, first.type), shape, first.data, capsule);
  }
  shape.front() = 0;
  for (const Piece& piece : pieces) shape.front() += piece[place].shape.front();
  py::array whole(dtype_of(name, first.type), shape);
  auto* end = static_cast<char*>(whole.mutable_data());
  for (const Piece& piece : pieces) {
    const std::size_t bytes = count_items(piece[place].shape) * item_size(piece[place].type);
    std::memcpy(end, piece[place].data, bytes);
    end += bytes;
  }
  return whole;
}

py::tuple told(const Delivery& delivery) {
  const Caller& caller = *delivery.caller;
  if (!delivery.answered) return py::make_tuple(caller.id, kReasons[int(delivery.reason)], delivery.text);
  const Answer& answer = delivery.answer;
  py::dict outputs;
  for (std::size_t place = 0; place < caller.outputs.size(); ++place)
    outputs[py::str(caller.outputs[place])] = joined(caller.outputs[place], answer.pieces, place);
  return py::make_tuple(caller.id, outputs, answer.variant, answer.version, answer.plan_version, answer.queued,
                        answer.computed, answer.batch, answer.waited);
}

py::tuple drain(Outbox& outbox) {
  py::list ends, released;
  {
    const Outbox::News news = outbox.take();
    for (const Delivery& one : news.deliveries) ends.append(told(one));
    for (const auto& [model, epoch] : news.released) released.append(py::make_tuple(tuple_of(model), epoch));
  }
  bury_dead();
  return py::make_tuple(ends, released);
}

py::dict read(const Station& station) {
  using namespace py::literals;
  const Station::Reading found = station.reading();
  return py::dict("queued"_a = found.queued, "busy"_a = found.busy, "waiting"_a = found.waiting,
                  "arrivals"_a = found.arrivals, "margin"_a = found.margin,
                  "due"_a = found.due);
}

}  // namespace

void bind_station(py::module_& module) {
  py::class_<Clockwork, std::shared_ptr<Clockwork>>(module, "Clockwork", "The thread that rings for all devices.")
      .def(py::init([] { return released_without_lock(new Clockwork); }));
  py::class_<Outbox, std::shared_ptr<Outbox>>(module, "Outbox", "Ends of queries that Python has still to hear of.")
      .def(py::init<>())
      .def_property_readonly("fd", &Outbox::fd)
      .def("drain", &drain, "([ends], [released models with their epoch]).");
  py::class_<Station, std::shared_ptr<Station>>(module, "Station", "A machine with its threads.")
      .def(py::init(&make_station), py::arg("name"), py::arg("rule"), py::arg("choice"), py::arg("max_queue"),
           py::arg("reserve"), py::arg("linger"), py::arg("bounds"), py::arg("clockwork"), py::arg("outbox"),
           py::arg("emulated"), py::arg("noise"))
      .def("submit", &submit, py::arg("outbox"), py::arg("id"), py::arg("application"), py::arg("pin"),
           py::arg("shapes"), py::arg("deadline"), py::arg("rows"), py::arg("inputs"), py::arg("outputs"))
      .def("cancel", [](Station& station, std::uint64_t id, const std::string& reason) {
             station.cancel(id, reason_of(reason));
           }, py::arg("id"), py::arg("reason"))
      .def("hosted", [](Station& station, const std::vector<std::shared_ptr<Order>>& switches,
                        const std::vector<py::tuple>& leaving, const std::string& serving,
                        std::vector<std::string> ready) {
             return station.hosted(hosted_of(switches, leaving, serving), std::move(ready));
           }, py::arg("switches"), py::arg("leaving"), py::arg("serving"), py::arg("ready"))
      .def("install", [](Station& station, const py::tuple& model, std::shared_ptr<Engine> engine,
                         std::vector<double> medians) {
             station.install(model_of(model), std::move(engine), std::move(medians));
           }, py::arg("model"), py::arg("engine"), py::arg("medians"))
      .def("forget", [](Station& station, const py::tuple& model) { station.forget(model_of(model)); }, py::arg("model"))
      .def("drain", &Station::drain)
      .def("close", &Station::close, py::call_guard<py::gil_scoped_release>())
      .def("read", &read)
      .def("counters", [](const Station& station) { return dict_of(station.counters()); })
      .def("set_linger", &Station::set_linger, py::arg("seconds"))
      .def("take_effort", [](Station& station) {
             const Station::Effort effort = station.take_effort();
             return py::make_tuple(effort.deciding, effort.decisions, effort.lateness);
           }, "Seconds spent deciding, how often, and how late each timer rang, since last asked.");
}

}  // namespace tidewise::worker
