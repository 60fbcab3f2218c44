// Callers in a closed loop, for measurements: as many queries under way as asked for, until so many are answered.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "station.hpp"

namespace tidewise::worker {

class Drive : public Sink {
 public:
  // Queries alike but for their inputs, which must outlive the drive.
  Drive(Station& station, std::string application, std::vector<std::vector<Input>> queries,
        std::vector<std::string> outputs);

  // Seconds that `count` queries took, `window` of them under way. Throws std::runtime_error if one is not answered.
  double run(std::size_t count, std::size_t window);

  void deliver(std::vector<Delivery> deliveries) override;

 private:
  void submit(std::size_t place);

  Station& station_;
  std::string application_;
  std::vector<std::vector<Input>> queries_;
  std::vector<std::string> outputs_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t done_ = 0;
  std::string failure_;
};

}  // namespace tidewise::worker
