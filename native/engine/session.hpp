// One loaded model. Knows nothing of Python.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "library.hpp"
#include "tensor.hpp"

namespace tidewise {

// Frees a session of ONNX Runtime's.
struct ReleaseSession {
  const Library* library;
  void operator()(ort_abi::Session* session) const { library->api().release_session(session); }
};

class Session {
 public:
  // Loads the model with this many threads inside an operator, none of which spins while idle. Throws OrtError.
  Session(const Library& library, const std::string& model, int threads);
  ~Session() { close(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The named outputs of one batch, in that order. Calls from several threads take turns. Throws OrtError.
  std::vector<OwnedTensor> run(const std::vector<TensorView>& inputs, const std::vector<std::string>& outputs);

  // Gives the memory back once a run in progress is done; running afterwards throws. May be called twice.
  void close();

  const std::vector<std::string>& inputs() const { return inputs_; }
  const std::vector<std::string>& outputs() const { return outputs_; }

 private:
  const Library& library_;
  std::mutex mutex_;
  std::unique_ptr<ort_abi::Session, ReleaseSession> session_;
  std::vector<std::string> inputs_;
  std::vector<std::string> outputs_;
};

}  // namespace tidewise
