#include "library.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <map>
#include <mutex>

namespace tidewise {
namespace {

const ort_abi::ApiBase& find_base(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw OrtError(dlerror());
  auto get_base = reinterpret_cast<const ort_abi::ApiBase* (*)()>(dlsym(handle, "OrtGetApiBase"));
  if (get_base == nullptr) throw OrtError(path + " is not ONNX Runtime: it has no OrtGetApiBase");
  return *get_base();
}

// The table's layout is only known for 1.x from the interface version asked for.
void check_version(const std::string& path, const std::string& version) {
  unsigned major = 0, minor = 0;
  const bool read = std::sscanf(version.c_str(), "%u.%u", &major, &minor) == 2;
  if (!read || major != 1 || minor < ort_abi::kApiVersion)
    throw OrtError(path + " is ONNX Runtime " + version + "; 1." + std::to_string(ort_abi::kApiVersion) +
                   " or a later 1.x is needed");
}

}  // namespace

const Library& Library::open(const std::string& path) {
  static std::mutex mutex;
  static auto& opened = *new std::map<std::string, std::unique_ptr<Library>>;  // never destroyed, see the class
  std::lock_guard<std::mutex> guard(mutex);
  auto& library = opened[path];
  if (library == nullptr) library.reset(new Library(path));
  return *library;
}

Library::Library(const std::string& path) {
  const ort_abi::ApiBase& base = find_base(path);
  version_ = base.version();
  check_version(path, version_);
  api_ = base.get_api(ort_abi::kApiVersion);
  if (api_ == nullptr) throw OrtError(path + " does not offer interface version 16");
  check(api_->create_env(ort_abi::kLogFatal, "tidewise", &env_));
  check(api_->create_cpu_memory_info(ort_abi::kArenaAllocator, ort_abi::kDefaultMemory, &cpu_memory_));
  check(api_->default_allocator(&allocator_));
}

void Library::check(ort_abi::Status* status) const {
  if (status == nullptr) return;
  const std::string text = api_->get_error_message(status);
  api_->release_status(status);
  throw OrtError(text);
}

}  // namespace tidewise
