// What runs a batch on a loaded variant.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../engine/session.hpp"
#include "tensors.hpp"

namespace tidewise::worker {

class Engine {
 public:
  virtual ~Engine() = default;
  // The named outputs of a batch of so many rows, in that order. Throws std::exception with a sentence for the caller.
  virtual std::vector<Tensor> run(const std::vector<TensorView>& inputs, std::int64_t rows,
                                  const std::vector<std::string>& outputs) = 0;
};

// ONNX Runtime on this machine.
class OrtEngine : public Engine {
 public:
  explicit OrtEngine(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  std::vector<Tensor> run(const std::vector<TensorView>& inputs, std::int64_t rows,
                          const std::vector<std::string>& outputs) override;

 private:
  std::shared_ptr<Session> session_;
};

// A slower device played by this one: no batch ends sooner than `medians[rows]` seconds after it began.
class PacedEngine : public Engine {
 public:
  PacedEngine(std::shared_ptr<Engine> engine, std::vector<double> medians)
      : engine_(std::move(engine)), medians_(std::move(medians)) {}
  std::vector<Tensor> run(const std::vector<TensorView>& inputs, std::int64_t rows,
                          const std::vector<std::string>& outputs) override;

 private:
  std::shared_ptr<Engine> engine_;
  std::vector<double> medians_;
};

// No model: zeros of the right shape. A free axis (-1) of an output is as long as the first free axis of the inputs.
class ZeroEngine : public Engine {
 public:
  struct Spec {
    std::string name;
    Type type;
    Shape shape;  // of one row
  };
  ZeroEngine(std::vector<Spec> inputs, std::vector<Spec> outputs)
      : inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}
  std::vector<Tensor> run(const std::vector<TensorView>& inputs, std::int64_t rows,
                          const std::vector<std::string>& outputs) override;

 private:
  std::int64_t free_length(const std::vector<TensorView>& inputs) const;

  std::vector<Spec> inputs_, outputs_;
};

}  // namespace tidewise::worker
