#include "cli/runtime/gathered.h"

#include <algorithm>

#include "rankwright/base/check.h"

namespace rankwright::cli {
namespace {

/// Splits gathered numbers into records. A record is its length, followed by that many numbers.
class Records {
 public:
  explicit Records(std::vector<double> all) : all_(std::move(all)) {}

  std::span<const double> next() {
    RW_CHECK(at_ < all_.size());
    const std::size_t length = std::size_t(all_[at_]);
    RW_CHECK(at_ + 1 + length <= all_.size());
    const std::span<const double> record(all_.data() + at_ + 1, length);
    at_ += 1 + length;
    return record;
  }

 private:
  std::vector<double> all_;
  std::size_t at_ = 0;
};

Records gather_records(const runtime::World& world, std::vector<double> record) {
  record.insert(record.begin(), double(record.size()));
  return Records(world.gather(record));
}

constexpr std::size_t kSentNumbers = 7;

void put(const runtime::TrafficCount& one, std::vector<double>& record) {
  const plan::Traffic& t = one.traffic;
  for (const double number : {double(t.kind), double(t.op), double(t.group), double(t.calls),
                              t.total.value, double(one.level), one.waited.value})
    record.push_back(number);
}

planner::Sent take_sent(std::span<const double> n) {
  return {.traffic = {.kind = plan::TrafficKind(int(n[0])),
                      .op = plan::Op(int(n[1])),
                      .group = mesh::GroupKind(int(n[2])),
                      .calls = i64(n[3]),
                      .total = Bytes{n[4]}},
          .level = int(n[5]),
          .waited = Seconds{n[6]}};
}

/// Returns the counters' rows, plus kinds that the rank only received and waited for.
std::vector<runtime::TrafficCount> list_counted(const runtime::Counters& counters) {
  std::vector<runtime::TrafficCount> all = counters.rows();
  for (const plan::TrafficKindRow& row : plan::list_traffic_kinds()) {
    const bool sent = std::any_of(all.begin(), all.end(), [&](const runtime::TrafficCount& one) {
      return one.traffic.kind == row.kind;
    });
    const Seconds waited = counters.waited(row.kind);
    if (!sent && waited.value > 0)
      all.push_back({.traffic = {.kind = row.kind, .op = {}, .group = {}}, .waited = waited});
  }
  return all;
}

constexpr std::size_t kEventNumbers = 5;

void put(const program::Event& one, std::vector<double>& record) {
  const pipeline::Action& a = one.action;
  for (const double number :
       {double(a.kind), double(a.stage), double(a.microbatch), one.start.value, one.end.value})
    record.push_back(number);
}

program::Event take_event(std::span<const double> n) {
  return {action(pipeline::ActionKind(int(n[0])), i64(n[1]), i64(n[2])), Seconds{n[3]},
          Seconds{n[4]}};
}

/// Returns whether the rank is the first of its pp rank: all its other coordinates are 0.
bool is_first_of_pp_rank(const mesh::Mesh& mesh, i64 rank) {
  return std::all_of(mesh::kAllAxes.begin(), mesh::kAllAxes.end(), [&](mesh::Axis axis) {
    return axis == mesh::Axis::pp || mesh.coordinate(rank, axis) == 0;
  });
}

}  // namespace

Gathered gather(const runtime::World& world, const runtime::Trainer& trainer) {
  std::vector<double> record{trainer.peak().value};
  for (const runtime::TrafficCount& one : list_counted(trainer.counters())) put(one, record);
  Records records = gather_records(world, std::move(record));
  Gathered all;
  if (world.rank() != 0) return all;
  for (i64 rank = 0; rank < world.size(); ++rank) {
    std::span<const double> numbers = records.next();
    all.peaks.push_back(Bytes{numbers[0]});
    all.sent.emplace_back();
    for (numbers = numbers.subspan(1); !numbers.empty(); numbers = numbers.subspan(kSentNumbers))
      all.sent.back().push_back(take_sent(numbers));
  }
  return all;
}

std::vector<std::string> gather_texts(const runtime::World& world, std::string_view text) {
  Records records = gather_records(world, std::vector<double>(text.begin(), text.end()));
  std::vector<std::string> all;
  for (i64 rank = 0; world.rank() == 0 && rank < world.size(); ++rank) {
    all.emplace_back();
    for (const double letter : records.next()) all.back() += char(letter);
  }
  return all;
}

std::vector<program::Event> list_events(const runtime::Trainer& trainer) {
  std::vector<program::Event> events;
  for (const runtime::ActionTime& one : trainer.times())
    events.push_back({one.action, Seconds{one.begin}, Seconds{one.end}});
  std::stable_sort(
      events.begin(), events.end(),
      [](const program::Event& a, const program::Event& b) { return a.start < b.start; });
  return events;
}

report::Events gather_events(const runtime::World& world, const runtime::Trainer& trainer,
                             const plan::TrainingConfig& config) {
  const mesh::Mesh mesh = config.plan.meshes().dense;
  std::vector<double> record;
  if (is_first_of_pp_rank(mesh, world.rank()))
    for (const program::Event& one : list_events(trainer)) put(one, record);
  Records records = gather_records(world, std::move(record));
  if (world.rank() != 0) return {};
  report::Events all(std::size_t(config.plan.pp));
  for (i64 rank = 0; rank < world.size(); ++rank) {
    std::vector<program::Event>& events = all[std::size_t(mesh.coordinate(rank, mesh::Axis::pp))];
    for (std::span<const double> numbers = records.next(); !numbers.empty();
         numbers = numbers.subspan(kEventNumbers))
      events.push_back(take_event(numbers));
  }
  return all;
}

}  // namespace rankwright::cli
