#pragma once

#include "base/error.hpp"
#include "job/cluster.hpp"
#include "job/job.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::kubernetes {

/// The kinds of objects that run a job. A job with one replica needs nothing but Kubernetes.
/// Several replicas need names that are known beforehand: JobSet gives them, with its Service. A
/// plain Job would need a Service of our own, a second object, which a killed run could leave
/// without the other; so it runs one replica only.
enum class ObjectKind { job, job_set, train_job };

struct KindFacts {
  ObjectKind kind;
  std::string_view word;     ///< of the flag: `jobset`
  std::string_view name;     ///< `JobSet`
  std::string_view version;  ///< `jobset.x-k8s.io/v1alpha2`
  std::string_view plural;   ///< `jobsets`
  std::string_view label;    ///< of its pods, with its name
};

const std::vector<KindFacts>& all_kinds();
const KindFacts& facts_of(ObjectKind kind);
/// Returns nothing for an unknown word, and for `auto`.
std::optional<ObjectKind> find_kind(std::string_view word);

/// How a job becomes an object of a cluster.
struct ObjectOptions {
  std::string name_space{"default"};
  std::optional<std::string> queue{};           ///< of Kueue
  std::optional<std::string> priority_class{};  ///< of Kueue with a queue, else of the pods
  std::optional<std::string> runtime{};         ///< of a TrainJob
  std::optional<ObjectKind> kind{};             ///< absent: by the number of replicas
  /// The user's part of each pod template; null if there is none.
  std::shared_ptr<const nlohmann::json> pod_template{};
  std::string pod_template_origin{};  ///< for messages
  bool is_gke{false};                 ///< the cluster's nodes have the labels of GKE
};

/// The container that runs the program; a TrainJob's has the name of its runtime.
inline constexpr auto container_name = "trainer";
inline constexpr auto train_container = "node";

/// The id of no submission, for dry runs.
inline constexpr auto no_submission = "00000000000000000000000000000000";

/// Annotation with the name that the user gave.
inline constexpr auto display_name_annotation = "autopack/display-name";
inline constexpr auto queue_label = "kueue.x-k8s.io/queue-name";
inline constexpr auto queue_priority_label = "kueue.x-k8s.io/priority-class";

ObjectKind kind_of(const job::Job& job, const ObjectOptions& options);

/// Returns the object's name: the display name and the first letters of the submission's id, valid
/// for the longest name of its pods, beginning with a letter.
std::string object_name(const job::Job& job, const std::string& id, ObjectKind kind);

/// Returns the replicas of the job, with the names that the cluster gives them.
job::Cluster cluster_of(const job::Job& job, const std::string& name, ObjectKind kind);

/// Returns all parts of the job that Kubernetes has no place for, as errors, and those without
/// effect, as warnings.
Problems check_job(const job::Job& job, const ObjectOptions& options);

/// Returns the object. `id` is the submission's, 32 hexadecimal digits. Throws Error(usage) if the
/// user's pod template cannot be merged.
nlohmann::json make_object(const job::Job& job,
                           const ObjectOptions& options,
                           const std::string& id);

/// An object that the preflight creates without effect.
struct Probe {
  std::string what{};  ///< `worker pool 1`
  std::optional<std::size_t> pool{};
  std::string version{};
  std::string plural{};
  std::shared_ptr<const nlohmann::json> object{};
};

/// Returns each pool as a Job, and as a Pod: the cluster checks these more strictly than what
/// contains them.
std::vector<Probe> probes_of(const job::Job& job,
                             const ObjectOptions& options,
                             const std::string& id);

/// Returns the words of autopack for the field path `field` of `object`: `the variable \`A B\` of
/// workerpool0`; the path itself if there are none.
std::string words_of_field(const nlohmann::json& object, const std::string& field);

}  // namespace autopack::kubernetes
