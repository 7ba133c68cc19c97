#pragma once

#include "executor/python_facts.hpp"
#include "image/facts.hpp"
#include "image/reference.hpp"
#include "services/repository_notes.hpp"
#include "services/services.hpp"
#include "state/base_cache.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::executor {

/// What the notes of a repository say of an executor image. What its configuration tells is not
/// among it.
struct Told {
  image::BaseFacts programs{};  ///< python, python_version, pip and apt only
  PythonFacts python{};
};

/// A text that read_told() takes; none for an image of which nothing may be told: with settings of
/// pip, which may hold secrets, or an index with a login.
std::optional<std::string> told_text(const image::BaseFacts& base, const PythonFacts& python);

/// None when `text` is damaged or of another format.
std::optional<Told> read_told(std::string_view text);

/// The facts of the executor image `reference`, which must have a digest, as the repository that
/// the image of this run goes to has them noted: now, or when this machine asked last. What the
/// image's own manifest and configuration say is read there. None when nothing is noted, or it does
/// not fit the image.
std::optional<image::BaseFacts> told_base(Services& services,
                                          const image::Reference& reference,
                                          const std::string& platform);

/// What told_base() kept on this machine; none when the image of this run goes to no registry.
std::optional<state::BaseCache> told_bases(const Services& services);

/// Facts of the Python of `base`, noted there; none when there are none.
std::optional<PythonFacts> told_python(Services& services, const image::BaseFacts& base);

/// Files of its distributions, noted there; none when there are none.
std::optional<InstalledFiles> told_files(Services& services,
                                         const image::BaseFacts& base,
                                         const PythonFacts& facts);

/// What this machine found out about `base` and `noted` does not say: nothing of an image that it
/// was only told of.
News news_of(const Services& services, const image::BaseFacts& base, const Notes& noted);

}  // namespace autopack::executor
