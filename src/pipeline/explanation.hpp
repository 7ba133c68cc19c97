#pragma once

#include "packaging/packaging.hpp"
#include "pipeline/advice.hpp"
#include "services/services.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::pipeline {

/// One layer, or several of the base together.
struct ExplainedLayer {
  std::string name{};
  std::optional<Digest> digest{};  ///< none until it is made
  std::uint64_t size{0};           ///< as it travels, compressed; of its files when `!digest`
  std::size_t count{1};            ///< layers that this line stands for
  std::optional<bool> upload{};    ///< none: not known without the registry
};

/// What one rule keeps out of the image.
struct LeftOut {
  struct Path {
    std::string path{};  ///< a directory's ends with a slash
    std::uint64_t size{0};
    bool is_least{false};  ///< there is more than that
  };

  std::string rule{};  ///< as written
  std::string file{};
  std::optional<int> line{};  ///< none for autopack's own, and for flags
  std::size_t count{0};
  std::uint64_t size{0};
  bool is_least{false};
  std::vector<Path> paths{};  ///< the largest of them first
};

/// A file that goes in although git ignores it.
struct Kept {
  std::string path{};
  std::string why{};
};

/// What a push would send, as far as it is known.
struct ExpectedUpload {
  std::optional<std::string> destination{};  ///< repository; none: the image stays in the daemon
  std::optional<std::string> unknown{};      ///< why the registry could not tell
  bool image_is_there{false};
  bool dependencies_are_there{false};
  std::uint64_t bytes{0};  ///< at least
  bool exact{true};        ///< false: more will come, of a size that only a build tells
};

/// How dependencies are installed.
struct Installer {
  std::string name{};  ///< `wheels`, `docker`
  std::string text{};  ///< for people: how many, or why an engine is needed
};

struct Explanation {
  std::vector<ExplainedLayer> layers{};
  std::vector<LeftOut> left_out{};
  std::vector<Kept> kept{};
  ExpectedUpload upload{};
  packaging::Outcome image{};
  std::optional<packaging::Outcome> dependencies{};
  std::string engine{};                     ///< `direct`, `docker`
  std::optional<std::string> engine_why{};  ///< why not the direct one
  /// How the dependencies are installed; none when there are none, or when it is not yet known.
  std::optional<Installer> installer{};
  Problems advice{};
};

/// What packaging would do, without doing it. The registry is asked when its name has one; when it
/// does not answer, that is said instead. The findings are those of `adviser`.
Explanation explain(Services& services, const packaging::Packaging& work, Adviser& adviser);

/// For a person, at most 80 columns where names allow it. In brief long lists are summed up.
enum class Detail { brief, whole };
std::string to_text(const Explanation& explanation,
                    const plan::Plan& plan,
                    Detail detail = Detail::brief);

/// Fields beside those of the Plan.
nlohmann::json to_json(const Explanation& explanation);

/// What rules keep out, what weighs most first. How large it is is looked up within bounds.
std::vector<LeftOut> find_left_out(const packaging::Packaging& work);

}  // namespace autopack::pipeline
