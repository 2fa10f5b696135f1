// The encoder of a multimodal model as a training config of its own: its layers on the patches of
// one microbatch, on the ranks of the first pipeline stage. cost/ estimates its time and
// activations like those of any layers. Formula S7.
#pragma once

#include <string>
#include <string_view>

#include "rankwright/base/units.h"
#include "rankwright/plan/plan.h"

namespace rankwright::plan {

/// Returns the tokens of the sequence per image or clip, as the job or the model states them; 0 if
/// neither does.
i64 find_image_tokens(const TrainingConfig& config);

/// Returns the images or clips of audio per sequence as text: "1 image", "3 clips".
std::string show_encoder_inputs(const TrainingConfig& config);

/// Returns the plan key that states how many a sequence has.
std::string_view find_encoder_key(const model::Encoder& encoder);

/// Returns whether the job has images or clips, and the shapes of the encoder and of an image are
/// known and not absurdly large.
bool runs_encoder(const TrainingConfig& config);

/// Returns the encoder's layers as a model, with the patches of one image or clip as its sequence.
/// Neither cp nor sequence parallelism splits them. They run forward only unless the encoder is
/// trained. Requires: runs_encoder().
TrainingConfig make_encoder_config(const TrainingConfig& config);

/// Returns the forward FLOPs of the encoder per sequence (F9); 0 without images.
Flops count_encoder_flops(const TrainingConfig& config);

}  // namespace rankwright::plan
