#pragma once

#include "base/digest.hpp"
#include "engine/docker.hpp"
#include "engine/json_lines.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::engine {

/// Parses an engine's progress of layers to or from a registry, reports it to a Reporter, and sums
/// it up.
class Transfer {
public:
  explicit Transfer(Reporter* reporter);

  /// Accepts bytes of the response to a push or a pull.
  void feed(std::string_view bytes) { lines_.feed(bytes); }

  /// Call after the last byte.
  void finish() { lines_.finish(); }

  /// Returns the engine's error; nothing if it succeeded.
  const std::optional<std::string>& complaint() const { return complaint_; }

  /// Returns the digest of the manifest that was pushed or pulled; nothing if the engine did not
  /// report it.
  const std::optional<Digest>& digest() const { return digest_; }

  /// In the engine's order.
  std::vector<PushResult::PushedLayer> layers() const;

private:
  struct LayerProgress {
    std::uint64_t size{0};
    bool uploaded{false};
    bool ended{false};
    bool named{false};  ///< reported already
  };

  void take(const nlohmann::json& message);
  void take_status(const std::string& status);
  void take_layer(const std::string& id, const std::string& status, const nlohmann::json& message);
  void report(const StepEvent& event);

  Reporter* reporter_;
  JsonLines lines_;
  std::vector<std::string> order_;
  std::map<std::string, LayerProgress> layers_;
  std::optional<Digest> digest_;
  std::optional<std::string> complaint_;
};

/// Returns true if an engine's error `complaint` means that the registry requires a login, or
/// another one.
bool is_denied(std::string_view complaint);

/// Returns true if an engine's error `complaint` means that it did not reach the registry.
bool is_unreachable(std::string_view complaint);

/// Returns the error for a registry's refusal that an engine reported: adds the kind and the remedy
/// to `message`. `verb` is `push` or `pull`.
Error transfer_error(const std::string& verb,
                     const image::Reference& reference,
                     const std::string& complaint,
                     const std::optional<std::string>& login_origin);

}  // namespace autopack::engine
