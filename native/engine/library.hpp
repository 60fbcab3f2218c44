// The ONNX Runtime library, opened at run time.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "ort_abi.hpp"

namespace tidewise {

// ONNX Runtime refused something; the text is its own.
class OrtError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// One opened library with its environment. Stays open until the process ends, as ONNX Runtime's threads demand.
class Library {
 public:
  // The library at this path, opened once. Throws OrtError if it is missing, too old, or not ONNX Runtime.
  static const Library& open(const std::string& path);

  const ort_abi::Api& api() const { return *api_; }
  const std::string& version() const { return version_; }
  const ort_abi::Env* env() const { return env_; }
  const ort_abi::MemoryInfo* cpu_memory() const { return cpu_memory_; }
  ort_abi::Allocator* allocator() const { return allocator_; }

  // Throws OrtError with the status's text if there is one; frees it.
  void check(ort_abi::Status* status) const;

 private:
  explicit Library(const std::string& path);

  std::string version_;
  const ort_abi::Api* api_ = nullptr;
  ort_abi::Env* env_ = nullptr;
  ort_abi::MemoryInfo* cpu_memory_ = nullptr;
  ort_abi::Allocator* allocator_ = nullptr;
};

}  // namespace tidewise
