#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "job/replica_environment.hpp"
#include "kubernetes/pod.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

// Vertex AI and Kubernetes expand `$(NAME)` in the same way: to an earlier variable of the list.
// Vertex AI does so only in the values of variables, and only for its own variables and the
// user's. So everything else is escaped, and what differs between the replicas of a pool is a
// variable from a field of the pod.

namespace autopack::kubernetes {

namespace {

using nlohmann::json;

/// An index that no replica has. In the JSON of CLUSTER_SPEC only the index of the task can be a
/// number, so that its text occurs once.
constexpr std::size_t unknown_index = 987'654'321'012;

/// The variables of a container, each with its value as the cluster reads it.
class EnvironmentValues {
public:
  void add(const std::string& name, std::string value) { values_[name] = {std::move(value), {}}; }

  void add_field(const std::string& name, const std::string& path) { values_[name] = {{}, path}; }

  struct Value {
    std::string text{};   ///< with `$$` for each `$`, so that it may become a part of another
    std::string field{};  ///< path; empty if it is a text
  };

  const Value* find(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? nullptr : &found->second;
  }

  const std::map<std::string, Value>& all() const { return values_; }

private:
  std::map<std::string, Value> values_{};
};

using OwnNames = std::vector<std::string>;

OwnNames own_names_of(const std::vector<job::Variable>& own) {
  OwnNames names;
  for (const auto& variable : own) {
    names.push_back(variable.name.value_or(""));
  }
  return names;
}

/// Returns `name`, or another one if the user's variables have it.
std::string free_name(const std::string& name, const OwnNames& own) {
  return contains(own, name) ? "AUTOPACK_" + name : name;
}

/// Returns the value of the user's variable as the cluster reads it. A variable that is in `known`
/// is replaced by its text, so that a later one with the same name changes nothing.
std::string value_of(std::string_view text, const EnvironmentValues& known) {
  std::string value;
  for (std::size_t at = 0; at < text.size();) {
    const auto rest = text.substr(at);
    const auto end = rest.starts_with("$(") ? rest.find(')') : std::string_view::npos;
    if (rest.starts_with("$$")) {
      value += "$$";
      at += 2;
    } else if (end == std::string_view::npos) {
      value += rest.front() == '$' ? "$$" : std::string(1, rest.front());
      ++at;
    } else {
      const auto* found = known.find(std::string{rest.substr(2, end - 2)});
      value += found == nullptr ? "$" + std::string{rest.substr(0, end + 1)} : found->text;
      at += end + 1;
    }
  }
  return value;
}

const std::vector<job::Variable>& own_of(const job::Pool& pool) {
  static const std::vector<job::Variable> none;
  return pool.container ? pool.container->env : none;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool matters =
        text[at] == '$' && at + 1 < text.size() && (text[at + 1] == '$' || text[at + 1] == '(');
    result += matters ? "$$" : std::string(1, text[at]);
  }
  return result;
}

json environment_of(const job::Pool& pool,
                    std::size_t pool_index,
                    const job::Cluster& cluster,
                    const std::optional<std::string>& output,
                    const PlaceFields& place) {
  const auto& own = own_of(pool);
  const auto own_names = own_names_of(own);
  const auto first = std::ranges::find(cluster.replicas, pool_index, &job::Replica::pool);
  const auto replicas = std::ranges::count(cluster.replicas, pool_index, &job::Replica::pool);
  auto replica = *first;
  const bool varies = replicas > 1;
  replica.index = varies ? unknown_index : replica.index;

  auto list = json::array();
  EnvironmentValues known;
  const auto index_name = free_name("POOL_INDEX", own_names);
  const auto rank_name = free_name("RANK", own_names);
  const auto add_field = [&](const std::string& name, const std::string& path) {
    list.push_back({{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}});
  };
  if (varies) {
    add_field(index_name, place.index);
    add_field(rank_name, place.rank);
  }
  const auto marker = fmt::format("\"index\":{}", unknown_index);
  const auto index = fmt::format("\"index\":$({})", index_name);
  for (const auto& [name, value] :
       job::service_variables(pool, cluster, replica, {.output = output})) {
    if (varies && name == "RANK") {
      known.add(name, "$(" + rank_name + ")");
      continue;
    }
    const auto text = replace_all(replace_all(value, "$", "$$"), marker, index);
    known.add(name, text);
    if (!contains(own_names, name)) {
      list.push_back({{"name", name}, {"value", text}});
    }
  }
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto& name = own_names[i];
    const auto text = value_of(own[i].value.value_or(""), known);
    known.add(name, text);
    // Each name occurs once, with its last value, as in the service's environment.
    if (std::find(own_names.begin() + static_cast<std::ptrdiff_t>(i) + 1, own_names.end(), name) ==
        own_names.end()) {
      list.push_back({{"name", name}, {"value", text}});
    }
  }
  return list;
}

}  // namespace autopack::kubernetes
