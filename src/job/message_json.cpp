#include "job/message_json.hpp"

#include "base/json.hpp"
#include "job/job.hpp"
#include "job/legacy_job.hpp"

#include <charconv>

namespace autopack::job {

using nlohmann::json;

namespace {

template <class T>
concept Message = requires {
  T::fields();
};

/// Accepts 64 bits as text, or a number.
std::int64_t whole_number(const json& from) {
  if (!from.is_string()) {
    return from.get<std::int64_t>();
  }
  const auto& text = from.get_ref<const std::string&>();
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Reads one value; the type of the member selects the overload.
struct MessageReader {
  static void read(const json& from, std::string& into) { into = from.get<std::string>(); }

  static void read(const json& from, std::int64_t& into) { into = whole_number(from); }

  static void read(const json& from, double& into) { into = from.get<double>(); }

  static void read(const json& from, bool& into) { into = from.get<bool>(); }

  static void read(const json& from, Bag& into) { into = Bag{from}; }

  static void read(const json& from, std::map<std::string, std::string>& into) {
    into = from.get<std::map<std::string, std::string>>();
  }

  template <class T>
  static void read(const json& from, std::optional<T>& into) {
    read(from, into.emplace());
  }

  template <class T>
  static void read(const json& from, std::shared_ptr<const T>& into) {
    T part;
    read(from, part);
    into = std::make_shared<const T>(std::move(part));
  }

  template <class T>
  static void read(const json& from, std::vector<T>& into) {
    for (const auto& element : from) {
      read(element, into.emplace_back());
    }
  }

  template <Message T>
  static void read(const json& from, T& into) {
    auto others = json::object();
    for (const auto& [key, value] : from.items()) {
      const auto try_field = [&name = key, &from_value = value, &into](const auto& field) {
        if (field.name == name) {
          read(from_value, into.*field.member);
        }
        return field.name == name;
      };
      const bool known = std::apply(
          [&](const auto&... fields) { return (try_field(fields) || ...); }, T::fields());
      if (!known) {
        others[key] = value;
      }
    }
    if (!others.empty()) {
      into.others = Bag{std::move(others)};
    }
  }
};

/// Writes one value; returns nothing if it is omitted.
struct Writer {
  using Written = std::optional<json>;

  NumberForm form{NumberForm::number};

  static Written write(const std::string& value) { return json(value); }

  Written write(std::int64_t value) const {
    return form == NumberForm::text ? json(std::to_string(value)) : json(value);
  }

  static Written write(double value) { return json(value); }

  static Written write(bool value) { return json(value); }

  static Written write(const Bag& value) { return value.fields(); }

  static Written write(const std::map<std::string, std::string>& value) { return json(value); }

  template <class T>
  Written write(const std::optional<T>& value) const {
    return value ? write(*value) : std::nullopt;
  }

  template <class T>
  Written write(const std::shared_ptr<const T>& value) const {
    return value ? write(*value) : Written{};
  }

  /// An optional list is written even if it is empty.
  template <class T>
  Written write(const std::optional<std::vector<T>>& value) const {
    return value ? list(*value) : Written{};
  }

  template <class T>
  Written write(const std::vector<T>& value) const {
    return value.empty() ? Written{} : list(value);
  }

  template <Message T>
  Written write(const T& value) const {
    json result = value.others.fields();
    const auto put = [&](const auto& field) {
      if (auto written = Writer{field.form}.write(value.*field.member)) {
        result[std::string{field.name}] = std::move(*written);
      }
    };
    std::apply([&](const auto&... fields) { (put(fields), ...); }, T::fields());
    return result;
  }

private:
  template <class T>
  Written list(const std::vector<T>& value) const {
    auto result = json::array();
    for (const auto& element : value) {
      result.push_back(write(element).value());
    }
    return result;
  }
};

}  // namespace

Bag::Bag(json fields) : fields_{std::make_shared<const json>(std::move(fields))} {}

const json& Bag::fields() const {
  static const json none = json::object();
  return fields_ ? *fields_ : none;
}

bool operator==(const Bag& a, const Bag& b) {
  return a.fields_ == b.fields_ || a.fields() == b.fields();
}

template <class T>
T read_message(const json& object) {
  T message;
  MessageReader::read(object, message);
  return message;
}

template <class T>
json write_message(const T& message) {
  return Writer{}.write(message).value();
}

template Job read_message<Job>(const json& object);
template Spec read_message<Spec>(const json& object);
template DnsPeering read_message<DnsPeering>(const json& object);
template LustreMount read_message<LustreMount>(const json& object);
template NfsMount read_message<NfsMount>(const json& object);
template ReservationAffinity read_message<ReservationAffinity>(const json& object);
template LegacyJob read_message<LegacyJob>(const json& object);
template json write_message<Job>(const Job& message);
template json write_message<Spec>(const Spec& message);
template json write_message<Scheduling>(const Scheduling& message);

}  // namespace autopack::job
