#include "orders.hpp"

#include <cmath>

#include "choice.hpp"

namespace tidewise::router {

namespace {

Route read_route(Reader& reader) {
  Route route;
  route.worker = reader.text();
  route.address = reader.text();
  for (uint32_t left = reader.u32(); left > 0 && reader.good(); --left) route.variants.push_back(reader.u32());
  route.share = reader.f64();
  route.capacity = reader.f64();
  route.fastest = reader.f64();
  return route;
}

Application read_application(Reader& reader) {
  Application application;
  application.name = reader.text();
  application.slo = reader.f64();
  for (uint32_t left = reader.u32(); left > 0 && reader.good(); --left) {
    Variant variant;
    variant.name = reader.text();
    variant.version = reader.i64();
    application.variants.push_back(std::move(variant));
  }
  for (uint32_t left = reader.u32(); left > 0 && reader.good(); --left)
    application.routes.push_back(read_route(reader));
  return application;
}

/// Python has checked more than this; here stands what memory safety and arithmetic rest on.
bool usable(const Snapshot& snapshot) {
  for (const Application& application : snapshot.applications) {
    if (application.routes.size() > 65'535) return false;
    for (const Route& route : application.routes) {
      if (!(std::isfinite(route.share) && route.share >= 0)) return false;
      for (const uint32_t variant : route.variants)
        if (variant >= application.variants.size()) return false;
    }
  }
  return snapshot.max_message > 0 && policy_named(snapshot.routing) != nullptr;
}

}  // namespace

std::shared_ptr<const Snapshot> read_snapshot(Reader reader) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->revision = reader.u64();
  snapshot->max_message = reader.u64();
  snapshot->routing = reader.text();
  for (uint32_t left = reader.u32(); left > 0 && reader.good(); --left)
    snapshot->applications.push_back(read_application(reader));
  if (!reader.good() || !usable(*snapshot)) return nullptr;
  return snapshot;
}

void write_counts(Writer& writer, const std::string& label, const Counts& counts) {
  writer.text(label);
  writer.u64(counts.arrivals);
  for (const uint64_t count : counts.outcomes) writer.u64(count);
  writer.u32(uint32_t(counts.variants.size()));
  for (const auto& [name, figures] : counts.variants) {
    writer.text(name);
    writer.f64(figures.total);
    writer.f64(figures.queued);
    writer.f64(figures.computed);
    writer.f64(figures.last);
    writer.u32(uint32_t(figures.batches.size()));
    for (const auto& [size, batch] : figures.batches) {
      writer.u32(size);
      writer.u64(batch.first);
      writer.f64(batch.second);
    }
  }
}

}  // namespace tidewise::router
