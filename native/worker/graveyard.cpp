#include "graveyard.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace tidewise::worker {
namespace {

struct Graveyard {
  std::mutex mutex;
  std::vector<PyObject*> dead;
};

Graveyard& graveyard() {
  static Graveyard& one = *new Graveyard;  // never destroyed: threads may outlive static objects
  return one;
}

void leave(const void* object) {
  Graveyard& yard = graveyard();
  std::lock_guard<std::mutex> guard(yard.mutex);
  yard.dead.push_back(static_cast<PyObject*>(const_cast<void*>(object)));
}

}  // namespace

std::shared_ptr<const void> kept(pybind11::object object) { return {object.release().ptr(), leave}; }

void bury_dead() {
  std::vector<PyObject*> dead;
  {
    std::lock_guard<std::mutex> guard(graveyard().mutex);
    dead.swap(graveyard().dead);
  }
  for (PyObject* object : dead) Py_DECREF(object);
}

}  // namespace tidewise::worker
