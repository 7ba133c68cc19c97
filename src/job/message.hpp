#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::job {

/// Values of a message's fields; absent differs from empty.
using Text = std::optional<std::string>;
using Number = std::optional<std::int64_t>;
using Real = std::optional<double>;
using Truth = std::optional<bool>;

/// The fields of a message without a member; kept as they were read.
class Bag {
public:
  Bag() = default;
  /// `fields` must be an object.
  explicit Bag(nlohmann::json fields);

  const nlohmann::json& fields() const;

  friend bool operator==(const Bag& a, const Bag& b);

private:
  std::shared_ptr<const nlohmann::json> fields_{};  ///< null if empty
};

/// The JSON form of a whole number: proto3 writes 64 bits as text.
enum class NumberForm { number, text };

/// A member of a message and its name in the API.
template <class Owner, class Member>
struct MessageField {
  std::string_view name;
  Member Owner::*member;
  NumberForm form;
};

template <class Owner, class Member>
constexpr MessageField<Owner, Member> field(std::string_view name,
                                            Member Owner::*member,
                                            NumberForm form = NumberForm::number) {
  return {name, member, form};
}

/// Returns `part`; creates it if it is absent.
template <class T>
T& ensure(std::optional<T>& part) {
  return part ? *part : part.emplace();
}

}  // namespace autopack::job
