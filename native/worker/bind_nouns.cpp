#include "batching.hpp"
#include "bindings.hpp"
#include "choice.hpp"

namespace py = pybind11;

namespace tidewise::worker {

void bind_nouns(py::module_& module) {
  py::class_<Servable, std::shared_ptr<Servable>>(module, "Servable", "worker/servable.py's, for this module.")
      .def(py::init([](const py::tuple& model, int version, std::vector<int> sizes, std::vector<int> padded,
                       std::vector<double> latency, std::vector<int> brisk) {
             return std::make_shared<Servable>(Servable{model_of(model), version, std::move(sizes), std::move(padded),
                                                        std::move(latency), std::move(brisk)});
           }),
           py::arg("model"), py::arg("version"), py::arg("sizes"), py::arg("padded"), py::arg("latency"),
           py::arg("brisk"));
  py::class_<Order, std::shared_ptr<Order>>(module, "Order", "worker/orders.py's, for this module.")
      .def(py::init([](int version, std::string application, const std::vector<std::shared_ptr<Servable>>& warm,
                       std::size_t ceiling) {
             return std::make_shared<Order>(
                 Order{version, std::move(application), {warm.begin(), warm.end()}, ceiling});
           }),
           py::arg("version"), py::arg("application"), py::arg("warm"), py::arg("ceiling"));
  module.def("knows", [](const std::string& rule, const std::string& choice) {
    return rule_named(rule) != nullptr && choice_named(choice) != nullptr;
  }, py::arg("rule"), py::arg("choice"), "Whether a batching rule and a variant choice are here, too.");
}

Policy policy_of(const std::string& rule, const std::string& choice, std::size_t max_queue, double reserve,
                 double linger) {
  const Policy policy{rule_named(rule), choice_named(choice), max_queue, reserve, linger};
  if (policy.rule == nullptr) throw py::value_error("there is no batching rule '" + rule + "' here");
  if (policy.choice == nullptr) throw py::value_error("there is no variant choice '" + choice + "' here");
  return policy;
}

Reason reason_of(const std::string& name) {
  for (std::size_t place = 0; place < std::size(kReasons); ++place)
    if (name == kReasons[place]) return Reason(place);
  throw py::value_error("a device ends no query for the reason '" + name + "'");
}

Model model_of(const py::tuple& model) {
  return {model[0].cast<std::string>(), model[1].cast<std::string>(), model[2].cast<std::string>()};
}

py::tuple tuple_of(const Model& model) { return py::make_tuple(model.application, model.variant, model.digest); }

Hosted hosted_of(const std::vector<std::shared_ptr<Order>>& switches, const std::vector<py::tuple>& leaving,
                 const std::string& serving) {
  Hosted hosted;
  for (const auto& order : switches) hosted.switches.push_back(*order);
  for (const py::tuple& model : leaving) hosted.leaving.push_back(model_of(model));
  hosted.serving = serving;
  return hosted;
}

namespace {

py::dict dict_of(const VariantCounters& counts) {
  using namespace py::literals;
  return py::dict("served"_a = counts.served, "failed"_a = counts.failed, "late"_a = counts.late,
                  "batches"_a = counts.batches, "rows"_a = counts.rows, "queued"_a = counts.queued,
                  "computed"_a = counts.computed, "expected"_a = counts.expected, "query_seconds"_a = counts.query_seconds, "last"_a = counts.last,
                  "durations"_a = py::make_tuple(counts.durations.counts, counts.durations.total),
                  "sizes"_a = counts.sizes, "computed_by_size"_a = counts.computed_by_size);
}

}  // namespace

py::dict dict_of(const Counters& counters) {
  using namespace py::literals;
  py::dict ended, dispatches, variants;
  for (const auto& [key, count] : counters.ended) ended[py::make_tuple(key.first, kReasons[int(key.second)])] = count;
  for (const auto& [cause, count] : counters.dispatches) dispatches[kCauses[int(cause)]] = count;
  for (const auto& [key, counts] : counters.variants) variants[py::make_tuple(key.first, key.second)] = dict_of(counts);
  return py::dict("arrivals"_a = counters.arrivals, "on_time"_a = counters.on_time, "late"_a = counters.late,
                  "ended"_a = ended, "dispatches"_a = dispatches, "variants"_a = variants);
}

}  // namespace tidewise::worker
