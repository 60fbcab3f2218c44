// Addresses as Tidewise writes them: HOST:PORT, or unix:PATH for a process on the same host.
#pragma once
#include <string>

namespace tidewise::router {

/// Whether no name has to be looked up to connect.
bool is_numeric(const std::string& address);
/// A socket on its way to a numeric address; -1 if that fails at once.
int connect_to(const std::string& numeric, bool& connecting);
/// What HTTP/2 calls the authority of this address.
std::string authority(const std::string& address);

}  // namespace tidewise::router
