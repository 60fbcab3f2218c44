// tidewise-router: the data plane as a process, started and told everything by `tidewise router`.
//   tidewise-router --channel FD --listen FD [--listen FD ...]
#include <malloc.h>
#include <nghttp2/nghttp2.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "plane.hpp"

namespace {

volatile bool leave = false;

void on_signal(int) { leave = true; }

/// Ten thousand idle connections are nothing unusual.
void raise_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// The memory of one large query serves the next: given back to the system, it would be faulted in again page by page.
void keep_memory() {
#ifdef M_TRIM_THRESHOLD
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}

int wrong_usage() {
  std::fprintf(stderr, "tidewise-router is started by `tidewise router --data-plane native`\n");
  return 2;
}

}  // namespace

int main(int count, char** words) {
  int channel = -1;
  std::vector<int> listeners;
  if (count == 2 && std::strcmp(words[1], "--version") == 0) {
    std::printf("tidewise-router, nghttp2 %s\n", nghttp2_version(0)->version_str);
    return 0;
  }
  for (int index = 1; index + 1 < count; index += 2) {
    const int fd = std::atoi(words[index + 1]);
    if (std::strcmp(words[index], "--channel") == 0)
      channel = fd;
    else if (std::strcmp(words[index], "--listen") == 0)
      listeners.push_back(fd);
    else
      return wrong_usage();
  }
  if (channel < 0 || listeners.empty() || count % 2 == 0) return wrong_usage();
  raise_descriptors();
  keep_memory();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C reaches Python too, which drains this process
  std::signal(SIGTERM, on_signal);
  tidewise::router::Plane plane(channel, listeners);
  plane.run(leave);
  return 0;
}
