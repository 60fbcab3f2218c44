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
  application.batch = reader.f64();
  for (uint32_t left = reader.u32(); left > 0 && reader.good(); --left) {
    Variant variant;
    variant.name = reader.text();
    variant.version = reader.i64();
    variant.worth = reader.f64();
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
  for (uint32_t left = reader.u32(); left > 0 && reader.good(); --left) snapshot->bounds.push_back(reader.f64());
  for (uint32_t left = reader.u32(); left > 0 && reader.good(); --left)
    snapshot->applications.push_back(read_application(reader));
  if (!reader.good() || !usable(*snapshot)) return nullptr;
  return snapshot;
}

namespace {

void write_histogram(Writer& writer, const Histogram& histogram) {
  writer.u32(uint32_t(histogram.counts.size()));
  for (const uint64_t count : histogram.counts) writer.u64(count);
  writer.f64(histogram.total);
}

void write_figures(Writer& writer, const Figures& figures) {
  for (const Histogram* one : {&figures.total, &figures.forward, &figures.queued, &figures.computed})
    write_histogram(writer, *one);
  writer.f64(figures.worth);
  writer.f64(figures.last);
  writer.u32(uint32_t(figures.batches.size()));
  for (const auto& [size, batch] : figures.batches) {
    writer.u32(size);
    writer.u64(batch.first);
    writer.f64(batch.second);
  }
}

}  // namespace

void write_counts(Writer& writer, const Counts& counts) {
  writer.text(counts.label);
  writer.u64(counts.arrivals);
  writer.u64(counts.retries);
  writer.u64(counts.on_time);
  writer.u64(counts.late);
  uint32_t reasons = 0;
  for (const uint64_t count : counts.lost) reasons += count > 0;
  writer.u32(reasons);
  for (int reason = 0; reason < kReasons; ++reason) {
    if (counts.lost[reason] == 0) continue;
    writer.text(row(Reason(reason)).name);
    writer.u64(counts.lost[reason]);
  }
  writer.u32(uint32_t(counts.variants.size()));
  for (const auto& [name, figures] : counts.variants) {
    writer.text(name);
    write_figures(writer, figures);
  }
}

void write_losses(Writer& writer, const Losses& losses) {
  writer.u32(uint32_t(losses.told().size()));
  for (const Loss& loss : losses.told()) {
    writer.text(loss.label);
    writer.text(loss.application);
    writer.text(row(loss.reason).name);
    for (const std::string* text : {&loss.sentence, &loss.request_id, &loss.query_id, &loss.worker, &loss.traceparent})
      writer.text(*text);
  }
  writer.u32(uint32_t(losses.untold().size()));
  for (const auto& [key, count] : losses.untold()) {
    writer.text(key.first);
    writer.text(row(key.second).name);
    writer.u64(count);
  }
}

}  // namespace tidewise::router
