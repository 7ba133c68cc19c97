#pragma once

#include "base/digest.hpp"
#include "engine/docker.hpp"
#include "engine/json_lines.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::engine {

/// Layers on their way to or from a registry, as an engine tells of them: told on to a Reporter,
/// and summed up.
class Transfer {
public:
  explicit Transfer(Reporter* reporter);

  /// Bytes of the answer to a push or a pull.
  void feed(std::string_view bytes) { lines_.feed(bytes); }

  /// After the last byte.
  void finish() { lines_.finish(); }

  /// The engine's words when it failed; none when it did not.
  const std::optional<std::string>& complaint() const { return complaint_; }

  /// Of the manifest that was pushed or pulled; none when the engine did not say.
  const std::optional<Digest>& digest() const { return digest_; }

  /// In the order in which the engine named them.
  std::vector<PushResult::PushedLayer> layers() const;

private:
  struct LayerProgress {
    std::uint64_t size{0};
    bool uploaded{false};
    bool ended{false};
    bool named{false};  ///< told to the reporter
  };

  void take(const nlohmann::json& message);
  void take_status(const std::string& status);
  void take_layer(const std::string& id, const std::string& status, const nlohmann::json& message);
  void tell(const StepEvent& event);

  Reporter* reporter_;
  JsonLines lines_;
  std::vector<std::string> order_;
  std::map<std::string, LayerProgress> layers_;
  std::optional<Digest> digest_;
  std::optional<std::string> complaint_;
};

/// True if `complaint`, an engine's words, says that the registry wants another login, or any.
bool is_denied(std::string_view complaint);

/// True if `complaint`, an engine's words, says that the engine did not reach the registry.
bool is_unreachable(std::string_view complaint);

/// What a registry's refusal, told by an engine, means for a person: the kind and the remedy are
/// added to `message`. `verb` is `push` or `pull`.
Error transfer_error(const std::string& verb,
                     const image::Reference& reference,
                     const std::string& complaint,
                     const std::optional<std::string>& login_origin);

}  // namespace autopack::engine
