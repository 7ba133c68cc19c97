#include "engine/build_trace.hpp"

namespace autopack::engine {

namespace {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct Field {
  std::uint64_t number{0};
  WireType type{WireType::varint};
  std::uint64_t value{0};    ///< of a varint
  std::string_view bytes{};  ///< of a string or message
};

/// Reads the fields of a protobuf message; checks every length against the available bytes.
class Fields {
public:
  explicit Fields(std::string_view bytes) : rest_{bytes} {}

  /// Returns the next field; nothing at the end or if the message is malformed (see good).
  std::optional<Field> next() {
    if (!good_ || rest_.empty()) {
      return std::nullopt;
    }
    const auto key = varint();
    if (!key || (*key >> 3U) == 0) {
      return fail();
    }
    Field field{.number = *key >> 3U};
    switch (*key & 7U) {
      case 0: {
        const auto value = varint();
        if (!value) {
          return fail();
        }
        field.value = *value;
        return field;
      }
      case 1: field.type = WireType::fixed64; return skip(8) ? std::optional{field} : fail();
      case 5: field.type = WireType::fixed32; return skip(4) ? std::optional{field} : fail();
      case 2: {
        const auto size = varint();
        if (!size || *size > rest_.size()) {
          return fail();
        }
        field.type = WireType::bytes;
        field.bytes = rest_.substr(0, *size);
        rest_.remove_prefix(*size);
        return field;
      }
      default: return fail();
    }
  }

  bool good() const { return good_; }

private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if ((byte & 0x80U) == 0) {
        return value;
      }
    }
    return std::nullopt;
  }

  bool skip(std::size_t count) {
    if (rest_.size() < count) {
      return false;
    }
    rest_.remove_prefix(count);
    return true;
  }

  std::optional<Field> fail() {
    good_ = false;
    return std::nullopt;
  }

  std::string_view rest_;
  bool good_{true};
};

/// Calls `take` with each field of `bytes`; returns false if the message, or a nested one, is
/// malformed.
template <class Take>
bool each_field(std::string_view bytes, Take&& take) {
  Fields fields{bytes};
  while (const auto field = fields.next()) {
    if (!take(*field)) {
      return false;
    }
  }
  return fields.good();
}

std::string text(const Field& field) {
  return std::string{field.bytes};
}

bool decode_vertex(std::string_view bytes, BuildTrace::Vertex& vertex) {
  return each_field(bytes, [&](const Field& field) {
    switch (field.number) {
      case 1: vertex.digest = text(field); break;
      case 3: vertex.name = text(field); break;
      case 4: vertex.cached = field.value != 0; break;
      case 5: vertex.started = true; break;
      case 6: vertex.completed = true; break;
      case 7: vertex.error = text(field); break;
      default: break;
    }
    return true;
  });
}

/// Sizes are signed in the protocol; a negative one is meaningless.
std::uint64_t size_of(const Field& field) {
  return static_cast<std::int64_t>(field.value) < 0 ? 0 : field.value;
}

bool decode_status(std::string_view bytes, BuildTrace::Status& status) {
  return each_field(bytes, [&](const Field& field) {
    switch (field.number) {
      case 1: status.id = text(field); break;
      case 2: status.vertex = text(field); break;
      case 4: status.current = size_of(field); break;
      case 5: status.total = size_of(field); break;
      default: break;
    }
    return true;
  });
}

bool decode_log(std::string_view bytes, BuildTrace::Log& log) {
  return each_field(bytes, [&](const Field& field) {
    switch (field.number) {
      case 1: log.vertex = text(field); break;
      case 4: log.text = text(field); break;
      default: break;
    }
    return true;
  });
}

}  // namespace

std::optional<BuildTrace> BuildTrace::decode(std::string_view bytes) {
  BuildTrace trace;
  const bool good = each_field(bytes, [&](const Field& field) {
    if (field.type != WireType::bytes) {
      return true;
    }
    switch (field.number) {
      case 1: return decode_vertex(field.bytes, trace.vertices.emplace_back());
      case 2: return decode_status(field.bytes, trace.statuses.emplace_back());
      case 3: return decode_log(field.bytes, trace.logs.emplace_back());
      default: return true;
    }
  });
  if (!good) {
    return std::nullopt;
  }
  return trace;
}

}  // namespace autopack::engine
