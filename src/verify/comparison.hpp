#pragma once

#include "base/digest.hpp"
#include "base/report.hpp"
#include "compare/difference.hpp"
#include "image/source.hpp"
#include "verify/layer_difference.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::verify {

/// A layer of an image, and its counterpart of the rebuilt one.
struct ComparedLayer {
  enum class Verdict {
    equal,       ///< the same bytes
    compressed,  ///< the same files in the same tar, compressed by another compressor
    differs,
    missing,     ///< the image does not have it
    additional,  ///< only the image has it
    unverified,  ///< no rebuild gives it again
  };

  Verdict verdict{Verdict::equal};
  std::string name{};               ///< the step that made it
  std::optional<Digest> digest{};   ///< of the compressed layer of the image
  std::optional<Digest> diff_id{};  ///< of its tar
  std::uint64_t size{0};            ///< compressed
  LayerDifference difference{};     ///< if it differs
};

/// How an image differs from its rebuild.
struct Comparison {
  std::vector<ComparedLayer> layers{};
  std::vector<compare::Change<std::string>> configuration{};
  std::vector<std::string> wheels{};   ///< those whose index lists another hash now: why
  std::vector<std::string> unknown{};  ///< what could not be compared, and why
  std::vector<std::string> remarks{};  ///< about equal parts

  /// True if a layer, the configuration or the hash of a wheel differs.
  bool differs() const;
};

/// Compares every layer and the configuration. Reads only layers that differ.
Comparison compare_images(const Cancellation& cancellation,
                          const image::Source& image,
                          const image::Source& rebuilt);

/// Returns `equal`, `compressed`, ...: the verdict in `--format=json`.
std::string_view to_string(ComparedLayer::Verdict verdict);

/// Returns the result for people: one line if the image is equal.
std::string to_text(const Comparison& comparison);

/// Returns the object of `--format=json`.
nlohmann::json to_json(const Comparison& comparison);

}  // namespace autopack::verify
