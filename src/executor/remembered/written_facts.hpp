#pragma once

#include "executor/remembered/repository_facts.hpp"

#include <cstddef>
#include <string>

namespace autopack {

/// The place for facts that were not read: about one executor image, in one repository.
struct FactsTarget {
  registry::Repository& repository;
  const state::BlobCache& blobs;
  const Digest& executor;
  const std::string& platform;
};

enum class OldFacts {
  corrected,  ///< remembered facts with other keys stay
  replaced,   ///< no remembered fact stays
};

/// Writes the facts that `find` returns for empty remembered facts; all its layers were made from
/// their wheels. Returns how many of these layers the remembered facts described differently. If
/// the repository refuses them, that causes a detail line and no error.
std::size_t write_facts(Reporter& reporter,
                        const FactsTarget& target,
                        const RepositoryFacts::FindNewFacts& find,
                        OldFacts old);

}  // namespace autopack
