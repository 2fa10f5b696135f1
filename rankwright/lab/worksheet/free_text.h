// Judges sentences of a worksheet by the parts that they must mention: rows of accepted words per
// axis, per kind of communication, and per way in which states stay consistent.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankwright/plan/plan.h"
#include "rankwright/plan/traffic.h"

namespace rankwright::lab {

/// One part that a sentence must mention.
struct AnswerPart {
  std::string_view asks;   // "what is split": the hint if the part is missing
  std::string_view stems;  // accepted words, as for mentions()
};

/// Returns the parts of the reason for an axis of the plan: "TP", "FSDP/ZeRO". An axis of degree 1
/// has its own.
std::vector<AnswerPart> reason_parts(std::string_view axis, const plan::Plan& plan);

/// Returns the parts of the risk of a kind of communication.
std::span<const AnswerPart> risk_parts(plan::TrafficKind kind);

/// Returns the parts of the way in which a state is kept consistent. `expected` is that of
/// `explain`: "DP all-reduce".
std::vector<AnswerPart> consistency_parts(std::string_view expected);

/// Returns all ways to keep a state consistent, to recognize one that is not the plan's.
std::vector<AnswerPart> list_consistency_parts();

}  // namespace rankwright::lab
