#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace autopack::engine {

/// Splits the connection of a container into its two output streams. A frame has one byte for the
/// stream, three zero bytes, four bytes for the length, and the content.
class OutputFrames {
public:
  using Take = std::function<void(std::string_view bytes)>;

  OutputFrames(Take output, Take errors);

  /// Throws Error(remote) for a frame of an unknown stream.
  void feed(std::string_view bytes);

private:
  Take output_;
  Take errors_;
  std::string header_;
  std::size_t left_{0};  ///< of the frame's bytes
  bool to_errors_{false};
};

}  // namespace autopack::engine
