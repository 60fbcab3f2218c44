// Python objects that C++ threads are done with. Only a thread with the interpreter lock may drop them, and those threads
// must not wait for it.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

namespace tidewise::worker {

// Keeps `object` until the last copy is gone, then leaves it to `bury_dead`.
std::shared_ptr<const void> kept(pybind11::object object);

// Drop what nobody needs any more. Needs the interpreter lock.
void bury_dead();

}  // namespace tidewise::worker
