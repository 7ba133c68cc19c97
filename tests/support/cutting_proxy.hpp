#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace autopack::testing {

/// Forwards TCP connections to a loopback port, and breaks them at set places.
class CuttingProxy {
public:
  /// Breaks the connection that carries the N-th byte towards the server, for each N in `cuts`
  /// (ascending, counted over all connections); likewise towards the client.
  CuttingProxy(int target, std::vector<std::uint64_t> cuts, std::vector<std::uint64_t> back_cuts);
  ~CuttingProxy();
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  int port() const;
  /// Return the bytes forwarded to the server, and to the client.
  std::uint64_t forward() const;
  std::uint64_t backward() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace autopack::testing
