// One device at work: its machine driven by the real clock, its batches run on a thread of its own, its callers told.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "caller.hpp"
#include "clockwork.hpp"
#include "engine.hpp"
#include "machine.hpp"
#include "runner.hpp"
#include "sentences.hpp"

namespace tidewise::worker {

// Any thread may call it. The machine is behind one lock, held only while it decides; nobody is told anything under it.
class Station : private Ringing {
 public:
  // `released` is told of models that nothing needs any more, with the number of the `hosted` call that let them go.
  using Released = std::function<void(const Model& model, std::uint64_t epoch)>;

  // What stands for time in an emulated device: seconds by rows of a batch, none for a device that computes.
  using Medians = std::vector<double>;

  // An `emulated` device has no thread of its own: its batches are timers, so that many share one process. They take their
  // median times a normal factor of standard deviation `noise`.
  Station(std::string name, const Policy& policy, std::vector<double> bounds, std::shared_ptr<Clockwork> clockwork,
          Released released, bool emulated = false, double noise = 0);
  ~Station() override;
  Station(const Station&) = delete;
  Station& operator=(const Station&) = delete;

  // Queue a query; its sink hears of its end, perhaps before this returns. `caller->arrived` is set here.
  void submit(const CallerPtr& caller);
  void cancel(std::uint64_t id, Reason reason);
  // Hosting has decided; `ready` are the variants in force. The number of this call.
  std::uint64_t hosted(const Hosted& hosted, std::vector<std::string> ready);
  // What runs batches on a model, from before it comes into force until after it is released.
  void install(const Model& model, std::shared_ptr<Engine> engine, Medians medians = {});
  void forget(const Model& model);
  void drain();
  // Stop after the batch that runs; callers still waiting are told that the process is going. May be called twice.
  void close();

  struct Reading {
    std::size_t queued = 0;
    bool busy = false;
    std::map<std::string, std::size_t> waiting;  // by application
    std::uint64_t arrivals = 0;
    double margin = 0;
    double due = kNever;  // when the running batch ends by its profile
  };
  Reading reading() const;
  Counters counters() const;
  void set_linger(double seconds);
  const std::string& name() const { return speaker_.worker; }

  // For measurements: seconds spent deciding and how often, and how late timers rang.
  struct Effort {
    double deciding = 0;
    std::uint64_t decisions = 0;
    std::vector<double> lateness;
  };
  Effort take_effort();

 private:
  using Deliveries = std::vector<Delivery>;
  // What an event led to, to be told once the lock is released.
  struct Outcome {
    Deliveries deliveries;
    std::vector<std::pair<Model, std::uint64_t>> released;
    bool started = false;
  };
  void ring() override;
  template <typename Event>
  void happen(Event event);
  Outcome carry_out(Actions actions, double at);
  void arm();
  void tell(Outcome outcome);
  void serve();
  Outcome finish(const Batch& batch, const Work& work, std::vector<PartDone> done, double seconds, double at);
  Outcome finish_emulated(double at);
  double emulated_seconds(const Batch& batch);
  Work work_for(const Batch& batch);
  Machine::Failures hand_out(const Batch& batch, const Work& work, std::vector<PartDone>& done, double seconds);
  Delivery answer(const Action& action) const;

  mutable std::mutex mutex_;
  std::condition_variable ready_;
  Machine machine_;
  Speaker speaker_;
  struct Installed {
    std::shared_ptr<Engine> engine;
    Medians medians;
  };
  std::map<Model, Installed> engines_;
  std::map<std::uint64_t, CallerPtr> callers_;  // that have not been told of their end
  BatchPtr pending_;                            // started, and not yet taken by the thread
  double ends_ = kNever;                        // when an emulated batch ends
  double free_;                                 // when the device last became idle
  double armed_ = kNever;
  std::uint64_t epoch_ = 0;
  bool closed_ = false;
  Effort effort_;

  std::shared_ptr<Clockwork> clockwork_;
  Released released_;
  const bool emulated_;
  const double noise_;
  std::normal_distribution<double> factor_;
  std::mt19937_64 generator_{std::random_device{}()};
  std::thread thread_;
};

}  // namespace tidewise::worker
