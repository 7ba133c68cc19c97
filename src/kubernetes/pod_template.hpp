#pragma once

#include "base/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>

namespace autopack::kubernetes {

/// Reads a fragment of a pod template: `metadata` and `spec`, or the fields of `spec` alone.
/// Returns a pod template. Throws Error(usage) for anything else, and for fields that autopack must
/// set itself.
std::shared_ptr<const nlohmann::json> read_pod_template(const nlohmann::json& fragment,
                                                        const std::string& origin);

/// Merges `over` into `base` as Kubernetes merges a strategic patch: objects by key, lists by the
/// key of their elements (`name`, `mountPath`, ...); null removes a value. A list without such a
/// key replaces the other. Tolerations are added.
void merge_strategically(nlohmann::json& base, const nlohmann::json& over);

}  // namespace autopack::kubernetes
