#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace autopack::engine {

/// A container's two output streams out of the one connection that carries them: frames of one byte
/// that names the stream, three of zero, four of length, and the bytes.
class OutputFrames {
public:
  using Take = std::function<void(std::string_view bytes)>;

  OutputFrames(Take output, Take errors);

  /// Throws Error(remote) for a frame of a stream that does not exist.
  void feed(std::string_view bytes);

private:
  Take output_;
  Take errors_;
  std::string header_;
  std::size_t left_{0};  ///< of the frame's bytes
  bool to_errors_{false};
};

}  // namespace autopack::engine
