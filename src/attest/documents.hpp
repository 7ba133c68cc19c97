#pragma once

#include "attest/provenance.hpp"
#include "packaging/image.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <functional>
#include <string>
#include <vector>

namespace autopack::attest {

/// A document about an image, such as an SBOM.
struct Document {
  std::string name{};                   ///< for people: `SPDX SBOM`
  std::string media_type{};             ///< `application/spdx+json`
  std::string predicate_type{};         ///< of a statement that contains it
  std::function<std::string()> text{};  ///< returns a JSON object; called if it is needed
};

/// Returns how `image`, the packaged image of `work`, was made. Reads facts of this machine and of
/// its repository, sends nothing.
Provenance make_provenance(Services& services,
                           const packaging::Packaging& work,
                           const packaging::Image& image);

/// Throws Error(usage, environment) if documents about the image of `wanted` cannot be attached or
/// signed, before anything is made.
void check_attaching(Services& services, const packaging::Wanted& wanted);

/// Attaches the provenance of `image`, the packaged image of `work`, and `documents` to it in its
/// registry, as referrers; with a signing key, also signed, in bundles. Skips what is attached
/// already: an image that was reused keeps its first provenance. Records in `image` what is
/// attached.
void attach_documents(Services& services,
                      const packaging::Packaging& work,
                      std::vector<Document> documents,
                      packaging::Image& image);

}  // namespace autopack::attest
