#pragma once

#include <pybind11/pybind11.h>

#include <memory>

namespace tidewise::worker {

// A class whose last holder may be Python: its threads are joined without the interpreter lock, which they may want.
template <typename T>
std::shared_ptr<T> released_without_lock(T* made) {
  return std::shared_ptr<T>(made, [](T* one) {
    if (PyGILState_Check()) {
      const pybind11::gil_scoped_release released;
      delete one;
    } else {
      delete one;
    }
  });
}

}  // namespace tidewise::worker
